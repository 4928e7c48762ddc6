"""Low- and high-pass filters over homophily (``fig:compare different filters``), on redrawn edges of Cora."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.summaries import means, percent_cell, summary, summary_values
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.results import all_results
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import Summary
from otherhalf.experiments.table import Table, best_in_bold
from otherhalf.nn.backbone import Architecture
from otherhalf.training.loop import TrainingSettings

RATIOS = tuple(step / 10 for step in range(11))

MODELS = {"low": "low", "high": "high", "low as printed": "low-printed", "high as printed": "high-printed"}
"""Name of the records' file of each of :data:`~otherhalf.nn.models.linear_filter.FILTERS`."""


class Filters(Experiment):
    """The accuracy of four linear filters at eleven homophily ratios."""

    name = "filters"
    title = "Linear filters over homophily"
    label = "fig:compare different filters"
    draws = True
    datasets = ("cora",)
    runs = 5

    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return a job for every ratio, filter and seed."""
        pairs = [(ratio, kind) for ratio in RATIOS for kind in MODELS]
        return [job for ratio, kind in pairs for job in _jobs(data, ratio, kind, request.runs)]

    def table(self, request: Request, store: Store) -> Table:
        """Return a row for each ratio, with a column for each filter."""
        table = Table(
            ["homophily", "low, (I + Â)/2", "high, (I − Â)/2", "low as printed, Â", "high as printed, −Â"]
        )
        for data in request.datasets:
            for ratio in RATIOS:
                summaries = [_summary(data, ratio, kind, request.runs, store) for kind in MODELS]
                cells = [percent_cell(each) for each in summaries]
                table.add(f"{ratio:.1f}", *best_in_bold(cells, means(summaries)))
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

    def figures(self, request: Request, store: Store, folder: Path) -> list[Path]:
        """Draw ``filters.png`` and ``.svg``: solid lines for low and high, dotted for both as printed."""
        from otherhalf.report.charts import filter_curves

        points = [point for data in request.datasets for point in self.values_of(data, request, store)]
        rows = [point for point in points if point["mean"] is not None]
        return [*filter_curves(rows, folder / "filters.png")] if rows else []

    def values_of(self, data: str, request: Request, store: Store) -> list[dict[str, Any]]:
        """Return the points of each curve."""
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
    defaults = {"shape": asdict(Architecture()), "training": asdict(TrainingSettings())}
    options = {"homophily": ratio, "filter": kind, **defaults}
    return [benchmark.task_job("filter", options, seed, MODELS[kind]) for seed in range(runs)]


def _summary(data: str, ratio: float, kind: str, runs: int, store: Store) -> Summary | None:
    return summary(all_results(store, _jobs(data, ratio, kind, runs)), "test")
