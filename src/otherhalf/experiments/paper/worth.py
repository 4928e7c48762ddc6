"""Beside the paper: what each part of GOAL's default is worth, by leaving it out."""

from dataclasses import dataclass
from typing import Any

from otherhalf.errors import InputError
from otherhalf.experiments.comparison import scores_of
from otherhalf.experiments.paper.comparison_table import check_published_splits
from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.published import SHORT
from otherhalf.experiments.paper.summaries import DASH
from otherhalf.experiments.paper.table1 import PublishedSplits, Table1
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import GOAL, GOAL_DEFAULT
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import LEVEL, Difference, confidence_interval, paired_difference
from otherhalf.experiments.table import Table

SPLITS = {data: table.split for table in (Table1, PublishedSplits) for data in table.datasets}
"""Protocol of each data set: that of its table."""


@dataclass(frozen=True)
class Part:
    """A part of the ensemble.

    Attributes:
        title: What the difference to the variant is the worth of.
        left_out: Settings of the ensemble without it.
    """

    title: str
    left_out: dict[str, Any]

    @property
    def params(self) -> dict[str, Any]:
        """Arguments of GOAL without the part."""
        return {**GOAL_DEFAULT, "ensemble": self.left_out}


PARTS = {
    "half-none": Part("the found half", {"half": "none"}),
    "half-random": Part("the found half, against a random one", {"half": "random"}),
    "messages": Part("label messages", {"messages": False}),
    "trees": Part("trees", {"trees": False}),
    "propagation": Part("label propagation", {"propagation": False}),
    "magnitudes": Part("magnitudes", {"magnitudes": False}),
    "folds": Part("several trainings", {"folds": 1}),
    "plain": Part("plain models", {"plain": 0}),
    "classifier": Part("the classifier over both halves", {"classifier": False}),
}
"""The parts, by the names that choose them in a request."""


FEWEST = 3
"""Splits that a difference is shown from, while the others are not made yet: fewer have no interval."""


class Worth(Experiment):
    """Parts in rows, data sets in columns, and in each cell the default minus the default without the part.

    A variant differs from the default in one setting and runs on the same splits with the same seeds. The
    default is the run of ``table1`` or ``fixed``.
    """

    name = "worth"
    title = "Beside the paper: what each part of GOAL is worth"
    label = ""
    datasets = tuple(SPLITS)
    models = tuple(PARTS)
    runs = 5

    def request(
        self, datasets: list[str] | None = None, models: list[str] | None = None, runs: int | None = None
    ) -> Request:
        """Return a request, whose models are parts; raise InputError if it cannot be done."""
        request = super().request(datasets, models, runs)
        check_published_splits(request.runs, {SPLITS[data] for data in request.datasets})
        return request

    def _check_model(self, model: str) -> None:
        if model not in PARTS:
            raise InputError(f"{self.name} has no part {model!r}: choose among {', '.join(PARTS)}")

    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return the fits of the default, and of each variant on the same splits."""
        settings = [GOAL_DEFAULT, *(PARTS[name].params for name in request.models)]
        return [job for params in settings for job in _fits(data, params, request.runs)]

    def may_be_missing(self, job: Job) -> bool:
        """Return true: the runs are long, and are made part by part."""
        return True

    def table(self, request: Request, store: Store) -> Table:
        """Return the mean differences, and below each its interval."""
        table = Table(["", *(SHORT.get(data, data) for data in request.datasets)])
        columns = [self._differences(data, request, store) for data in request.datasets]
        for name in request.models:
            table.add(PARTS[name].title, *(_cell(column[name], request.runs) for column in columns))
        covered = f"{1 - LEVEL:.0%}"
        fixed = [data for data in request.datasets if SPLITS[data] == PublishedSplits.split]
        table.notes = [
            "Test score of GOAL's default less its score without the part, in percentage points: mean over "
            f"{request.runs} split(s), paired split by split; above 0 the part helps. Below it the {covered} "
            "interval of the corrected resampled t-test, which needs three splits or more; bold where it "
            "leaves out 0; then the number of splits where not all are made yet. Splits and metric of each "
            "data set are those of its table: "
            f"{_protocols(request.datasets, fixed)}.",
            f"A part whose interval is around 0 on every data set is worth nothing that {request.runs} "
            f"split(s) can show. The intervals are not adjusted for their number: by chance alone, one in "
            f"{round(1 / LEVEL)} leaves out 0.",
            "The parts stand in for each other: what one is worth is measured with all others present, so "
            "the rows do not add up.",
        ]
        return table

    def values_of(self, data: str, request: Request, store: Store) -> dict[str, Any]:
        """Return mean, interval and runs of each difference, as shares of 1; None where there is none."""
        benchmark = _benchmark(data)
        differences = self._differences(data, request, store)
        parts = {name: _values(each) for name, each in differences.items()}
        return {"split": benchmark.split, "metric": benchmark.metric, "parts": parts}

    def _differences(self, data: str, request: Request, store: Store) -> dict[str, Difference | None]:
        return {name: self._difference(data, name, request.runs, store) for name in request.models}

    def _difference(self, data: str, name: str, runs: int, store: Store) -> Difference | None:
        """Return the difference over all runs, or over the first few where the others are not made yet."""
        for count in sorted({runs, min(runs, FEWEST)}, reverse=True):
            default, without = (
                scores_of(store, _fits(data, params, count)) for params in (GOAL_DEFAULT, PARTS[name].params)
            )
            if default is not None and without is not None:
                return paired_difference(default[0], without[0], default[2])
        return None


def _benchmark(data: str) -> BenchmarkData:
    return BenchmarkData.named(data, SPLITS[data])


def _fits(data: str, params: dict[str, Any], runs: int) -> list[Job]:
    benchmark = _benchmark(data)
    return [benchmark.job("fit", GOAL, params, seed) for seed in range(runs)]


def _protocols(datasets: tuple[str, ...], fixed: list[str]) -> str:
    if len(fixed) in (0, len(datasets)):
        return "fixed" if fixed else "uniform"
    return f"fixed for {', '.join(fixed)}, uniform for the others"


def _cell(difference: Difference | None, runs: int) -> str:
    if difference is None:
        return DASH
    mean, interval = f"{100 * difference.mean:+z.2f}", confidence_interval(difference)
    fewer = f"\n{difference.runs} splits" if difference.runs < runs else ""
    if interval is None:
        return mean + fewer
    low, high = interval
    shown = f"**{mean}**" if low > 0 or high < 0 else mean
    return f"{shown}\n[{100 * low:z.2f}, {100 * high:z.2f}]{fewer}"


def _values(difference: Difference | None) -> dict[str, Any]:
    if difference is None:
        return {"mean": None, "low": None, "high": None, "runs": 0}
    low, high = confidence_interval(difference) or (None, None)
    return {"mean": difference.mean, "low": low, "high": high, "runs": difference.runs}
