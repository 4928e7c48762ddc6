"""Metrics that select and score classifiers. A new metric is one entry of METRICS."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from otherhalf.errors import InputError
from otherhalf.system.arrays import UNKNOWN, IntArray
from otherhalf.training.measures import (
    TOP,
    Scores,
    accuracy,
    average_precision,
    balanced_accuracy,
    calibration_error,
    log_loss,
    macro_f1,
    roc_auc,
    top_k,
)


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
        name: Its name in settings and on the command line.
        title: Its name in tables.
        function: Maps ``[n, C]`` scores and ``[n]`` class codes to a number; NaN where it is undefined.
        needs_probabilities: Whether the scores must be probabilities; if not, they may also be logits.
        larger_is_better: Whether a larger value is better.
        fewest_classes: The smallest number of classes it is defined for.
        needs_every_class: Whether it is undefined where one of the classes has no node.
        margin_of_two: Whether, with two classes, logits serve as well as probabilities.
    """

    name: str
    title: str
    function: Callable[[Scores, IntArray], float]
    needs_probabilities: bool = False
    larger_is_better: bool = True
    fewest_classes: int = 1
    needs_every_class: bool = False
    margin_of_two: bool = False

    @property
    def sign(self) -> int:
        """1, or −1 if a smaller value is better: a larger ``sign * value`` always is."""
        return 1 if self.larger_is_better else -1

    def quality(self, probabilities: Scores, y: IntArray) -> float:
        """Return the value, with its sign changed if a smaller one is better."""
        return self.sign * self.function(probabilities, y)

    def quality_of_logits(self, logits: Scores, y: IntArray) -> float:
        """Return the quality of ``[n, C]`` logits."""
        if not self.needs_probabilities or (self.margin_of_two and logits.shape[1] == 2):
            return self.quality(logits, y)
        from scipy.special import softmax

        return self.quality(softmax(logits, axis=1), y)


METRICS: dict[str, Metric] = {
    each.name: each
    for each in (
        Metric("accuracy", "accuracy", accuracy),
        Metric(
            "roc_auc",
            "ROC-AUC",
            roc_auc,
            needs_probabilities=True,
            fewest_classes=2,
            needs_every_class=True,
            margin_of_two=True,
        ),
        Metric(
            "average_precision",
            "average precision",
            average_precision,
            needs_probabilities=True,
            fewest_classes=2,
            needs_every_class=True,
            margin_of_two=True,
        ),
        Metric("balanced_accuracy", "balanced accuracy", balanced_accuracy),
        Metric("macro_f1", "macro F1", macro_f1),
        Metric(f"top_{TOP}", f"top-{TOP} accuracy", top_k, fewest_classes=TOP + 1),
        Metric("log_loss", "log loss", log_loss, needs_probabilities=True, larger_is_better=False),
        Metric(
            "calibration_error",
            "calibration error",
            calibration_error,
            needs_probabilities=True,
            larger_is_better=False,
        ),
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
    if num_classes < metric.fewest_classes:
        raise InputError(
            f"{metric.title} needs at least {metric.fewest_classes} classes, and the graph has "
            f"{num_classes}: choose accuracy"
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


def all_metrics(probabilities: Scores, y: IntArray, classes: Any) -> dict[str, float | None]:
    """Return every metric by name; None where it is undefined. Nodes without a label do not count.

    Args:
        probabilities: ``[n, C]``, the columns in the order of ``classes``.
        y: ``[n]`` class codes.
        classes: ``[C]`` class names.
    """
    if probabilities.shape != (len(y), len(classes)):
        raise InputError(
            f"the probabilities have the shape {probabilities.shape} for {len(y)} nodes and {len(classes)} "
            f"classes: give [{len(y)}, {len(classes)}]"
        )
    values = {name: score(name, probabilities, y) for name in METRICS}
    return {name: None if math.isnan(value) else value for name, value in values.items()}
