"""How much say a second classifier gets beside the first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from otherhalf.system.graph_checks import IntArray
from otherhalf.training.metrics import score

Probabilities = npt.NDArray[np.float32]

STEPS = 10


def blended(first: Probabilities, second: Probabilities, share: float) -> Probabilities:
    r""":math:`(1 - s)\,\mathbf{P}_1 + s\,\mathbf{P}_2`."""
    return np.asarray((1 - share) * first + share * second, dtype=np.float32)


def choose_share(first: Probabilities, second: Probabilities, y: IntArray, metric: str = "accuracy") -> float:
    """The share 0, 0.1, …, 1 of ``second`` that is right most often about ``y``; ties go to the likelier.

    Args:
        first: ``[n, C]`` probabilities of nodes that neither classifier was trained on.
        second: Likewise.
        y: Their ``[n]`` class codes.
        metric: What "right" is measured by.
    """

    def quality(share: float) -> tuple[float, float]:
        together = blended(first, second, share)
        likelihood = np.log(np.maximum(together[np.arange(len(y)), y], 1e-12)).mean()
        return score(metric, together, y), float(likelihood)

    return max((step / STEPS for step in range(STEPS + 1)), key=quality)
