"""The member of boosted trees on the graph as a table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from otherhalf.estimators.forest import Forest
from otherhalf.estimators.forest_fit import fit_boosted_trees
from otherhalf.estimators.graph_table import GraphTable
from otherhalf.estimators.members.base import Fitted, Member
from otherhalf.estimators.members.replicas import Plan, joined_unseen, seed_of
from otherhalf.estimators.members.trees import few_table_rows, table_rows
from otherhalf.estimators.members.view import GraphView
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.profile import timed
from otherhalf.training.checkpoint import History
from otherhalf.training.supervised import Supervision

MOST_WORK = 200_000
"""Largest product of training nodes and classes: each iteration adds a tree per class."""


class BoostedTreesMember(Member):
    """The mean of several gradient boostings, each without a fold of the training nodes."""

    kind = name = "boosted trees"

    def __init__(self, table: GraphTable, forests: list[Forest]) -> None:
        self.table, self.forests = table, forests

    def probabilities(self, view: GraphView) -> FloatArray:
        """Return the mean probabilities of every node."""
        return _mean(self.forests, table_rows(self.table, view))

    def probabilities_of(self, view: GraphView, nodes: IntArray) -> FloatArray:
        """Return the probabilities of a few nodes, from the nodes around them."""
        return _mean(self.forests, few_table_rows(self.table, view, nodes))

    def again(
        self, view: GraphView, supervision: Supervision, histories: list[History]
    ) -> BoostedTreesMember:
        """Return as many boostings over the same table, each with as many iterations as before."""
        rows, labels = table_rows(self.table, view), view.labels
        nothing = rows[:0], labels.codes[:0]
        # Two classes have one tree per iteration, and more have one each.
        trees = 1 if len(np.unique(labels.codes)) == 2 else len(np.unique(labels.codes))
        forests = [
            fit_boosted_trees(
                rows[labels.nodes],
                labels.codes,
                labels.classes,
                seed_of(supervision.seed, index),
                *nothing,
                iterations=max(1, len(forest.roots) // trees),
                class_weights=supervision.class_weights,
            )
            for index, forest in enumerate(self.forests)
        ]
        return BoostedTreesMember(self.table, forests)

    def description(self) -> dict[str, Any]:
        """Return the number of boostings."""
        return {"forests": len(self.forests)}

    def tensors(self) -> dict[str, Tensor]:
        """Return the arrays of the table and of all trees."""
        own = {
            f"{i}/{key}": part for i, each in enumerate(self.forests) for key, part in each.tensors().items()
        }
        return self.table.tensors() | own

    @classmethod
    def restore(
        cls, name: str, sizes: tuple[int, int, int], description: dict[str, Any], tensors: dict[str, Tensor]
    ) -> BoostedTreesMember:
        """Return the member."""
        forests = [
            Forest.from_tensors({key.removeprefix(f"{i}/"): part for key, part in tensors.items()})
            for i in range(description["forests"])
        ]
        return cls(GraphTable.from_tensors(tensors), forests)


def worth_boosting(view: GraphView) -> bool:
    """Whether boosting takes seconds rather than minutes on this graph."""
    return len(view.labels.nodes) * view.labels.classes <= MOST_WORK


@timed("member boosted trees")
def fit_boosted(view: GraphView, supervision: Supervision, plan: Plan) -> Fitted:
    """Fit the boostings of a plan; each stops by the validation nodes."""
    started = time.perf_counter()
    table = GraphTable.fit(view.graph, supervision.seed)
    rows, labels, val = table_rows(table, view), view.labels, supervision.split.val
    unseen = plan.unseen(len(labels.nodes), labels.classes)
    forests = []
    for index in plan.indices():
        held_out = plan.held_out(index, len(labels.nodes))
        forest = fit_boosted_trees(
            rows[labels.nodes[~held_out]],
            labels.codes[~held_out],
            labels.classes,
            seed_of(supervision.seed, index),
            rows[val],
            view.graph.y[val],
            class_weights=supervision.class_weights,
        )
        forests.append(forest)
        if unseen is not None:
            unseen[held_out] = forest.probabilities(rows[labels.nodes[held_out]])
        supervision.monitor.report("boosted-trees", index + 1, plan.count)
    member = BoostedTreesMember(table, forests)
    return Fitted(member, _mean(forests, rows), unseen, time.perf_counter() - started, {})


def join_boosted(parts: Sequence[Fitted]) -> Fitted:
    """Return the member of several boostings from those of one each."""
    members = [each.member for each in parts if isinstance(each.member, BoostedTreesMember)]
    member = BoostedTreesMember(members[0].table, [forest for each in members for forest in each.forests])
    probabilities = _mean_of([each.probabilities for each in parts])
    return Fitted(member, probabilities, joined_unseen(parts), sum(each.seconds for each in parts), {})


def _mean(forests: list[Forest], rows: FloatArray) -> FloatArray:
    return _mean_of([forest.probabilities(rows) for forest in forests])


def _mean_of(each: list[FloatArray]) -> FloatArray:
    total = sum(torch.from_numpy(probabilities.astype(np.float64)) for probabilities in each)
    assert isinstance(total, Tensor)
    return (total / len(each)).float().numpy()
