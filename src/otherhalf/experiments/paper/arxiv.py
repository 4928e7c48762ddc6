"""Ogbn-arxiv (``tab:large_exp``): GOAL and five baselines on a graph of 169,343 nodes.

The paper's numbers are for the official features. If those are not on this computer, the same graph and split
with TAPE's features (ranked guesses of the label) still show that the models run at this size; these
accuracies cannot be compared with the paper's.
"""

from dataclasses import replace
from typing import Any

from otherhalf.data.folders import search_folders, where_to_place
from otherhalf.data.formats import ogb
from otherhalf.errors import InputError
from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.published import ARXIV
from otherhalf.experiments.paper.summaries import means, percent_cell, summary, summary_values
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import title_of
from otherhalf.experiments.runner.results import all_results
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import Summary
from otherhalf.experiments.table import Table, best_in_bold

TASK = "restart"
SPLIT = "fixed"
NUMBER = 0
"""There is one published split, by year; runs differ in weights and dropout only."""

TITLE_OF = {ogb.TAPE: "TAPE's features", ogb.ARXIV: "official features"}

COMMON: dict[str, Any] = {
    "hidden": 128,
    "dropout": 0.5,
    "norm": "batch",
    "residual": True,
    "lr": 0.01,
    "weight_decay": 0.0,
    "epochs": 300,
    "patience": 30,
}
SETTINGS: dict[str, dict[str, Any]] = {
    **{model: {**COMMON, "layers": 3} for model in ARXIV if model != "goal"},
    "goal": {**COMMON, "layers": 2, "encoder": {"kind": "gcn", **COMMON, "layers": 3}, "k": 10},
}
"""One architecture for all, also for GOAL's encoder, without a search.

GOAL has the preset ``best``; two of its convolutions reach as far as four of a GCN.
"""


class Arxiv(Experiment):
    """Models in rows, the two kinds of features in columns."""

    name = "arxiv"
    title = "Ogbn-arxiv"
    label = "tab:large_exp"
    datasets = (ogb.TAPE, ogb.ARXIV)
    models = tuple(ARXIV)
    runs = 3
    split = SPLIT

    def jobs(self, request: Request) -> list[Job]:
        """Return every fit; with the official features only if they are on this computer."""
        wanted = [data for data in request.datasets if data != ogb.ARXIV or official_is_present()]
        if not wanted:
            raise InputError(
                f"{ogb.ARXIV} is not on this computer: {where_to_place(ogb.ARXIV)}, or OGB's arxiv.zip there"
            )
        return super().jobs(replace(request, datasets=tuple(wanted)))

    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return every fit on one kind of features."""
        return _all_jobs([BenchmarkData.named(data, SPLIT)], request)

    def reported(self, request: Request, store: Store) -> list[Job]:
        """Return the fits with TAPE's features, and with the official ones if there are records of them."""
        known = [_benchmark(data, store) for data in request.datasets]
        return _all_jobs([benchmark for benchmark in known if benchmark is not None], request)

    def table(self, request: Request, store: Store) -> Table:
        """Return our numbers; those with the official features have the paper's numbers below them."""
        columns = []
        for data in request.datasets:
            summaries = [_summary(data, model, request, store) for model in request.models]
            paper = [_paper(data, model) for model in request.models]
            cells = [percent_cell(ours, printed) for ours, printed in zip(summaries, paper, strict=True)]
            columns.append(best_in_bold(cells, means(summaries)))
        table = Table(["", *(TITLE_OF[data] for data in request.datasets)])
        for index, model in enumerate(request.models):
            table.add(title_of(model), *(column[index] for column in columns))
        table.notes = [
            f"Test accuracy in percent, mean ± standard deviation (ddof 1) over {request.runs} run(s) on the "
            "one published split, by year; runs differ in weights and dropout. The best mean of each column "
            "is bold. One frame for all models, without a search over settings."
        ]
        if ogb.TAPE in request.datasets:
            table.notes.append(
                "TAPE's features are ranked guesses of the label by GPT-3.5, not the 128 official ones: "
                "never compare that column with the paper's numbers or any other published result."
            )
        if ogb.ARXIV in request.datasets:
            table.notes.append(
                "Under the official features: the paper's number and, in brackets, ours less the paper's."
            )
        return table

    def values_of(self, data: str, request: Request, store: Store) -> dict[str, Any]:
        """Return mean, std and runs of each model, and the paper's number where it has one."""
        return {
            model: summary_values(_summary(data, model, request, store), _paper(data, model))
            for model in request.models
        }


def official_is_present() -> bool:
    """Return whether the official files are on this computer; nothing is read or downloaded."""
    return any(
        (folder / f"{ogb.ARXIV}.npz").is_file() or ogb.official_files(folder) is not None
        for folder in search_folders()
    )


def _paper(data: str, model: str) -> float | None:
    return ARXIV[model] if data == ogb.ARXIV else None


def _all_jobs(benchmarks: list[BenchmarkData], request: Request) -> list[Job]:
    return [job for each in benchmarks for model in request.models for job in _jobs(each, model, request)]


def _jobs(benchmark: BenchmarkData, model: str, request: Request) -> list[Job]:
    return [
        benchmark.job(TASK, model, SETTINGS[model], NUMBER, model_seed=seed) for seed in range(request.runs)
    ]


def _summary(data: str, model: str, request: Request, store: Store) -> Summary | None:
    benchmark = _benchmark(data, store)
    if benchmark is None:
        return None
    return summary(all_results(store, _jobs(benchmark, model, request)), "test")


def _benchmark(data: str, store: Store) -> BenchmarkData | None:
    """Return the data; the official one from its latest record, because the catalogue has no hash of it."""
    if data != ogb.ARXIV:
        return BenchmarkData.named(data, SPLIT)
    records = [r for r in store.records(TASK, ogb.ARXIV) if r.job.split == SPLIT]
    if not records:
        return None
    latest = max(records, key=lambda record: record.finished)
    return BenchmarkData(ogb.ARXIV, latest.job.data_hash, SPLIT)
