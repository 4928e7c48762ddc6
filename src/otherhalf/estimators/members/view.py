"""A graph as the members of an ensemble read it: everything they share is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.complement.kernel_half import KernelHalf, Spread, spread_over
from otherhalf.estimators.members.row_features import RowFeatures
from otherhalf.estimators.members.row_inputs import RowInputs
from otherhalf.graph import Graph
from otherhalf.nn.complemented import BothHalves
from otherhalf.nn.label_messages import label_rows, label_walks, messages
from otherhalf.nn.ops.sparse import SparseOperator, mean_matrix, normalized_matrix
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class TrainingLabels:
    """The labels that members may read: nodes, their class codes, and the number of classes."""

    nodes: IntArray
    codes: IntArray
    classes: int

    def rows(self, num_nodes: int) -> Tensor:
        """Return Y, ``[N, C]``: 1 at the class of a training node, zero rows for all other nodes."""
        return label_rows(self.codes, self.nodes, num_nodes, self.classes)


class GraphView:
    """The fitted graph, or that graph with new nodes after its own.

    Args:
        prepared: The graph with its inputs and operators.
        labels: The training labels.
        tendency: ``homophily`` or ``heterophily``: what the given edges are.
        spread: The fitted spread, or None for an ensemble without a missing half.
        kind: Kind of the missing half.
        k: Number of nodes that each node is joined to.
        found: Scores and half of this graph, if they are known already.
        reads_labels: Whether labels of other nodes are inputs of classifier and trees.
        row_features: The features of models over rows; None where there are no such models.
    """

    def __init__(
        self,
        prepared: PreparedGraph,
        labels: TrainingLabels,
        tendency: str,
        *,
        spread: Spread | None = None,
        kind: str = "homophily",
        k: int = 10,
        found: KernelHalf | None = None,
        reads_labels: bool = True,
        row_features: RowFeatures | None = None,
    ) -> None:
        self.prepared, self.labels, self.tendency = prepared, labels, tendency
        self.spread, self.kind, self.k = spread, kind, k
        self._found, self.reads_labels, self.row_features = found, reads_labels, row_features
        self._around: tuple[IntArray, KernelHalf] | None = None

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.prepared.graph

    @cached_property
    def label_rows(self) -> Tensor:
        """Y of this graph."""
        return self.labels.rows(self.graph.num_nodes)

    @property
    def found(self) -> KernelHalf | None:
        """The scores of all nodes and the missing half of this graph."""
        if self._found is None and self.spread is not None:
            descriptions = self.spread.descriptions(self.graph)
            self._found = spread_over(self.spread, descriptions, self.kind, self.k)
        return self._found

    @property
    def has_half(self) -> bool:
        """Whether there is a missing half, computed or not."""
        return self._found is not None or self.spread is not None

    @property
    def has_scores(self) -> bool:
        """Whether the missing half has spread scores."""
        if self._found is not None:
            return self._found.scores is not None
        return self.spread is not None

    def half_rows(self, kind: str, nodes: IntArray) -> sp.csr_matrix:
        """Return the rows of a few nodes of one kind of the missing half."""
        found = self._found if self._found is not None else self._found_around(nodes)[1]
        return found.half.part(kind).matrix[nodes]

    def scores_of(self, nodes: IntArray) -> FloatArray:
        """Return the scores S of a few nodes."""
        computed, found = None, self._found
        if found is None:
            computed, found = self._found_around(nodes)
        if found.scores is None:
            raise ValueError("the missing half has no scores")
        return found.scores[nodes if computed is None else np.searchsorted(computed, nodes)]

    def _found_around(self, nodes: IntArray) -> tuple[IntArray, KernelHalf]:
        """Return sorted nodes with these among them, and their scores and pairs.

        They are computed with those of the neighbours, which label messages read: what nodes are compared
        with is described once.
        """
        if self.spread is None:
            raise ValueError("this graph has no missing half")
        if self._around is None or not np.isin(nodes, self._around[0]).all():
            around = np.union1d(nodes, self.graph.adjacency[nodes].indices).astype(np.int64)
            descriptions = self.spread.descriptions(self.graph, around)
            self._around = around, spread_over(self.spread, descriptions, self.kind, self.k, nodes=around)
        return self._around

    @cached_property
    def rows(self) -> RowInputs:
        """The inputs of models over rows."""
        return RowInputs(self)

    @cached_property
    def halves(self) -> BothHalves:
        """Both halves, the label messages over them, and the scores, as the classifier reads them.

        The given edges are the half that their tendency says. The missing half is the other one; where it is
        of both kinds, its similar pairs are joined to the given edges.
        """
        given, found = self.prepared.operator("normalized"), self.found
        nothing = SparseOperator.from_scipy(sp.csr_matrix((self.graph.num_nodes,) * 2, dtype=np.float32))
        homophilic, heterophilic = (given, nothing) if self.tendency == "homophily" else (nothing, given)
        if found is not None:
            half = found.half
            if half.kind == "homophily":
                homophilic = half.operator
            elif half.kind == "heterophily":
                heterophilic = half.operator
            else:
                similar = half.part("homophily").matrix
                both = (normalized_matrix(self.graph.adjacency) + similar) * np.float32(0.5)
                homophilic = SparseOperator.from_scipy(both)
                heterophilic = half.part("heterophily").operator
        scores = None if found is None or found.scores is None else torch.from_numpy(found.scores)
        return BothHalves(homophilic, heterophilic, self.messages, scores).to(self.prepared.device)

    @cached_property
    def messages(self) -> Tensor:
        """Label messages one and two steps away over both halves; with direction, over both directions."""
        graph = self.graph
        if not self.reads_labels:
            return torch.empty(graph.num_nodes, 0)
        given = mean_matrix(graph.adjacency)
        walks: list[tuple[sp.csr_matrix, ...]] = [(given,), (given, given)]
        if graph.directed:
            out, into = (mean_matrix(graph.adjacency_in(each)) for each in ("given", "reversed"))
            walks += [(out,), (into,), (out, into), (into, out)]
        if self.found is not None:
            half = self.found.half
            kinds = ("homophily", "heterophily") if half.kind == "both" else (half.kind,)
            for kind in kinds:
                joined = half.part(kind).matrix
                walks += [(joined,), (joined, given), (given, joined)]
        return messages(label_walks(walks), self.label_rows)
