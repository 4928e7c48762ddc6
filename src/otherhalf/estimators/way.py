"""What the two methods of GOALClassifier have in common: each is a fitted model with files of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from otherhalf.complement.missing_half import KINDS, MissingHalf
from otherhalf.estimators.ensemble import LeaderboardRow
from otherhalf.estimators.saved_arrays import saved_indices
from otherhalf.estimators.settings import Settings
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.typed import typed
from otherhalf.training.checkpoint import History

HALF_FIELDS = ("num_nodes", "kind", "k", "candidates", "encoder", "seconds", "method", "words")


class Way(ABC):
    """A fitted method: ``embedding`` (the paper's) or ``kernel`` (the default)."""

    @property
    @abstractmethod
    def half(self) -> MissingHalf | None:
        """The missing half of the fitted graph; None for an ensemble without one."""

    @property
    @abstractmethod
    def encoder_share(self) -> float:
        """Weight of the models that see the given edges only, 0 … 1."""

    @abstractmethod
    def leaderboard(self) -> list[LeaderboardRow]:
        """Return the members, heaviest first."""

    @abstractmethod
    def coefficients(self) -> list[tuple[float, ...]]:
        """Return α, β, γ, δ of every layer."""

    @abstractmethod
    def probabilities(self, prepared: PreparedGraph) -> FloatArray:
        """Return the ``[N, C]`` class probabilities of a graph whose known nodes come first."""

    def probabilities_of(self, prepared: PreparedGraph, nodes: IntArray) -> FloatArray:
        """Return the rows of a few nodes; a method that can do it computes no other."""
        return self.probabilities(prepared)[nodes]

    @abstractmethod
    def parts(self) -> dict[str, nn.Module]:
        """Return the modules by their names in the model folder."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Return tensors to save in addition to the weights."""

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """Return what the model folder's JSON holds of this method."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """A way just fitted: its settings where the fit decided some, histories and seconds of its stages."""

    way: Way
    settings: Settings
    histories: dict[str, History]
    seconds: dict[str, float]


def half_description(half: MissingHalf) -> dict[str, Any]:
    """Return the JSON of a missing half; its arrays are tensors."""
    return {name: getattr(half, name) for name in HALF_FIELDS}


def restored_half(
    saved: dict[str, Any], tensors: dict[str, Tensor], known: int, weights: FloatArray | None = None
) -> MissingHalf:
    """Return the missing half that was written; raise ValueError or TypeError if it cannot be one."""
    pairs = saved_indices(tensors, "half/pairs", known)
    half = typed(MissingHalf, {**saved, "pairs": pairs, "weights": weights})
    if half.num_nodes != known or half.kind not in KINDS or half.k < 1:
        raise ValueError("its missing half is not that of its graph")
    if pairs.ndim != 2 or len(pairs) != 2 or (weights is not None and weights.shape != pairs[0].shape):
        raise ValueError("its missing half has no pairs")
    return half
