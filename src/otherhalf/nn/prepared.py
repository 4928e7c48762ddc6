"""A graph prepared for models, with everything that is computed from it once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

import scipy.sparse as sp
import torch

from otherhalf.graph import Direction, Graph
from otherhalf.nn.inputs import NodeInputs, Scaling, feature_matrix
from otherhalf.nn.magnitudes import MagnitudeScaling
from otherhalf.nn.ops.attention import Neighbourhoods
from otherhalf.nn.ops.sparse import SparseOperator, mean_adjacency, normalized_adjacency
from otherhalf.system.adjacency import pattern

ADJACENCY_ROWS = "adjacency_rows"

OPERATORS: dict[str, Callable[[sp.csr_matrix], Any]] = {
    "normalized": normalized_adjacency,
    "normalized_with_loops": lambda adjacency: normalized_adjacency(adjacency, self_loops=True),
    "mean": mean_adjacency,
    "mean_with_loops": lambda adjacency: mean_adjacency(adjacency, self_loops=True),
    "neighbourhoods": Neighbourhoods.from_scipy,
}
"""Arguments of layers besides the hidden state, made from an adjacency matrix. Each has ``to(device)``.

:data:`ADJACENCY_ROWS` is one more: :attr:`NodeInputs.neighbours`.
"""

DIRECTED = ("mean", "mean_with_loops")
"""Operators of directed edges too. The others need a symmetric matrix: their gradients rely on it."""


class PreparedGraph:
    """A graph with its node inputs and operators, each computed at its first use and then kept.

    Args:
        graph: The graph.
        scaling: The scaling learned on the fitted graph.
        num_known: Number of columns of the adjacency rows: the nodes of the fitted graph, which come first in
            a graph with new nodes. Default: all nodes.
        magnitudes: If given, the log sum of the features and the log degree of every node, scaled like this,
            are among the features.
        device: Device of the models.
    """

    def __init__(
        self,
        graph: Graph,
        scaling: Scaling,
        *,
        num_known: int | None = None,
        magnitudes: MagnitudeScaling | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.graph = graph
        self.scaling = scaling
        self.magnitudes = magnitudes
        self.device = torch.device(device)
        self._num_known = graph.num_nodes if num_known is None else num_known
        self._operators: dict[tuple[str, Direction], Any] = {}
        self.derived: dict[str, Any] = {}  # what the estimator that prepared the graph computed from it

    @cached_property
    def inputs(self) -> NodeInputs:
        """The scaled features and the adjacency rows."""
        adjacency = self.graph.adjacency
        rows = pattern(
            adjacency if self._num_known == self.graph.num_nodes else adjacency[:, : self._num_known]
        )
        features = self.scaling.apply(self.graph.x)
        if self.magnitudes is not None:
            features = self.magnitudes.append(features, adjacency)
        return NodeInputs(feature_matrix(features), SparseOperator.from_scipy(rows)).to(self.device)

    @cached_property
    def scaled_graph(self) -> Graph:
        """The graph with its features scaled."""
        unscaled = self.scaling.kind == "none"
        return self.graph if unscaled else replace(self.graph, x=self.scaling.apply(self.graph.x))

    def with_magnitudes(self, magnitudes: MagnitudeScaling | None) -> PreparedGraph:
        """Return the same graph with magnitudes among its features; it shares the operators."""
        if magnitudes is None:
            return self
        other = PreparedGraph(
            self.graph, self.scaling, num_known=self._num_known, magnitudes=magnitudes, device=self.device
        )
        other._operators = self._operators
        return other

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Features, classes and known nodes: the sizes that models of this graph are made for."""
        return self.inputs.features.shape[1], self.graph.num_classes, self._num_known

    def operator(self, name: str, direction: Direction = "undirected") -> Any:
        """Return one of :data:`OPERATORS`, or the adjacency rows, over the edges in this direction."""
        if self.graph.directed and direction != "undirected" and name not in DIRECTED:
            raise ValueError(f"{name} needs undirected edges: choose one of {', '.join(DIRECTED)}")
        if name == ADJACENCY_ROWS:
            return self.inputs.neighbours
        key = (name, direction)
        if key not in self._operators:
            operator = OPERATORS[name](self.graph.adjacency_in(direction))
            self._operators[key] = operator.to(self.device)
        return self._operators[key]

    def arguments(self, operators: Iterable[str]) -> tuple[Any, ...]:
        """Return the arguments of a model that reads these operators: the inputs, then the operators."""
        return self.inputs, *(self.operator(name) for name in operators)
