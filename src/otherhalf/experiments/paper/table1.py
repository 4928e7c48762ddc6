"""Table 1 (``tab:node classification``): nine models and two rivals on eight data sets, ten uniform splits.

Also the same comparison on published splits of graphs that the paper leaves out.
"""

from collections import Counter
from typing import Any, ClassVar

from otherhalf.errors import InputError
from otherhalf.experiments.comparison import Comparison, Row, row_values
from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.published import DATASETS, SHORT, TABLE1
from otherhalf.experiments.paper.summaries import DASH, gap, percent_cell, summary
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import TREES, compared_models, title_of
from otherhalf.experiments.runner.results import all_results
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import p_value
from otherhalf.experiments.table import Table, best_in_bold
from otherhalf.experiments.tuning.tuned import packaged_settings, params_of, read_tuned
from otherhalf.training.metrics import METRICS

Rows = dict[str, Row]
"""Rows by model."""


class ComparisonTable(Experiment):
    """Models in rows, data sets in columns, one protocol, and the settings that the search chose."""

    models = tuple(name for name in compared_models() if name != TREES)  # the trees have no runs yet
    published: ClassVar[dict[str, dict[str, tuple[float, float]]]] = {}

    def comparison(self, data: str, request: Request) -> Comparison:
        """Return the comparison on one data set."""
        params = params_of(request.models, read_tuned(data, packaged_settings(self.split)))
        return Comparison(BenchmarkData.named(data, self.split), params, request.runs)

    def comparisons(self, request: Request) -> list[Comparison]:
        """Return one comparison per data set."""
        return [self.comparison(data, request) for data in request.datasets]

    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return every fit, and the look-up of identical nodes on the same splits."""
        comparison = self.comparison(data, request)
        return [*comparison.jobs(), *_audits(comparison)]

    def values_of(self, data: str, request: Request, store: Store) -> dict[str, Any]:
        """Return the rows, with the paper's number and the gap to it in percent."""
        comparison, rows = self.comparison(data, request), []
        for row in comparison.rows(store):
            values, paper = row_values(row), self._paper(comparison, row.model)
            if paper is not None:
                values |= {"paper": paper, "gap": gap(row.test, paper)}
            rows.append(values)
        return {"metric": comparison.benchmark.metric, "rows": rows}

    def table(self, request: Request, store: Store) -> Table:
        """Return one column per data set: our numbers, and below them the paper's numbers and the gaps."""
        compared = [(each, _rows(each, store)) for each in self.comparisons(request)]
        names = [each.benchmark.data for each, _ in compared]
        table = Table(["", *(SHORT.get(name, name) for name in names)])
        columns = []
        for each, rows in compared:
            tests = {model: rows[model].test if model in rows else None for model in request.models}
            cells = [
                DASH if test is None else percent_cell(test, self._paper(each, model))
                for model, test in tests.items()
            ]
            quality = each.benchmark.quality
            means = [None if test is None else quality(test.mean) for test in tests.values()]
            columns.append(best_in_bold(cells, means))
        for index, model in enumerate(request.models):
            table.add(title_of(model), *(column[index] for column in columns))
        table.add("identical nodes looked up", *(_audit_cell(each, store) for each, _ in compared))
        table.notes = self._notes(request, compared, store)
        return table

    def _paper(self, comparison: Comparison, model: str) -> float | None:
        printed = self.published.get(model, {}).get(comparison.benchmark.data)
        return None if printed is None else printed[0]

    def _notes(self, request: Request, compared: list[tuple[Comparison, Rows]], store: Store) -> list[str]:
        comparisons = [each for each, _ in compared]
        numbers = (
            f"Test {_metric_text(comparisons)} in percent, mean ± standard deviation (ddof 1) over "
            f"{request.runs} {self.split} split(s); the best mean of each column is bold."
        )
        if self.published:
            numbers += " Under it the paper's number and, in brackets, ours less the paper's."
        audit = (
            "Last row: the label of a training node with the same neighbours, features or both, whichever "
            "scores best, where there is one, else the most frequent class; below it the share of test nodes "
            "that have one. The graphs are undirected."
        )
        notes = [numbers, audit]
        untuned = [text for each in comparisons if (text := self._untuned(each))]
        if untuned:
            notes.append(f"With defaults, because no search has been made: {'; '.join(untuned)}.")
        notes += _beaten(compared)
        encoders = [text for each in comparisons if (text := _encoder_text(each, store))]
        if encoders:
            notes.append(
                "GOAL's encoder, and its mean share in the blended probabilities (at 1 the encoder answers "
                f"alone, at 0 the convolution over both halves; validation decides, unless the settings "
                f"found leave the encoder out of it): {'; '.join(encoders)}."
            )
        return notes

    def _untuned(self, comparison: Comparison) -> str:
        """Return the data set and its models without a search; empty if there are none."""
        data = comparison.benchmark.data
        tuned = read_tuned(data, packaged_settings(self.split))
        models = [model for model in comparison.settings if model not in tuned]
        everyone = "all models" if len(models) == len(comparison.settings) else ""
        return f"{data}, {everyone or ', '.join(title_of(m) for m in models)}" if models else ""


class Table1(ComparisonTable):
    """The paper's own comparison."""

    name = "table1"
    title = "Node classification"
    label = "tab:node classification"
    datasets = DATASETS
    split = "uniform"
    published = TABLE1

    def short_table(self, store: Store) -> Table:
        """Return one row per data set: the paper's GOAL, ours, and the best of the other models."""
        request = self.request()
        table = Table(["", "the paper's GOAL", "GOAL", "the best of the other ten"])
        for each in self.comparisons(request):
            rows = _rows(each, store)
            goal = rows.pop("goal", None)
            complete = len(rows) == len(request.models) - 1
            quality = each.benchmark.quality
            best = max(rows.values(), key=lambda row: quality(row.test.mean)) if complete else None
            cells = [
                DASH if goal is None else str(goal.test),
                DASH if best is None else f"{best.test} {title_of(best.model)}",
            ]
            if goal is not None and best is not None:
                cells = best_in_bold(cells, [quality(goal.test.mean), quality(best.test.mean)])
            table.add(each.benchmark.data, f"{self._paper(each, 'goal'):.2f}", *cells)
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

    def request(
        self, datasets: list[str] | None = None, models: list[str] | None = None, runs: int | None = None
    ) -> Request:
        """Return a request; raise InputError also if it has more runs than there are published splits."""
        if runs is not None and runs > self.runs:
            raise InputError(f"these graphs have {self.runs} splits each: give {self.runs} runs or less")
        return super().request(datasets, models, runs)


def _rows(comparison: Comparison, store: Store) -> Rows:
    return {row.model: row for row in comparison.rows(store)}


def _audits(comparison: Comparison) -> list[Job]:
    return [comparison.benchmark.task_job("audit", {}, seed) for seed in range(comparison.runs)]


def _metric_text(compared: list[Comparison]) -> str:
    """Return the metric of most data sets, and the other metrics with their data sets."""
    datasets: dict[str, list[str]] = {}
    for each in compared:
        datasets.setdefault(METRICS[each.benchmark.metric].title, []).append(each.benchmark.data)
    usual, *others = sorted(datasets, key=lambda title: -len(datasets[title]))
    if not others:
        return usual
    return ", for ".join([usual, *(f"{' and '.join(datasets[title])} {title}" for title in others)]) + ","


def _beaten(compared: list[tuple[Comparison, Rows]]) -> list[str]:
    """Return a sentence about the models that are better than GOAL, if there are any."""
    beaten = []
    for each, rows in compared:
        better = [
            f"{title_of(row.model)} by {100 * abs(row.difference.mean):.2f}"
            + ("" if row.difference.p is None else f" (p {p_value(row.difference.p, 2, '= ')})")
            for row in rows.values()
            if row.difference is not None and each.benchmark.quality(row.difference.mean) < 0
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


def _encoder_text(comparison: Comparison, store: Store) -> str:
    """Return the data set, GOAL's encoder on it, and the encoder's mean share; empty without records."""
    jobs = comparison.jobs_by_model.get("goal", [])
    results = all_results(store, jobs)
    if results is None:
        return ""
    kinds = ", ".join(kind for kind, _ in Counter(result["encoder"] for result in results).most_common())
    blended = any(job.options["settings"]["goal"]["blend"] for job in jobs)
    share = sum(result["encoder_share"] for result in results) / len(results)
    return f"{comparison.benchmark.data} {kinds} {f'{share:.2f}' if blended else 'left out'}"


def _audit_cell(comparison: Comparison, store: Store) -> str:
    results = all_results(store, _audits(comparison))
    metric = comparison.benchmark.metric
    if results is None or any(metric not in kind for kind in results[0]["kinds"].values()):
        return DASH  # not run, or not scored by this metric
    # One meaning of identical for all splits: the one that scores best over them.
    scores = {kind: summary(results, "kinds", kind, metric) for kind in sorted(results[0]["kinds"])}
    known = {kind: score for kind, score in scores.items() if score is not None}
    if not known:
        return DASH
    best = max(known, key=lambda kind: comparison.benchmark.quality(known[kind].mean))
    share = sum(result["kinds"][best]["answerable_share"] for result in results) / len(results)
    return f"{known[best]}\n{share:.0%} of test nodes"
