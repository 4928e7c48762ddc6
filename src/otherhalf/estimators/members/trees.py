"""The member of trees on the graph as a table."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from otherhalf.estimators.forest import Forest
from otherhalf.estimators.forest_fit import TREES, fit_extra_trees
from otherhalf.estimators.graph_table import GraphTable
from otherhalf.estimators.members.base import Fitted, Member
from otherhalf.estimators.members.view import GraphView
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.profile import timed
from otherhalf.training.checkpoint import History
from otherhalf.training.supervised import Supervision


class TreesMember(Member):
    """Extremely randomised trees; the scores S are among the columns where there is a found half."""

    kind = name = "trees"

    def __init__(self, table: GraphTable, forest: Forest, most: int | None = None) -> None:
        self.table, self.forest, self.most = table, forest, most

    def rows(self, view: GraphView) -> FloatArray:
        """Return the table of a graph."""
        return table_rows(self.table, view)

    def probabilities(self, view: GraphView) -> FloatArray:
        """Return the probabilities of every node."""
        return self.forest.probabilities(self.rows(view))

    def probabilities_of(self, view: GraphView, nodes: IntArray) -> FloatArray:
        """Return the probabilities of a few nodes, from the nodes around them."""
        return self.forest.probabilities(few_table_rows(self.table, view, nodes))

    def again(self, view: GraphView, supervision: Supervision, histories: list[History]) -> TreesMember:
        """Return as many new trees over the same table, fitted to as many rows at most."""
        rows = table_rows(self.table, view)
        return _fitted(self.table, rows, view, supervision, self.most, len(self.forest.roots))[0]

    def tensors(self) -> dict[str, Tensor]:
        """Return the arrays of the table and of the trees."""
        return self.table.tensors() | self.forest.tensors()

    @classmethod
    def restore(
        cls, name: str, sizes: tuple[int, int, int], description: dict[str, Any], tensors: dict[str, Tensor]
    ) -> TreesMember:
        """Return the member."""
        return cls(GraphTable.from_tensors(tensors), Forest.from_tensors(tensors))


@timed("member trees")
def fit_trees(
    view: GraphView, supervision: Supervision, *, most: int | None = None, trees: int = TREES
) -> Fitted:
    """Fit the trees; training nodes are judged out of bag.

    Args:
        view: The fitted graph.
        supervision: Seed and weights of the classes.
        most: Most training nodes to fit to; with more, a sample, and then training nodes are not judged. It
            is given on a large graph, where new nodes do not change the ranks of others.
        trees: Number of trees.
    """
    started = time.perf_counter()
    table = GraphTable.fit(view.graph, supervision.seed, keep_ranks=most is not None)
    rows = table_rows(table, view)
    member, unseen = _fitted(table, rows, view, supervision, most, trees)
    return Fitted(member, member.forest.probabilities(rows), unseen, time.perf_counter() - started, {})


def _fitted(
    table: GraphTable,
    rows: FloatArray,
    view: GraphView,
    supervision: Supervision,
    most: int | None,
    trees: int,
) -> tuple[TreesMember, FloatArray | None]:
    labels, chosen = view.labels, np.arange(len(view.labels.nodes))
    if most is not None and len(chosen) > most:
        draw = np.random.default_rng(supervision.seed)
        chosen = np.sort(draw.choice(chosen, most, replace=False))
    forest, unseen = fit_extra_trees(
        rows[labels.nodes[chosen]],
        labels.codes[chosen],
        labels.classes,
        supervision.seed,
        trees=trees,
        class_weights=supervision.class_weights,
    )
    return TreesMember(table, forest, most), unseen if len(chosen) == len(labels.nodes) else None


def table_rows(table: GraphTable, view: GraphView) -> FloatArray:
    """Return the table of a graph, with the scores S where there is a found half."""
    scores = None if view.found is None else view.found.scores
    labels = view.label_rows if view.reads_labels else torch.zeros_like(view.label_rows)
    return table.rows(view.graph, labels, scores)


def few_table_rows(table: GraphTable, view: GraphView, nodes: IntArray) -> FloatArray:
    """Return the table of a few nodes."""
    scores = view.scores_of(nodes) if view.has_scores else None
    labels = view.label_rows if view.reads_labels else torch.zeros_like(view.label_rows)
    return table.few(view.graph, labels, nodes, scores)
