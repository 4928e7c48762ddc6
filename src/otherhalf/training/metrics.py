"""What a classifier is judged by: accuracy, or the area under the ROC curve for two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.errors import InputError
from otherhalf.system.graph_checks import IntArray

METRICS = ("accuracy", "roc_auc")


def check_metric(metric: str, num_classes: int, val_y: IntArray | None = None) -> None:
    """Refuse a metric that is unknown, or that this many classes, or these validation labels, do not have."""
    if metric not in METRICS:
        raise InputError(f"there is no metric {metric!r}: choose one of {', '.join(METRICS)}")
    if metric == "roc_auc" and num_classes != 2:
        raise InputError(f"ROC-AUC is for two classes and there are {num_classes}: choose accuracy")
    if metric == "roc_auc" and val_y is not None and len(np.unique(val_y)) < 2:
        raise InputError(
            "all validation nodes have one class, and then there is no ROC-AUC to select by: give a split "
            "whose val part has both, or choose accuracy"
        )


def score(metric: str, scores: npt.NDArray[Any], y: IntArray) -> float:
    """How well ``[n, C]`` probabilities (or logits) agree with the class codes ``y``.

    ``accuracy``: the share of rows whose largest entry is at ``y``. ``roc_auc``: the probability that a node
    of class 1 is given a larger score than one of class 0, ties counted half; the score is the second column
    less the first, which orders logits as it orders probabilities. NaN where only one class occurs.
    """
    if metric == "accuracy":
        return float(np.mean(scores.argmax(axis=1) == y))
    return roc_auc(scores[:, 1].astype(np.float64) - scores[:, 0], y == 1)


def roc_auc(scores: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_]) -> float:
    """The share of pairs of a positive and a negative that the scores put in order; ties count half.

    NaN where there is no such pair.
    """
    from scipy.stats import rankdata

    yes, no = int(positive.sum()), int((~positive).sum())
    if yes == 0 or no == 0:
        return float("nan")
    return float((rankdata(scores)[positive].sum() - yes * (yes + 1) / 2) / (yes * no))
