"""What experiments are run on: a graph by name, content and protocol, known without being loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otherhalf.data.catalog import load, resolve
from otherhalf.data.entries import DATASETS, splits_fingerprint
from otherhalf.data.splits import KINDS
from otherhalf.errors import InputError
from otherhalf.experiments.models import configuration
from otherhalf.experiments.runner.job import Job
from otherhalf.graph import Graph

PUBLISHED = ("fixed", "public")
"""Protocols whose splits come with the data."""


@dataclass(frozen=True)
class BenchmarkData:
    """One graph under one protocol.

    Attributes:
        data: Its name.
        data_hash: Its content, and its published splits where the protocol uses them.
        split: The protocol.
        metric: What its classifiers are judged by.
    """

    data: str
    data_hash: str
    split: str = "uniform"
    metric: str = "accuracy"

    @classmethod
    def of(cls, graph: Graph, split: str, metric: str = "accuracy") -> BenchmarkData:
        """A graph that is at hand; one of the catalogue's is judged as its authors do."""
        if in_catalogue(graph):
            metric = DATASETS[graph.name].metric
        return cls(graph.name or "graph", data_hash(graph, split), split, metric)

    @classmethod
    def named(cls, name: str, split: str = "uniform") -> BenchmarkData:
        """One of the catalogue's, which knows the content of all but one of them without reading them."""
        known = resolve(name)
        if known is None:
            raise InputError(f"there is no data set {name!r}: `otherhalf datasets` lists the names")
        if split not in ("", *KINDS):
            raise InputError(f"there is no split {split!r}: choose one of {', '.join(KINDS)}")
        entry = DATASETS[known]
        if not entry.fingerprint:
            return cls.of(load(known), split)
        return cls(known, _joined(entry.fingerprint, entry.splits_fingerprint, split), split, entry.metric)

    def job(self, task: str, model: str, params: Mapping[str, Any], seed: int, **more: Any) -> Job:
        """A run of a model on this graph; ``more`` is what its task wants to know beside that."""
        options = {**configuration(model, params, self.metric, self.data), **more}
        return Job(task, self.data, self.data_hash, model, options, self.split, seed)

    def plain_job(self, task: str, options: Mapping[str, Any], seed: int, model: str = "") -> Job:
        """A run of something else than a model."""
        return Job(task, self.data, self.data_hash, model, options, self.split, seed)


def in_catalogue(graph: Graph) -> bool:
    """Whether this is the graph that its name means, and not one that merely carries the name."""
    return graph.name in DATASETS and DATASETS[graph.name].fingerprint in ("", graph.fingerprint)


def data_hash(graph: Graph, split: str) -> str:
    """What decides a run on this graph: its content, and its published splits where they are used."""
    return _joined(graph.fingerprint, splits_fingerprint(graph), split)


def _joined(content: str, splits: str, split: str) -> str:
    return f"{content}:{splits}" if split in PUBLISHED and splits else content
