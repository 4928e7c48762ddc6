"""The member that spreads labels over the missing half: S, made probabilities."""

from __future__ import annotations

from typing import Any

from scipy.special import softmax
from torch import Tensor

from otherhalf.estimators.members.base import Fitted, Member
from otherhalf.estimators.members.view import GraphView
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.profile import timed
from otherhalf.training.checkpoint import History
from otherhalf.training.supervised import Supervision


class SpreadMember(Member):
    """softmax(S)."""

    kind = name = "spread"

    def probabilities(self, view: GraphView) -> FloatArray:
        """Return the probabilities; training nodes have those of a regression without their label."""
        if view.found is None or view.found.scores is None:
            raise ValueError("the spread needs a found half")
        probabilities: FloatArray = softmax(view.found.scores, axis=1)
        return probabilities

    def probabilities_of(self, view: GraphView, nodes: IntArray) -> FloatArray:
        """Return the probabilities of a few nodes; no other is compared with the labelled ones."""
        probabilities: FloatArray = softmax(view.scores_of(nodes), axis=1)
        return probabilities

    def again(self, view: GraphView, supervision: Supervision, histories: list[History]) -> SpreadMember:
        """Return the member: it reads the scores of the view."""
        return self

    @classmethod
    def restore(
        cls, name: str, sizes: tuple[int, int, int], description: dict[str, Any], tensors: dict[str, Tensor]
    ) -> SpreadMember:
        """Return the member."""
        return cls()


@timed("member spread")
def fit_spread(view: GraphView) -> Fitted:
    """Return the member; the spread itself was fitted with the missing half."""
    member = SpreadMember()
    probabilities = member.probabilities(view)
    seconds = 0.0 if view.found is None else sum(view.found.half.seconds.values())
    return Fitted(member, probabilities, probabilities[view.labels.nodes], seconds, {})
