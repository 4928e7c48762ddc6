"""What experiments run on: a graph by name, content and protocol, known without being loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otherhalf.data.catalog import load, resolve
from otherhalf.data.entries import DATASETS, catalogue_name
from otherhalf.data.splits import KINDS
from otherhalf.errors import InputError
from otherhalf.experiments.runner.graphs import hash_of, join_hashes
from otherhalf.experiments.runner.job import Job, data_set_of
from otherhalf.experiments.runner.models import configuration, model_name
from otherhalf.graph import Graph
from otherhalf.training.metrics import METRICS


@dataclass(frozen=True)
class BenchmarkData:
    """One graph under one protocol.

    Attributes:
        data: Name of the graph.
        data_hash: Hash of its content, and of its published splits if the protocol uses them.
        split: Protocol of the splits; empty if there is none.
        metric: Metric of its classifiers.
    """

    data: str
    data_hash: str
    split: str = "uniform"
    metric: str = "accuracy"

    @classmethod
    def of(cls, graph: Graph, split: str, metric: str = "accuracy") -> BenchmarkData:
        """Return a loaded graph; a data set of the catalogue has the metric of the catalogue."""
        if data_set := catalogue_name(graph):
            metric = DATASETS[data_set].metric
        return cls(graph.name or "graph", hash_of(graph, split), split, metric)

    @classmethod
    def named(cls, name: str, split: str = "uniform") -> BenchmarkData:
        """Return a data set of the catalogue; it is loaded only if the catalogue has no hash of it."""
        known = resolve(name)
        if known is None:
            raise InputError(f"there is no data set {name!r}: `otherhalf datasets` lists the names")
        if split not in ("", *KINDS):
            raise InputError(f"there is no split {split!r}: choose one of {', '.join(KINDS)}")
        entry = DATASETS[known]
        if not entry.fingerprint:
            return cls.of(load(known), split)
        return cls(
            known, join_hashes(entry.fingerprint, entry.splits_fingerprint, split), split, entry.metric
        )

    def quality(self, value: float) -> float:
        """Return a value of the metric such that a larger one is better."""
        return METRICS[self.metric].sign * value

    def job(self, task: str, model: str, params: Mapping[str, Any], seed: int, **more: Any) -> Job:
        """Return a run of a model, or of the model behind a second name; ``more`` are options of the task."""
        name = model_name(model)
        options = configuration(name, params, self.metric, data_set_of(self.data, self.data_hash))
        return self.task_job(task, {**options, **more}, seed, name)

    def task_job(self, task: str, options: Mapping[str, Any], seed: int, model: str = "") -> Job:
        """Return a run with exactly these options."""
        return Job(task, self.data, self.data_hash, model, options, self.split, seed)
