"""The one check of class probabilities, before they are returned or written."""

from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.errors import InputError

SUM_ERROR = 1e-3
"""Most that the probabilities of a node may differ from 1 in their sum: they are float32."""


def check_probabilities(probabilities: npt.NDArray[Any], names: npt.NDArray[Any]) -> None:
    """Raise InputError with the name of a node whose probabilities are not finite or do not sum to 1.

    Args:
        probabilities: ``[N, C]``.
        names: ``[N]`` names of the nodes.
    """
    with np.errstate(invalid="ignore"):  # infinite ones
        sums = probabilities.sum(axis=1, dtype=np.float64)
    right = (probabilities >= 0).all(axis=1) & (np.abs(sums - 1) <= SUM_ERROR)  # both are false for NaN
    if not right.all():
        node = int(np.argmin(right))
        raise InputError(
            f"the probabilities of the node {str(names[node])!r} are not probabilities (their sum is "
            f"{sums[node]:.4g}): check its features and its neighbours' for extreme values, or fit again"
        )
