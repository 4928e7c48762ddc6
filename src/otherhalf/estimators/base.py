"""The face that every node classifier here shows: scikit-learn's manners, with a graph in place of X."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.graph_checks import UNKNOWN, IntArray


class NodeClassifier(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Something with ``fit(graph, split)`` that gives every node of a graph a class."""

    classes_: npt.NDArray[Any]

    @abstractmethod
    def predict_proba(self, graph: Graph) -> npt.NDArray[np.float32]:
        """``[N, C]`` class probabilities of every node, in the order of ``classes_``."""

    def predict(self, graph: Graph) -> npt.NDArray[Any]:
        """``[N]`` the most probable class of every node, as a label."""
        codes = self.predict_proba(graph).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def score(self, graph: Graph, nodes: IntArray | None = None) -> float:
        """The accuracy on ``nodes``, by default all labelled nodes."""
        nodes = graph.labelled if nodes is None else np.asarray(nodes)
        nodes = nodes[graph.y[nodes] != UNKNOWN]
        if len(nodes) == 0:
            raise InputError("none of the nodes to score has a label: give labelled nodes")
        truth = graph.classes[graph.y[nodes]]
        return float(np.mean(self.predict(graph)[nodes].astype(str) == truth.astype(str)))
