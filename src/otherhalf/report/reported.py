"""What a report is about: a fitted model, its graph and split, and what it predicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.graph import Graph, Split
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import UNKNOWN, FloatArray, IntArray

PARTS = {"train": "t", "val": "v", "test": "s"}
"""Parts of a split, and the letter of each in a report; a node in none of them has an "e"."""


@dataclass(frozen=True, eq=False)
class Reported:
    """A fitted model with the graph that it was fitted to.

    Attributes:
        model: The model.
        graph: The graph, with its nodes in the order of the fit.
        split: The split of the fit, in that order too.
        prepared: The graph as the model reads it.
        probabilities: ``[N, C]`` probabilities of all nodes.
    """

    model: NodeClassifier
    graph: Graph
    split: Split
    prepared: PreparedGraph
    probabilities: FloatArray

    @classmethod
    def of(cls, model: NodeClassifier, graph: Graph, split: Split) -> Reported:
        """Predict every node; raise InputError if the model was fitted to another graph."""
        split.check_against(graph)
        if graph.classes.tolist() != np.asarray(model.classes_).tolist():
            raise InputError(
                "the graph does not have the classes of the model: a report needs the graph of the fit"
            )
        if graph.num_nodes != model.num_known_:
            raise InputError(
                f"the graph has {graph.num_nodes:,} nodes and the model was fitted to {model.num_known_:,}: "
                "a report needs the graph of the fit"
            )
        probabilities = model.predict_proba(graph)
        prepared, order = model.prepare(graph)
        if not np.array_equal(order, np.arange(len(order))):
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            probabilities = probabilities[order]
            train, val, test = (place[part] for part in (split.train, split.val, split.test))
            split = Split(train, val, test, kind=split.kind, seed=split.seed)
        return cls(model, prepared.graph, split, prepared, probabilities)

    @property
    def seed(self) -> int:
        """Seed of everything that is drawn for the report: that of the model."""
        return int(self.model.seed)

    @cached_property
    def predicted(self) -> IntArray:
        """``[N]`` codes of the most probable classes."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    @cached_property
    def confidence(self) -> FloatArray:
        """``[N]`` probabilities of the predicted classes."""
        return np.asarray(self.probabilities.max(axis=1))

    @cached_property
    def part(self) -> npt.NDArray[Any]:
        """``[N]`` letters of :data:`PARTS`."""
        letters = np.full(self.graph.num_nodes, "e", dtype="<U1")
        for name, letter in PARTS.items():
            letters[getattr(self.split, name)] = letter
        return letters

    @cached_property
    def judged_part(self) -> str:
        """The part that the model is judged on: test or, where no test node has a label, val."""
        return "test" if (self.graph.y[self.split.test] != UNKNOWN).any() else "val"

    @cached_property
    def judged(self) -> IntArray:
        """The labelled nodes of that part, ascending."""
        nodes = np.sort(getattr(self.split, self.judged_part))
        return np.asarray(nodes[self.graph.y[nodes] != UNKNOWN])

    @cached_property
    def degrees(self) -> IntArray:
        """``[N]`` numbers of neighbours, whatever the direction of the edges."""
        return np.asarray(np.diff(self.graph.adjacency.indptr), dtype=np.int64)
