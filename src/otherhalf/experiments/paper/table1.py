"""Table 1 (``tab:node classification``): nine models and two rivals on eight data sets, ten uniform splits.

And the same comparison under the published splits of other graphs, which the paper leaves out.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from otherhalf.errors import InputError
from otherhalf.experiments.comparison import Comparison, Row, row_values
from otherhalf.experiments.models import PAPERS, RIVALS, TITLES
from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.published import DATASETS, SHORT, TABLE1
from otherhalf.experiments.paper.summaries import DASH, summary, whole
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import p_value
from otherhalf.experiments.table import Table, best_in_bold
from otherhalf.experiments.tuning.search import candidates
from otherhalf.experiments.tuning.tuned import packaged_settings, read_tuned


class ComparisonTable(Experiment):
    """Models in rows, data sets in columns, one protocol; the settings are those that the search found."""

    split: ClassVar[str]
    published: ClassVar[dict[str, dict[str, tuple[float, float]]]] = {}

    def comparisons(self, request: Request) -> list[Comparison]:
        """One for each data set."""
        found = []
        for data in request.datasets:
            settings = read_tuned(data, packaged_settings(self.split))
            # Without a search, the defaults that the search would begin with.
            params = {m: settings[m].params if m in settings else candidates(m, 1)[0] for m in request.models}
            found.append(Comparison(BenchmarkData.named(data, self.split), params, request.runs))
        return found

    def jobs(self, request: Request) -> list[Job]:
        """Every fit, and the look-up of identical nodes on the same splits."""
        compared = self.comparisons(request)
        return [job for each in compared for job in (*each.jobs(), *_audits(each))]

    def values(self, request: Request, store: Store) -> dict[str, Any]:
        """The rows of each data set, with the paper's number and the gap to it, in percent."""
        datasets = {}
        for each in self.comparisons(request):
            data = each.benchmark.data
            rows = []
            for row in each.rows(store):
                values = row_values(row)
                printed = self.published.get(row.model, {}).get(data)
                if printed is not None:
                    values |= {"paper": printed[0], "gap": 100 * row.test.mean - printed[0]}
                rows.append(values)
            datasets[data] = {"metric": each.benchmark.metric, "rows": rows}
        return {"experiment": self.name, "split": self.split, "runs": request.runs, "datasets": datasets}

    def table(self, request: Request, store: Store) -> Table:
        """One column per data set: ours, and under it the paper's number and the gap."""
        compared = self.comparisons(request)
        names = [SHORT.get(each.benchmark.data, each.benchmark.data) for each in compared]
        table = Table(["", *names])
        columns = []
        for each in compared:
            rows = {row.model: row for row in each.rows(store)}
            cells = [self._cell(each.benchmark.data, rows.get(m)) for m in request.models]
            means = [rows[m].test.mean if m in rows else None for m in request.models]
            columns.append(best_in_bold(cells, means))
        for index, model in enumerate(request.models):
            table.add(TITLES[model], *(column[index] for column in columns))
        table.add("identical nodes looked up", *(_audit_cell(each, store) for each in compared))
        table.notes = self._notes(request, compared, store)
        return table

    def _cell(self, data: str, row: Row | None) -> str:
        if row is None:
            return DASH
        printed = self.published.get(row.model, {}).get(data)
        if printed is None:
            return str(row.test)
        return f"{row.test}\n{printed[0]:.2f} ({100 * row.test.mean - printed[0]:+z.2f})"

    def _untuned(self, comparison: Comparison) -> str:
        data = comparison.benchmark.data
        found = read_tuned(data, packaged_settings(self.split))
        models = [model for model in comparison.settings if model not in found]
        everyone = "all models" if len(models) == len(comparison.settings) else ""
        return f"{data}, {everyone or ', '.join(TITLES[m] for m in models)}" if models else ""

    def _notes(self, request: Request, compared: list[Comparison], store: Store) -> list[str]:
        metrics = {each.benchmark.metric for each in compared}
        unit = "accuracy" if metrics == {"accuracy"} else "accuracy, for tolokers and minesweeper ROC-AUC,"
        first = (
            f"Test {unit} in percent, mean ± standard deviation (ddof 1) over {request.runs} {self.split} "
            "split(s); the best mean of each column is bold."
        )
        if self.published:
            first += " Under it the paper's number and, in brackets, ours less the paper's."
        audit = (
            "Last row: the label of a training node with the same neighbours, features or both, whichever "
            "scores best, where there is one, else the most frequent class; below it the share of test nodes "
            "that have one. The graphs are undirected."
        )
        notes = [first, audit]
        untuned = [said for each in compared if (said := self._untuned(each))]
        if untuned:
            notes.append(f"With defaults, because no search has been made: {'; '.join(untuned)}.")
        notes += _beaten(compared, store)
        encoders = [say for each in compared if (say := _encoder_say(each, store))]
        if encoders:
            notes.append(
                "GOAL's encoder, and its mean share in the blended probabilities (at 1 the encoder answers "
                f"alone, at 0 the convolution over both halves; validation decides, unless the settings "
                f"found leave the encoder out of it): {'; '.join(encoders)}."
            )
        return notes


class Table1(ComparisonTable):
    """The paper's own comparison."""

    name = "table1"
    title = "Node classification"
    label = "tab:node classification"
    datasets = DATASETS
    models = (*PAPERS, *RIVALS)
    split = "uniform"
    published = TABLE1

    def short_table(self, store: Store) -> Table:
        """One row per data set: the paper's GOAL, ours, and whichever of the other models is best."""
        request = self.request()
        table = Table(["", "the paper's GOAL", "GOAL", "the best of the other ten"])
        for each in self.comparisons(request):
            rows = {row.model: row for row in each.rows(store)}
            goal = rows.pop("goal", None)
            complete = len(rows) == len(request.models) - 1
            best = max(rows.values(), key=lambda row: row.test.mean) if complete else None
            cells = [
                DASH if goal is None else str(goal.test),
                DASH if best is None else f"{best.test} {TITLES[best.model]}",
            ]
            if goal is not None and best is not None:
                cells = best_in_bold(cells, [goal.test.mean, best.test.mean])
            printed = self.published["goal"][each.benchmark.data][0]
            table.add(each.benchmark.data, f"{printed:.2f}", *cells)
        return table


class PublishedSplits(ComparisonTable):
    """The same models on graphs with published splits, the honest test of heterophily among them."""

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
    models = (*PAPERS, *RIVALS)
    split = "fixed"

    def request(
        self, datasets: list[str] | None = None, models: list[str] | None = None, runs: int | None = None
    ) -> Request:
        """As for every experiment, but there are no more splits than were published."""
        if runs is not None and runs > self.runs:
            raise InputError(f"these graphs have {self.runs} splits each: give {self.runs} runs or less")
        return super().request(datasets, models, runs)


def _audits(comparison: Comparison) -> list[Job]:
    return [comparison.benchmark.plain_job("audit", {}, seed) for seed in range(comparison.runs)]


def _beaten(compared: list[Comparison], store: Store) -> list[str]:
    """A sentence on who is better than GOAL, if anybody is."""
    beaten = []
    for each in compared:
        better = [
            f"{TITLES[row.model]} by {-100 * row.difference.mean:.2f}"
            + ("" if row.difference.p is None else f" (p {p_value(row.difference.p, 2, '= ')})")
            for row in each.rows(store)
            if row.difference is not None and row.difference.mean < 0
        ]
        if better:
            beaten.append(f"{each.benchmark.data}: {', '.join(better)}")
    if not beaten:
        return []
    sentence = f"GOAL is beaten on {'; '.join(beaten)}."
    if "(p " in sentence:
        sentence += (
            " p is of the corrected resampled t-test over the same splits, not adjusted for the number of "
            "comparisons."
        )
    return [sentence]


def _encoder_say(comparison: Comparison, store: Store) -> str | None:
    runs = whole(store, comparison.jobs_of("goal")) if "goal" in comparison.settings else None
    if runs is None:
        return None
    kinds = ", ".join(kind for kind, _ in Counter(run["encoder"] for run in runs).most_common())
    blended = any(job.options["settings"]["goal"]["blend"] for job in comparison.jobs_of("goal"))
    share = f"{sum(run['encoder_share'] for run in runs) / len(runs):.2f}" if blended else "left out"
    return f"{comparison.benchmark.data} {kinds} {share}"


def _audit_cell(comparison: Comparison, store: Store) -> str:
    found = whole(store, _audits(comparison))
    if found is None:
        return DASH
    metric = comparison.benchmark.metric
    # One meaning of identical for all splits: the one that scores best over them.
    scores = {kind: summary(found, "kinds", kind, metric) for kind in sorted(found[0]["kinds"])}
    known = {kind: score for kind, score in scores.items() if score is not None}
    if not known:
        return DASH
    best = max(known, key=lambda kind: known[kind].mean)
    share = sum(result["kinds"][best]["answerable_share"] for result in found) / len(found)
    return f"{known[best]}\n{share:.0%} of test nodes"
