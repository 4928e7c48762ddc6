r"""The member that propagates labels over the given edges (Zhou et al. 2004).

.. math:: \mathbf{F}_{t+1} = a\,\mathbf{P}\mathbf{F}_t + (1 - a)\,\mathbf{Y}, \quad \mathbf{F}_0 = \mathbf{Y}

with P the normalised adjacency matrix or the mean over the neighbours, of all edges or of one relation; P and
the strength a are chosen on validation. Rows are made probabilities after a small share of the class
frequencies is added.

On a large graph the states F of the fitted nodes are kept with the model, and new nodes do not move them: a
new node takes its state from its neighbours, with the same formula and Y = 0. So its prediction touches new
nodes and their neighbours alone.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.estimators.members.base import Fitted, Member
from otherhalf.estimators.members.row_operators import RowOperators
from otherhalf.estimators.members.view import GraphView, TrainingLabels
from otherhalf.graph import Direction, Graph
from otherhalf.nn.ops.sparse import SparseOperator, mean_adjacency, mean_matrix
from otherhalf.nn.propagation import needed_columns, propagate_rows
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.profile import timed
from otherhalf.system.relations import RelationGroups
from otherhalf.training.checkpoint import History
from otherhalf.training.metrics import metric_named
from otherhalf.training.supervised import Supervision

STRENGTHS = (0.5, 0.8, 0.9, 0.95, 0.99)
USUAL_STRENGTH = 0.9
STEPS = 40
FREQUENCY_SHARE = 1e-3

WAYS: dict[str, tuple[str, Direction]] = {
    "normalized": ("normalized", "undirected"),
    "mean": ("mean", "undirected"),
    "mean_given": ("mean", "given"),
    "mean_reversed": ("mean", "reversed"),
}
"""Matrices P; the last two are tried on directed graphs only."""

ROWS = {"normalized": "given", "mean": "mean", "mean_given": "out", "mean_reversed": "into"}
"""Their names among the operators of rows."""

BY_RELATION = "mean:"
"""The matrix P of one relation is named so, with the relation behind it."""


class PropagationMember(Member):
    """Label propagation with a chosen matrix and strength."""

    kind = name = "label propagation"

    def __init__(self, way: str, strength: float, states: Tensor | None = None) -> None:
        self.way, self.strength, self.states = way, strength, states

    def probabilities(self, view: GraphView) -> FloatArray:
        """Return the probabilities of every node."""
        if self.states is None:
            return _propagated(_operator(view, self.way), view.label_rows, self.strength)
        return _shares(torch.cat([self.states, self._of_new(view)]), view.label_rows)

    def probabilities_of(self, view: GraphView, nodes: IntArray) -> FloatArray:
        """Return the probabilities of a few nodes: from kept states, or from all."""
        if self.states is None:
            return super().probabilities_of(view, nodes)
        known = len(self.states)
        new = self._of_new(view) if (nodes >= known).any() else self.states[:0]
        rows = torch.empty(len(nodes), self.states.shape[1])
        old = torch.from_numpy(nodes < known)
        rows[old], rows[~old] = self.states[nodes[nodes < known]], new[nodes[nodes >= known] - known]
        return _shares(rows, view.label_rows)

    def _of_new(self, view: GraphView) -> Tensor:
        """Return the states of the new nodes, with those of the known ones as they are."""
        assert self.states is not None
        known, count = len(self.states), view.graph.num_nodes
        if count == known:
            return self.states[:0]
        rows = _rows(view, self.way, np.arange(known, count))
        local, near = needed_columns(rows[:, :known])
        given = torch.from_numpy(propagate_rows(local, self.states[near].numpy())).mul_(self.strength)
        among = SparseOperator.from_scipy(rows[:, known:].tocsr())
        state = given
        for _ in range(STEPS if among.matrix.values().numel() else 0):
            state = (among @ state).mul_(self.strength).add_(given)
        return state

    def again(self, view: GraphView, supervision: Supervision, histories: list[History]) -> PropagationMember:
        """Return the member, which reads the labels of the view; kept states are those of this view."""
        return self if self.states is None else self.with_states(view)

    def with_states(self, view: GraphView) -> PropagationMember:
        """Return the member with the states of these nodes kept."""
        states = _propagated_states(_operator(view, self.way), view.label_rows, self.strength)
        return PropagationMember(self.way, self.strength, states)

    def description(self) -> dict[str, Any]:
        """Return the matrix and the strength."""
        return {"way": self.way, "strength": self.strength}

    def tensors(self) -> dict[str, Tensor]:
        """Return the kept states."""
        return {} if self.states is None else {"states": self.states}

    @classmethod
    def restore(
        cls, name: str, sizes: tuple[int, int, int], description: dict[str, Any], tensors: dict[str, Tensor]
    ) -> PropagationMember:
        """Return the member."""
        states = tensors.get("states")
        _, classes, known = sizes
        if states is not None and (states.shape != (known, classes) or states.dtype != torch.float32):
            raise ValueError("its states of label propagation are not those of its nodes")
        return cls(description["way"], description["strength"], states)


@timed("member propagation")
def fit_propagation(
    view: GraphView, supervision: Supervision, folds: IntArray, *, thrifty: bool = False
) -> Fitted:
    """Choose matrix and strength on validation.

    Args:
        view: The fitted graph.
        supervision: Split and metric.
        folds: ``[n]`` fold of each training node; nodes of a fold are judged without the labels of the fold.
        thrifty: Whether to choose the matrix at one strength, and the strength with that matrix alone, and
            not to judge training nodes: a third of the time. The states of the nodes are then kept.
    """
    started = time.perf_counter()
    val, quality = supervision.split.val, metric_named(supervision.metric).quality
    y = view.graph.y[val]
    best: tuple[tuple[float, float], PropagationMember, FloatArray] | None = None
    ways = _ways(view.graph)
    pairs = [(way, strength) for way in ways for strength in STRENGTHS]
    if thrifty:
        pairs = [(way, USUAL_STRENGTH) for way in ways]
    while pairs:
        way, strength = pairs.pop(0)
        probabilities = _propagated(_operator(view, way), view.label_rows, strength)
        likelihood = float(np.log(np.maximum(probabilities[val, y], 1e-12)).mean())
        value = (quality(probabilities[val], y), likelihood)
        if best is None or value > best[0]:
            best = value, PropagationMember(way, strength), probabilities
        if thrifty and not pairs and strength == USUAL_STRENGTH:
            pairs = [(best[1].way, other) for other in STRENGTHS if other != USUAL_STRENGTH]
    assert best is not None
    _, member, probabilities = best
    if thrifty:
        member = member.with_states(view)
    unseen = None if thrifty else _without_own_fold(member, view, folds)
    return Fitted(member, probabilities, unseen, time.perf_counter() - started, {})


def _ways(graph: Graph) -> list[str]:
    ways = list(WAYS) if graph.directed else list(WAYS)[:2]
    return ways + [f"{BY_RELATION}{name}" for name in RelationGroups.of(graph.relations).names if name]


def _operator(view: GraphView, way: str) -> SparseOperator:
    if way in WAYS:
        operator: SparseOperator = view.prepared.operator(*WAYS[way])
        return operator
    adjacency = view.graph.relation_adjacency([way.removeprefix(BY_RELATION)])
    return mean_adjacency(adjacency).to(view.prepared.device)


def _without_own_fold(member: PropagationMember, view: GraphView, folds: IntArray) -> FloatArray:
    labels = view.labels
    unseen = np.empty((len(labels.nodes), labels.classes), dtype=np.float32)
    operator = _operator(view, member.way)
    for fold in np.unique(folds):
        kept = folds != fold
        rest = TrainingLabels(labels.nodes[kept], labels.codes[kept], labels.classes)
        propagated = _propagated(operator, rest.rows(view.graph.num_nodes), member.strength)
        unseen[~kept] = propagated[labels.nodes[~kept]]
    return unseen


def _rows(view: GraphView, way: str, nodes: IntArray) -> sp.csr_matrix:
    """Return the rows of P of some nodes."""
    if way in ROWS:
        return RowOperators(view).rows(ROWS[way], nodes)
    adjacency = view.graph.relation_adjacency([way.removeprefix(BY_RELATION)])
    return mean_matrix(adjacency[nodes])


def _propagated(operator: SparseOperator, labels: Tensor, strength: float) -> FloatArray:
    return _shares(_propagated_states(operator, labels, strength), labels)


def _propagated_states(operator: SparseOperator, labels: Tensor, strength: float) -> Tensor:
    state, kept = labels, (1 - strength) * labels
    with torch.no_grad():
        for _ in range(STEPS):
            # In the product's own memory: on a large graph a new matrix costs as much as the product.
            state = (operator @ state).mul_(strength).add_(kept)
    return state


def _shares(states: Tensor, labels: Tensor) -> FloatArray:
    """Return states as probabilities, of which a small share are the class frequencies."""
    frequencies = labels.sum(dim=0) / labels.sum().clamp_min(1)
    rows = states.clamp_min(0).add_(FREQUENCY_SHARE * frequencies)
    return rows.div_(rows.sum(dim=1, keepdim=True)).numpy()
