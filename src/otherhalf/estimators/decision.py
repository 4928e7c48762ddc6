"""The decision between two classes: from which probability on the second one is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.fields import number

EVEN = 0.5
CHOSEN_BY = ("macro_f1", "balanced_accuracy")


@dataclass(frozen=True)
class Decision:
    """Predict the second of two classes where its probability is at least ``threshold``, else the first.

    Attributes:
        threshold: A probability. 0.5 predicts the more probable class, and the second where both are equal.
        metric: What the threshold was chosen by; empty where it was given.
        value: That metric on the nodes it was chosen on; None where the threshold was given.
    """

    threshold: float
    metric: str = ""
    value: float | None = None

    def __post_init__(self) -> None:
        number(0, 1).check("threshold", self.threshold)

    @classmethod
    def choose(cls, probabilities: FloatArray, y: IntArray, metric: str = "macro_f1") -> Decision:
        """Return the threshold with the best metric; of equal ones, the nearest to 0.5.

        All ways to part the nodes by their probability are compared. A threshold is in the middle between the
        two probabilities that it parts, or 0.5 where that is between them.

        Args:
            probabilities: ``[n, 2]`` class probabilities of nodes that the model was not trained on.
            y: Their ``[n]`` class codes.
            metric: ``macro_f1`` or ``balanced_accuracy``.
        """
        if metric not in CHOSEN_BY:
            raise InputError(f"a threshold is chosen by one of {', '.join(CHOSEN_BY)}, not {metric!r}")
        check_two(probabilities.shape[1])
        if len(y) == 0:
            raise InputError("there is no labelled node to choose a threshold on: give some")
        second = probabilities[:, 1].astype(np.float64)
        values, place = np.unique(second, return_inverse=True)
        # Part k predicts the second class from the k-th distinct probability on; the last part nowhere.
        positives = np.bincount(place, weights=y == 1, minlength=len(values))
        negatives = np.bincount(place, weights=y == 0, minlength=len(values))
        found = np.append(np.cumsum(positives[::-1])[::-1], 0)
        wrong = np.append(np.cumsum(negatives[::-1])[::-1], 0)
        quality = _quality(found, wrong, positives.sum(), negatives.sum(), metric)
        low, high = np.append(0.0, values), np.append(values, 1.0)
        # The threshold is above `low` and at most `high`, so 0.5 itself may be taken if it is there.
        thresholds = np.where((low < EVEN) & (high >= EVEN), EVEN, (low + high) / 2)
        allowed = (thresholds > low) | (np.arange(len(low)) == 0)
        best = np.flatnonzero(allowed & (quality >= quality[allowed].max() - 1e-12))
        chosen = best[np.argmin(np.abs(thresholds[best] - EVEN))]
        return cls(float(thresholds[chosen]), metric, float(quality[chosen]))

    def codes(self, probabilities: FloatArray) -> IntArray:
        """Return the ``[n]`` predicted class codes of ``[n, 2]`` probabilities."""
        check_two(probabilities.shape[1])
        return (probabilities[:, 1].astype(np.float64) >= self.threshold).astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Return the values as JSON has them."""
        return {"threshold": self.threshold, "metric": self.metric, "value": self.value}


def check_two(classes: int) -> None:
    """Raise InputError if there are not two classes."""
    if classes != 2:
        raise InputError(f"a threshold needs 2 classes, and the model has {classes}: leave it out")


def _quality(found: Any, wrong: Any, yes: float, no: float, metric: str) -> Any:
    """Return the metric of every part, from the right and the wrong predictions of the second class."""
    missed, right = yes - found, no - wrong
    if metric == "balanced_accuracy":
        recalls = [part / whole for part, whole in ((found, yes), (right, no)) if whole]
        return sum(recalls) / len(recalls)
    # F1 of a class that has neither a node nor a prediction does not count, as in the metric.
    counts = [(2 * found, 2 * found + wrong + missed), (2 * right, 2 * right + missed + wrong)]
    scores = [np.divide(top, below, out=np.zeros_like(top), where=below > 0) for top, below in counts]
    defined = sum((below > 0).astype(float) for _, below in counts)
    return sum(scores) / defined
