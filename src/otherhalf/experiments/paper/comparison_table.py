"""A comparison of models on several data sets: models in rows, data sets in columns."""

from typing import Any, ClassVar

from otherhalf.errors import InputError
from otherhalf.experiments.comparison import Comparison, judge, row_values, verdict_values
from otherhalf.experiments.paper.comparison_notes import (
    Compared,
    Rows,
    encoder_note,
    lookup_note,
    members_note,
    numbers_note,
    untuned_note,
    verdict_note,
)
from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.published import SHORT
from otherhalf.experiments.paper.summaries import DASH, gap, percent_cell, summary
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import (
    GOAL,
    GOAL_DEFAULT,
    GOAL_EMBEDDING,
    TREES,
    compared_models,
    model_name,
    title_of,
)
from otherhalf.experiments.runner.results import all_results
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.table import Table, best_in_bold
from otherhalf.experiments.tuning.search import Tuned
from otherhalf.experiments.tuning.tuned import packaged_settings, params_of, read_tuned

PUBLISHED_SPLITS = 10
"""Number of published splits of every graph that a comparison on fixed splits has."""


def check_published_splits(runs: int, splits: set[str]) -> None:
    """Raise InputError if there are more runs than published splits, and one of the protocols uses those."""
    if "fixed" in splits and runs > PUBLISHED_SPLITS:
        raise InputError(
            f"graphs with published splits have {PUBLISHED_SPLITS} each: give {PUBLISHED_SPLITS} runs or less"
        )


def _all_models() -> tuple[str, ...]:
    """Return the models of a full comparison, with GOAL's embedding below GOAL."""
    names = list(compared_models())
    names.insert(names.index(GOAL) + 1, GOAL_EMBEDDING)
    return tuple(names)


class ComparisonTable(Experiment):
    """Models in rows, data sets in columns, each with one protocol.

    GOAL has its defaults, with which it chooses by itself; any other model has the settings that the search
    chose or, where there was none, its defaults.

    Attributes:
        published: The paper's mean and deviation, by model and data set.
        directed: The data sets whose edges have a direction.
    """

    models = _all_models()
    published: ClassVar[dict[str, dict[str, tuple[float, float]]]] = {}
    directed: ClassVar[tuple[str, ...]] = ()

    def request(
        self, datasets: list[str] | None = None, models: list[str] | None = None, runs: int | None = None
    ) -> Request:
        """Return a request; raise InputError also if it has more runs than there are published splits."""
        request = super().request(datasets, models, runs)
        check_published_splits(request.runs, {self.split_of(data) for data in request.datasets})
        return request

    def split_of(self, data: str) -> str:
        """Return the protocol of the splits of a data set."""
        return self.split

    def tuned(self, data: str) -> dict[str, Tuned]:
        """Return the settings that the search chose on a data set."""
        return read_tuned(data, packaged_settings(self.split_of(data)))

    def comparison(self, data: str, request: Request) -> Comparison:
        """Return the comparison on one data set."""
        params = params_of([model for model in request.models if model != GOAL], self.tuned(data))
        settings = {model: params.get(model, GOAL_DEFAULT) for model in request.models}
        return Comparison(BenchmarkData.named(data, self.split_of(data)), settings, request.runs)

    def comparisons(self, request: Request) -> list[Comparison]:
        """Return one comparison per data set."""
        return [self.comparison(data, request) for data in request.datasets]

    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return every fit, and the look-up of identical nodes on the same splits."""
        comparison = self.comparison(data, request)
        return [*comparison.jobs(), *_audits(comparison)]

    def may_be_missing(self, job: Job) -> bool:
        """Return whether it is a fit of GOAL's default or of trees, which are dear or came later."""
        return job.model == TREES or job.options.get("params") == GOAL_DEFAULT

    def values_of(self, data: str, request: Request, store: Store) -> dict[str, Any]:
        """Return the rows and verdicts, with the paper's number and the gap to it in percent."""
        comparison, values = self.comparison(data, request), []
        rows, metric = comparison.rows(store), comparison.benchmark.metric
        verdicts = judge(rows, metric)
        for row in rows:
            each = row_values(row) | verdict_values(verdicts.get(row.model))
            paper = self._paper(data, row.model)
            if paper is not None:
                each |= {"paper": paper, "gap": gap(row.test, paper)}
            values.append(each)
        return {"split": comparison.benchmark.split, "metric": metric, "rows": values}

    def table(self, request: Request, store: Store) -> Table:
        """Return one column per data set: our numbers, and below them the paper's numbers and the gaps."""
        compared = [(each, rows_by_model(each, store)) for each in self.comparisons(request)]
        table = Table(["", *(SHORT.get(data, data) for data in request.datasets)])
        columns = [self._column(each, rows, request.models) for each, rows in compared]
        for index, model in enumerate(request.models):
            table.add(title_of(model), *(column[index] for column in columns))
        table.add("identical nodes looked up", *(_audit_cell(each, store) for each, _ in compared))
        table.notes = [note for note in self._notes(request, compared, store) if note]
        return table

    def _column(self, comparison: Comparison, rows: Rows, models: tuple[str, ...]) -> list[str]:
        """Return the cells of one data set, the best in bold."""
        benchmark = comparison.benchmark
        tests = {model: rows[model].test if model in rows else None for model in models}
        cells = [
            DASH if test is None else percent_cell(test, self._paper(benchmark.data, model))
            for model, test in tests.items()
        ]
        means = [None if test is None else benchmark.quality(test.mean) for test in tests.values()]
        return best_in_bold(cells, means)

    def _paper(self, data: str, model: str) -> float | None:
        printed = self.published.get(model_name(model), {}).get(data)
        return None if printed is None else printed[0]

    def _notes(self, request: Request, compared: Compared, store: Store) -> list[str]:
        """Return the notes; those that have nothing to say are empty."""
        untuned = {}
        for data in request.datasets:
            tuned = self.tuned(data)
            untuned[data] = [model for model in request.models if model_name(model) not in tuned]
        return [
            numbers_note([each for each, _ in compared], request.runs, bool(self.published)),
            lookup_note(request.datasets, self.directed),
            untuned_note(untuned, request.models),
            verdict_note(compared),
            members_note(compared, store),
            encoder_note(compared, store),
        ]


def rows_by_model(comparison: Comparison, store: Store) -> Rows:
    """Return the rows of a comparison that have records, by model."""
    return {row.model: row for row in comparison.rows(store)}


def _audits(comparison: Comparison) -> list[Job]:
    return [comparison.benchmark.task_job("audit", {}, seed) for seed in range(comparison.runs)]


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
