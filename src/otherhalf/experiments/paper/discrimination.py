"""Graph Discrimination (``fig:cosine comp``): the tendency of a graph, decided without labels."""

from pathlib import Path
from typing import Any

from otherhalf.diagnosis.verdict import KS_THRESHOLD
from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.published import DATASETS, SHORT
from otherhalf.experiments.paper.summaries import DASH
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.table import Table

OPTIONS = {"draws": 10, "threshold": KS_THRESHOLD}

HETEROPHILOUS = ("chameleon", "squirrel", "actor")
"""Heterophily-prone data sets according to the paper; the other five are homophily-prone."""


class Discrimination(Experiment):
    """The K-S statistic D of connected and random pairs, and the verdict."""

    name = "discrimination"
    title = "Graph Discrimination"
    label = "fig:cosine comp"
    draws = True
    datasets = DATASETS
    runs = 1

    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return one job; further runs draw other random pairs."""
        benchmark = BenchmarkData.named(data, "")  # no split: the entire graph is used
        return [benchmark.task_job("diagnose", OPTIONS, seed) for seed in range(request.runs)]

    def table(self, request: Request, store: Store) -> Table:
        """Return D, its spread over the draws, our verdict and the paper's."""
        table = Table(["", "D", "spread", "verdict", "the paper's", "edge homophily"])
        for data in request.datasets:
            for seed, job in enumerate(self.jobs_of(data, request)):
                name = SHORT.get(data, data) + (f", seed {seed}" if request.runs > 1 else "")
                record = store.get(job)
                if record is None:
                    table.add(name, DASH, DASH, DASH, _verdict_of_the_paper(data), DASH)
                    continue
                result = record.result
                share = result["edge_homophily"]
                table.add(
                    name,
                    f"{result['ks']:.3f}",
                    f"{result['ks_std']:.3f}",
                    result["tendency"],
                    _verdict_of_the_paper(data),
                    DASH if share is None else f"{share:.3f}",
                )
        table.notes = [
            f"D: the mean over {OPTIONS['draws']} draws of the K-S statistic between the cosines of "
            "connected pairs and of as many random pairs; spread: its standard deviation over the draws "
            f"(ddof 1). Above {KS_THRESHOLD} a graph is homophily-prone. The paper prints its D inside a "
            "figure, and the verdicts in the text. Edge homophily is of the labels, which D does not look at."
        ]
        return table

    def values_of(self, data: str, request: Request, store: Store) -> dict[str, Any]:
        """Return the result of each run, without the distributions, and the paper's verdict."""
        left_out = ("bin_edges", "connected", "random")
        results = [
            None if record is None else {k: v for k, v in record.result.items() if k not in left_out}
            for record in map(store.get, self.jobs_of(data, request))
        ]
        return {"paper": _verdict_of_the_paper(data), "found": results}

    def figures(self, request: Request, store: Store, folder: Path) -> list[Path]:
        """Draw ``cosine.png`` and ``.svg``: a panel for the first run of each data set that has a record."""
        from otherhalf.report.charts import cosine_distributions

        records = {data: store.get(self.jobs_of(data, request)[0]) for data in request.datasets}
        panels = [
            {"name": SHORT.get(data, data), **record.result}
            for data, record in records.items()
            if record is not None
        ]
        return [*cosine_distributions(panels, folder / "cosine.png")] if panels else []


def _verdict_of_the_paper(data: str) -> str:
    return "heterophily" if data in HETEROPHILOUS else "homophily"
