"""``compare``: any graph, any models, the same splits and the same budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otherhalf.data.splits import published_splits
from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.experiments.comparison import Comparison, Row, row_values
from otherhalf.experiments.models import TITLES
from otherhalf.experiments.paper.experiment import check_runs
from otherhalf.experiments.runner.benchmark_data import BenchmarkData, in_catalogue
from otherhalf.experiments.runner.workbench import Workbench
from otherhalf.experiments.statistics import p_value
from otherhalf.experiments.table import Table, best_in_bold
from otherhalf.experiments.tuning.search import candidates, search, search_seeds
from otherhalf.experiments.tuning.tuned import packaged_settings, read_tuned
from otherhalf.graph import Graph
from otherhalf.training.metrics import check_metric


@dataclass(frozen=True)
class Compared:
    """What a comparison came to."""

    comparison: Comparison
    rows: list[Row]
    settings_from: Mapping[str, str]

    @property
    def missing(self) -> list[str]:
        """The models without a score on every split: a run failed, or ROC-AUC was not defined."""
        there = {row.model for row in self.rows}
        return [model for model in self.comparison.settings if model not in there]

    @property
    def title(self) -> str:
        """What was compared on what."""
        benchmark = self.comparison.benchmark
        runs = f"{self.comparison.runs} {benchmark.split} split(s)"
        if self._one_split:
            runs = f"{self.comparison.runs} run(s) on the public split"
        return f"{benchmark.data}: {benchmark.metric}, {runs}"

    @property
    def _one_split(self) -> bool:
        return self.comparison.benchmark.split == "public"

    def values(self) -> dict[str, Any]:
        """For programs: ``rows``, each with model, mean, std and runs; ``missing`` models have none."""
        benchmark = self.comparison.benchmark
        rows = []
        for row in self.rows:
            settings = {"settings": dict(self.comparison.settings[row.model])}
            rows.append({**row_values(row), **settings, "settings_from": self.settings_from[row.model]})
        about = {"name": benchmark.data, "split": benchmark.split, "metric": benchmark.metric}
        return {**about, "rows": rows, "missing": self.missing}

    def table(self) -> Table:
        """Best first; with GOAL among the models, how it does against each of the others."""
        beside_goal = any(row.difference is not None for row in self.rows)
        table = Table(["", "test", "validation", *(["GOAL less it", "p"] if beside_goal else []), "settings"])
        rows = sorted(self.rows, key=lambda row: -row.test.mean)
        tests = best_in_bold([str(row.test) for row in rows], [row.test.mean for row in rows])
        for row, test in zip(rows, tests, strict=True):
            cells = [TITLES[row.model], test, f"{100 * row.validation.mean:.2f}"]
            if beside_goal:
                cells += _difference_cells(row)
            table.add(*cells, self.settings_from[row.model])
        note = "In percent, mean ± standard deviation (ddof 1)."
        if beside_goal and not self._one_split:
            note += (
                " p: corrected resampled t-test of the paired differences, not adjusted for the number of "
                "comparisons."
            )
        if self._one_split:
            note += " All runs are on one split, so that nothing is said of other splits."
        table.notes = [note]
        if self.missing:
            left_out = ", ".join(TITLES[model] for model in self.missing)
            table.notes.append(f"Left out, because there is not a score for every split: {left_out}.")
        return table


def _difference_cells(row: Row) -> list[str]:
    if row.difference is None:  # GOAL itself
        return ["", ""]
    p = row.difference.p
    return [f"{100 * row.difference.mean:+z.2f}", "" if p is None else p_value(p, 3)]


def compare(
    graph: Graph,
    models: Sequence[str],
    workbench: Workbench,
    *,
    runs: int = 10,
    split: str = "uniform",
    budget: int = 0,
    metric: str = "accuracy",
) -> Compared:
    """Fit every model on the same splits and set them side by side.

    Args:
        graph: The graph.
        models: Names of models, as in :data:`~otherhalf.experiments.models.TITLES`.
        workbench: What runs the fits and keeps their records.
        runs: The number of splits; their seeds are 0, 1, ….
        split: The protocol.
        budget: How many settings are tried for each model, on the validation nodes of splits that are not
            reported (for published splits: of the first ones). With 0, what `otherhalf search` found for a
            named data set, else each model's defaults.
        metric: ``accuracy`` or ``roc_auc``; a data set of the catalogue is judged as its authors do.
    """
    check_metric(metric, graph.num_classes)
    most = _check_splits(graph, split, runs)
    benchmark = BenchmarkData.of(graph, split, metric)
    if budget:
        seeds = search_seeds(split, most)
        choices = search(
            [(m, benchmark) for m in models], workbench.store, workbench.run, trials=budget, seeds=seeds
        )
        settings = {model: choice.params for model, choice in zip(models, choices, strict=True)}
        origin = dict.fromkeys(models, f"best of {budget}")
    else:
        found = read_tuned(benchmark.data, packaged_settings(split)) if in_catalogue(graph) else {}
        settings = {m: found[m].params if m in found else candidates(m, 1)[0] for m in models}
        origin = {m: "found before" if m in found else "defaults" for m in models}
    comparison = Comparison(benchmark, settings, runs)
    workbench.run(comparison.jobs())
    return Compared(comparison, comparison.rows(workbench.store), origin)


def _check_splits(graph: Graph, split: str, runs: int) -> int | None:
    """Refuse, before anything runs, splits that there are not; how many there are, None for any number."""
    make_split(graph, split, 0)
    if split != "fixed":
        check_runs(runs)
        return None
    published = len(published_splits(graph, split))
    if runs > published:
        raise InputError(
            f"{graph.name or 'this graph'} has {published} fixed split(s), which is too few for {runs} runs: "
            f"give {published} runs or less"
        )
    return published
