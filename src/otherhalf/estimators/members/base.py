"""What a member of the ensemble is: a classifier that also tells how it does on nodes it has not seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from otherhalf.estimators.members.view import GraphView
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.training.checkpoint import History
from otherhalf.training.supervised import Supervision


class Member(ABC):
    """A fitted member. Its state is JSON (``description``), tensors and modules, never a pickle."""

    kind: str
    """Name of its class in model folders."""

    name: str
    """Name in the leaderboard; no two members of a fit have the same."""

    @abstractmethod
    def probabilities(self, view: GraphView) -> FloatArray:
        """Return the ``[N, C]`` class probabilities of every node of a graph."""

    def probabilities_of(self, view: GraphView, nodes: IntArray) -> FloatArray:
        """Return the rows of a few nodes; a member that can do it computes no other."""
        return self.probabilities(view)[nodes]

    def rows_of(self, view: GraphView, nodes: IntArray | None = None) -> FloatArray:
        """Return the probabilities of every node, or of a few."""
        return self.probabilities(view) if nodes is None else self.probabilities_of(view, nodes)

    @abstractmethod
    def again(self, view: GraphView, supervision: Supervision, histories: list[History]) -> Member:
        """Return the member fitted once more to the labels of ``view``, with everything chosen before.

        Args:
            view: The graph with the labels of training and validation nodes.
            supervision: Seed and monitor.
            histories: Histories of its trainings, which say how long they were best.
        """

    def description(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs besides the tensors and modules."""
        return {}

    def tensors(self) -> dict[str, Tensor]:
        """Return tensors to save in addition to the weights of the modules."""
        return {}

    def parts(self) -> dict[str, nn.Module]:
        """Return the modules by name."""
        return {}

    @classmethod
    @abstractmethod
    def restore(
        cls, name: str, sizes: tuple[int, int, int], description: dict[str, Any], tensors: dict[str, Tensor]
    ) -> Member:
        """Return the member with untrained modules; ``sizes`` are features, classes and known nodes."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A member just fitted, and what judges it.

    Attributes:
        member: The member.
        probabilities: ``[N, C]`` of the fitted graph.
        unseen: ``[n, C]``: probabilities of the training nodes by a model that has not seen their label
            (leave-one-out, out-of-bag or out-of-fold); None if there is none.
        seconds: Duration of its fit.
        histories: Histories of its trainings.
    """

    member: Member
    probabilities: FloatArray
    unseen: FloatArray | None
    seconds: float
    histories: dict[str, History]
