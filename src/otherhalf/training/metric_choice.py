"""The metric ``auto``: which metric the labels ask for, and why."""

from dataclasses import dataclass

import numpy as np

from otherhalf.system.arrays import UNKNOWN, IntArray
from otherhalf.training.measures import rarer
from otherhalf.training.metrics import metric_named

AUTO = "auto"
RARE = 0.1
"""Share of the labelled training nodes below which one of two classes is rare."""


@dataclass(frozen=True)
class MetricChoice:
    """A metric, and a sentence that says why it was chosen."""

    name: str
    reason: str


def choose_metric(given: str, num_classes: int, train_y: IntArray, val_y: IntArray) -> MetricChoice:
    """Return the metric of a fit.

    ``auto`` is accuracy, or average precision where there are two classes and one of them is rare: there,
    always to predict the other class has a high accuracy. A rare class without a validation node leaves
    accuracy, because nothing could be selected by average precision.

    Args:
        given: Name of a metric, or ``auto``.
        num_classes: Number of classes of the graph.
        train_y: Class codes of the training nodes.
        val_y: Class codes of the validation nodes.
    """
    if given != AUTO:
        return MetricChoice(given, f"The metric is {metric_named(given).title}, as asked for.")
    labelled = train_y[train_y != UNKNOWN]
    if num_classes != 2 or len(labelled) == 0:
        return MetricChoice("accuracy", f"The metric is accuracy, because there are {num_classes} classes.")
    share = float(np.mean(labelled == rarer(labelled)))
    if share >= RARE:
        reason = f"the rarer of the two classes has {share:.1%} of the training nodes, not below {RARE:.0%}"
        return MetricChoice("accuracy", f"The metric is accuracy, because {reason}.")
    rare = f"the rarer of the two classes has only {share:.1%} of the training nodes"
    if len(np.unique(val_y[val_y != UNKNOWN])) < 2:
        return MetricChoice(
            "accuracy", f"The metric is accuracy: {rare}, but one class has no validation node to select by."
        )
    return MetricChoice("average_precision", f"The metric is average precision, because {rare}.")
