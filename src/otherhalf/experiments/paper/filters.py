"""Low- and high-pass filters over homophily (``fig:compare different filters``): Cora, its edges redrawn."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.summaries import percent_cell, summary, summary_values, whole
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import Summary
from otherhalf.experiments.table import Table, best_in_bold
from otherhalf.nn.backbone import Architecture
from otherhalf.training.loop import TrainingSettings

RATIOS = tuple(step / 10 for step in range(11))

MODELS = {"low": "low", "high": "high", "low as printed": "low-printed", "high as printed": "high-printed"}
"""Each of :data:`~otherhalf.nn.models.linear_filter.FILTERS`, and the name of its records' file."""


class Filters(Experiment):
    """The accuracy of four linear filters at eleven homophily ratios."""

    name = "filters"
    title = "Linear filters over homophily"
    label = "fig:compare different filters"
    draws = True
    datasets = ("cora",)
    runs = 5

    def jobs(self, request: Request) -> list[Job]:
        """Every ratio, filter and seed."""
        return [
            job
            for data in request.datasets
            for ratio in RATIOS
            for kind in MODELS
            for job in _jobs(data, ratio, kind, request.runs)
        ]

    def table(self, request: Request, store: Store) -> Table:
        """A row for each ratio, a column for each filter."""
        table = Table(
            ["homophily", "low, (I + Â)/2", "high, (I − Â)/2", "low as printed, Â", "high as printed, −Â"]
        )
        for data in request.datasets:
            for ratio in RATIOS:
                found = [_summary(data, ratio, kind, request.runs, store) for kind in MODELS]
                means = [None if each is None else each.mean for each in found]
                table.add(f"{ratio:.1f}", *best_in_bold([percent_cell(each, None) for each in found], means))
        table.notes = [
            f"Test accuracy in percent, mean ± standard deviation (ddof 1) over {request.runs} seed(s), each "
            "with edges, split and weights of its own; the best mean of each row is bold. Two layers, as "
            "many edges as Cora has. The paper draws curves and prints no numbers.",
            "The two filters that the paper prints, 1 − λ and λ − 1, are layers Â H W and −Â H W: one class "
            "of functions, since W is free, and what differs between them is chance. The filters 1 − λ/2 "
            "and λ/2 remove the highest and the lowest frequency, and are what the words low- and high-pass "
            "mean.",
        ]
        return table

    def values(self, request: Request, store: Store) -> dict[str, Any]:
        """The points of each curve."""
        datasets = {data: self._points(data, request, store) for data in request.datasets}
        return {"experiment": self.name, "runs": request.runs, "datasets": datasets}

    def figures(self, request: Request, store: Store, folder: Path) -> list[Path]:
        """``filters.png`` and ``.svg``: solid the filters that differ, dotted those that the paper prints."""
        from otherhalf.report.charts import filter_curves

        points = [point for data in request.datasets for point in self._points(data, request, store)]
        rows = [point for point in points if point["mean"] is not None]
        return [*filter_curves(rows, folder / "filters.png")] if rows else []

    def _points(self, data: str, request: Request, store: Store) -> list[dict[str, Any]]:
        return [
            {
                "homophily": ratio,
                "filter": kind,
                **summary_values(_summary(data, ratio, kind, request.runs, store)),
            }
            for kind in MODELS
            for ratio in RATIOS
        ]


def _jobs(data: str, ratio: float, kind: str, runs: int) -> list[Job]:
    benchmark = BenchmarkData.named(data)
    frame = {"shape": asdict(Architecture()), "training": asdict(TrainingSettings())}
    options = {"homophily": ratio, "filter": kind, **frame}
    return [benchmark.plain_job("filter", options, seed, MODELS[kind]) for seed in range(runs)]


def _summary(data: str, ratio: float, kind: str, runs: int, store: Store) -> Summary | None:
    return summary(whole(store, _jobs(data, ratio, kind, runs)), "test")
