"""What a fitted model keeps of its validation nodes: a decision threshold, and scores for prediction sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from otherhalf.errors import InputError
from otherhalf.estimators.conformal import Calibration
from otherhalf.estimators.decision import Decision
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.typed import typed

SCORES = "held_out/scores"


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The decision that the validation nodes chose, for two classes, and their scores."""

    decision: Decision | None
    calibration: Calibration

    @classmethod
    def of(cls, probabilities: FloatArray, y: IntArray) -> HeldOut | None:
        """Return what is kept of validation nodes; None where a probability is not a finite number.

        Args:
            probabilities: Their ``[n, C]`` class probabilities.
            y: Their ``[n]`` class codes.
        """
        if not np.isfinite(probabilities).all():
            return None
        decision = Decision.choose(probabilities, y) if probabilities.shape[1] == 2 else None
        return cls(decision, Calibration.of(probabilities, y))

    def to_dict(self) -> dict[str, Any]:
        """Return what the model folder's JSON has of it."""
        return {"decision": self.decision and self.decision.to_dict()}

    def tensors(self) -> dict[str, Tensor]:
        """Return what the weights file has of it."""
        return {SCORES: torch.from_numpy(self.calibration.scores)}

    @classmethod
    def restore(cls, values: dict[str, Any] | None, tensors: dict[str, Tensor]) -> HeldOut | None:
        """Return what was written; None where an older version wrote nothing."""
        if values is None or SCORES not in tensors:
            return None
        decision = values["decision"]
        return cls(decision and typed(Decision, decision), Calibration(tensors[SCORES].numpy()))


def kept(held_out: HeldOut | None, wanted: str) -> HeldOut:
    """Return what a model keeps; raise InputError if that is nothing."""
    if held_out is None:
        raise InputError(
            f"the model keeps nothing of its validation nodes for {wanted}: an older version saved it, or it "
            "was fitted once more to them (refit); fit again without refit"
        )
    return held_out


def decision_of(threshold: float | str, held_out: HeldOut | None) -> Decision:
    """Return the decision by a given threshold, or with ``auto`` the one that the validation nodes chose."""
    if threshold != "auto":
        if isinstance(threshold, str):
            raise InputError(f"threshold must be a number from 0 to 1 or auto, not {threshold!r}")
        return Decision(threshold)
    decision = kept(held_out, "the threshold auto").decision
    if decision is None:
        raise InputError("a threshold needs 2 classes, and the model has more: leave it out")
    return decision
