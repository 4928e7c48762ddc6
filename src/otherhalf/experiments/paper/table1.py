"""Table 1 (``tab:node classification``): the paper's models and later ones on eight data sets, ten splits.

Also the same comparison on published splits of graphs that the paper leaves out.
"""

from otherhalf.experiments.paper.comparison_table import ComparisonTable, rows_by_model
from otherhalf.experiments.paper.published import DATASETS, TABLE1
from otherhalf.experiments.paper.summaries import DASH
from otherhalf.experiments.runner.models import GOAL, GOAL_EMBEDDING, TREES, title_of
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.table import Table, best_in_bold


class Table1(ComparisonTable):
    """The paper's own comparison."""

    name = "table1"
    title = "Node classification"
    label = "tab:node classification"
    datasets = DATASETS
    split = "uniform"
    published = TABLE1

    def short_table(self, store: Store) -> Table:
        """Return one row per data set: the paper's GOAL, ours, and the best of the other models.

        The best is known only if all others have their records; trees are among them if they have theirs.
        """
        request = self.request()
        others = [model for model in request.models if model not in (GOAL, GOAL_EMBEDDING)]
        table = Table(["", "the paper's GOAL", "GOAL", "the best of the others"])
        for each in self.comparisons(request):
            rows, quality = rows_by_model(each, store), each.benchmark.quality
            goal, best = rows.get(GOAL), None
            if all(model in rows for model in others if model != TREES):
                known = [rows[model] for model in others if model in rows]
                best = max(known, key=lambda row: quality(row.test.mean))
            cells = [
                DASH if goal is None else str(goal.test),
                DASH if best is None else f"{best.test} {title_of(best.model)}",
            ]
            if goal is not None and best is not None:
                cells = best_in_bold(cells, [quality(goal.test.mean), quality(best.test.mean)])
            data = each.benchmark.data
            table.add(data, f"{self._paper(data, GOAL):.2f}", *cells)
        return table


class PublishedSplits(ComparisonTable):
    """The same models on graphs with published splits, among them reliable tests of heterophily."""

    name = "fixed"
    title = "Beside the paper: published splits"
    label = ""
    datasets = (
        "chameleon_filtered",
        "squirrel_filtered",
        "tolokers",
        "minesweeper",
        "texas",
        "wisconsin",
        "cornell_platonov",
    )
    split = "fixed"
