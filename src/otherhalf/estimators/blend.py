"""The weight of a second classifier beside the first."""

import numpy as np

from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.training.metrics import metric_named

STEPS = 10


def blended(one: FloatArray, other: FloatArray, share: float) -> FloatArray:
    r"""Return :math:`(1 - s)\,\mathbf{P}_1 + s\,\mathbf{P}_2`."""
    return np.asarray((1 - share) * one + share * other, dtype=np.float32)


def choose_share(one: FloatArray, other: FloatArray, y: IntArray, metric: str = "accuracy") -> float:
    """Return the weight 0, 0.1, …, 1 of ``other`` with the best metric; of equal ones, the likeliest.

    Args:
        one: ``[n, C]`` probabilities of nodes that neither classifier was trained on.
        other: Those of the second classifier.
        y: Their ``[n]`` class codes.
        metric: Name of the metric.
    """

    def quality(share: float) -> tuple[float, float]:
        together = blended(one, other, share)
        likelihood = np.log(np.maximum(together[np.arange(len(y)), y], 1e-12)).mean()
        return metric_named(metric).quality(together, y), float(likelihood)

    return max((step / STEPS for step in range(STEPS + 1)), key=quality)
