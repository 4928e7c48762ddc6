"""Metrics that select and score classifiers. A new metric is one entry of METRICS."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.errors import InputError
from otherhalf.system.arrays import UNKNOWN, IntArray

Scores = npt.NDArray[Any]


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
        name: Its name in settings and on the command line.
        title: Its name in tables.
        function: Maps ``[n, C]`` scores and ``[n]`` class codes to a number; NaN where it is undefined.
        needs_probabilities: Whether the scores must be probabilities; if not, they may also be logits.
        larger_is_better: Whether a larger value is better.
        classes: The only number of classes it is defined for; None for any.
        needs_every_class: Whether it is undefined where one of the classes has no node.
    """

    name: str
    title: str
    function: Callable[[Scores, IntArray], float]
    needs_probabilities: bool = False
    larger_is_better: bool = True
    classes: int | None = None
    needs_every_class: bool = False

    @property
    def sign(self) -> int:
        """1, or −1 if a smaller value is better: a larger ``sign * value`` always is."""
        return 1 if self.larger_is_better else -1

    def quality(self, probabilities: Scores, y: IntArray) -> float:
        """Return the value, with its sign changed if a smaller one is better."""
        return self.sign * self.function(probabilities, y)

    def quality_of_logits(self, logits: Scores, y: IntArray) -> float:
        """Return the quality of ``[n, C]`` logits."""
        from scipy.special import softmax

        return self.quality(softmax(logits, axis=1) if self.needs_probabilities else logits, y)


def accuracy(scores: Scores, y: IntArray) -> float:
    """Return the share of rows whose largest score is at ``y``; NaN without rows."""
    return float(np.mean(scores.argmax(axis=1) == y)) if len(y) else float("nan")


def roc_auc(scores: Scores, y: IntArray) -> float:
    r"""Return the area under the ROC curve for two classes; NaN where one of them has no node.

    .. math:: P(s_i > s_j) + \tfrac{1}{2} P(s_i = s_j), \quad y_i = 1, \; y_j = 0

    :math:`s` is the second column less the first: logits and probabilities give the same order.
    """
    from scipy.stats import rankdata

    margins, positive = scores[:, 1].astype(np.float64) - scores[:, 0], y == 1
    yes, no = int(positive.sum()), int((~positive).sum())
    if yes == 0 or no == 0:
        return float("nan")
    return float((rankdata(margins)[positive].sum() - yes * (yes + 1) / 2) / (yes * no))


METRICS: dict[str, Metric] = {
    each.name: each
    for each in (
        Metric("accuracy", "accuracy", accuracy),
        Metric("roc_auc", "ROC-AUC", roc_auc, classes=2, needs_every_class=True),
    )
}


def metric_named(name: str) -> Metric:
    """Return the metric of this name; raise InputError if there is none."""
    if name not in METRICS:
        raise InputError(f"metric must be one of {', '.join(METRICS)}, not {name!r}")
    return METRICS[name]


def check_metric(name: str, num_classes: int, val_y: IntArray | None = None) -> None:
    """Raise InputError if the metric is unknown, or undefined for these classes or validation labels."""
    metric = metric_named(name)
    if metric.classes not in (None, num_classes):
        raise InputError(
            f"{metric.title} needs {metric.classes} classes, and the graph has {num_classes}: choose accuracy"
        )
    if val_y is not None and metric.needs_every_class and len(np.unique(val_y)) < num_classes:
        raise InputError(
            f"{metric.title} needs validation nodes of every class: give a split whose val part has them, or "
            "choose accuracy"
        )


def score(name: str, probabilities: Scores, y: IntArray, nodes: IntArray | None = None) -> float:
    """Return the metric over the labelled nodes among ``nodes`` (default: all); NaN where it is undefined.

    Nodes without a label do not count.
    """
    nodes = np.arange(len(y)) if nodes is None else np.asarray(nodes)
    nodes = nodes[y[nodes] != UNKNOWN]
    return metric_named(name).function(probabilities[nodes], y[nodes])
