"""How sure a metric is: 95 % bootstrap intervals over the nodes, without a loop over the draws.

A draw takes as many nodes as there are, with replacement. What a metric needs of it is how often each node
was drawn. Metrics of the confusion matrix need less: how often each of its cells was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.training.measures import BINS, TOP, confusion, rarer

Values = npt.NDArray[np.float64]
Interval = tuple[float, float] | None
Weighted = Callable[[Values], Values]
"""Maps ``[B, n]`` counts of nodes to the ``[B]`` values of a metric; NaN where it is undefined."""

DRAWS = 1000
"""Draws of a metric of the confusion matrix."""

NODE_DRAWS = 200
"""Draws of a metric that needs every node."""

LEVEL = 0.95
MOST_WORK = 30_000_000
"""A metric that sorts the nodes for each class has no interval if draws × nodes × classes are more."""

BLOCK = 4_000_000
"""Counts of nodes in memory at once."""

TOP_NAME = f"top_{TOP}"
MEANS = ("accuracy", TOP_NAME, "log_loss")
"""Metrics that are a mean over nodes."""

Z = 1.959963984540054
"""Standard deviations of a normal distribution on each side of a 95 % interval."""


def bootstrap_intervals(probabilities: FloatArray, y: IntArray, seed: int) -> dict[str, Interval]:
    """Return a percentile interval for each metric; None where it is undefined.

    Args:
        probabilities: ``[n, C]``.
        y: ``[n]`` known class codes.
        seed: Seed of the draws.
    """
    n, classes = probabilities.shape
    if n == 0:
        return {}
    cells_draw, nodes_draw = np.random.default_rng(seed).spawn(2)
    found: dict[str, Interval] = {}
    counts = confusion(probabilities.argmax(axis=1), y, classes)
    cells = np.flatnonzero(counts)
    drawn = cells_draw.multinomial(n, counts.ravel()[cells] / n, size=DRAWS)
    rows, columns = cells // classes, cells % classes
    for name, values in of_cells(drawn.astype(np.float64), rows, columns, classes).items():
        found[name] = _percentiles(values)
    measures = of_nodes(probabilities, y)
    samples: dict[str, list[Values]] = {name: [] for name in measures}
    for weights in _counts(n, nodes_draw):
        for name, measure in measures.items():
            samples[name].append(measure(weights))
    return found | {name: _percentiles(np.concatenate(values)) for name, values in samples.items()}


def of_cells(drawn: Values, rows: IntArray, columns: IntArray, classes: int) -> dict[str, Values]:
    """Return the metrics of the confusion matrix.

    Args:
        drawn: ``[B, K]`` numbers of nodes in the cells.
        rows: ``[K]`` true class of each cell.
        columns: ``[K]`` predicted class of each cell.
        classes: C.
    """
    cells = np.arange(len(rows))
    by_true, by_predicted, right = (np.zeros((len(rows), classes)) for _ in range(3))
    by_true[cells, rows] = 1
    by_predicted[cells, columns] = 1
    right[cells[rows == columns], rows[rows == columns]] = 1
    true, predicted, hits = drawn @ by_true, drawn @ by_predicted, drawn @ right
    both = true + predicted
    with np.errstate(invalid="ignore"):
        recalls, f1 = hits / true, 2 * hits / both  # NaN for a class without nodes does not count
    return {
        "accuracy": hits.sum(axis=1) / drawn.sum(axis=1),
        "balanced_accuracy": np.nanmean(recalls, axis=1),
        "macro_f1": np.nanmean(f1, axis=1),
    }


def of_nodes(probabilities: FloatArray, y: IntArray) -> dict[str, Weighted]:
    """Return the metrics that need every node, as functions of how often each node counts."""
    n, classes = probabilities.shape
    p = probabilities.astype(np.float64)
    measures: dict[str, Weighted] = {"calibration_error": _calibration(p, y)}
    means = ["log_loss", *([TOP_NAME] if classes > TOP else [])]
    measures |= {name: _mean(per_node(name, probabilities, y)) for name in means}
    if classes >= 2 and NODE_DRAWS * n * classes <= MOST_WORK:
        if classes == 2:
            margin, rare = p[:, 1] - p[:, 0], rarer(y)
            measures["roc_auc"] = _ranked([(margin, y == 1)], _area)
            measures["average_precision"] = _ranked([(margin if rare else -margin, y == rare)], _precision)
        else:
            each = [(p[:, c], y == c) for c in range(classes)]
            measures["roc_auc"] = _ranked(each, _area)
            measures["average_precision"] = _ranked(each, _precision)
    return measures


def per_node(metric: str, probabilities: FloatArray, y: IntArray) -> Values:
    """Return the ``[n]`` values of the nodes whose mean is a metric of :data:`MEANS`."""
    own = probabilities[np.arange(len(y)), y]
    if metric == "log_loss":
        least = np.finfo(probabilities.dtype).eps
        return np.asarray(-np.log(np.clip(own.astype(np.float64), least, 1)))
    if metric == "accuracy":
        return np.asarray(probabilities.argmax(axis=1) == y, dtype=np.float64)
    first = np.arange(probabilities.shape[1]) < y[:, None]  # of equal ones, the first column is larger
    before = (probabilities > own[:, None]) | ((probabilities == own[:, None]) & first)
    return np.asarray(before.sum(axis=1) < TOP, dtype=np.float64)


def wilson(right: int, nodes: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, which is sound for small groups and for shares of 0 and 1."""
    share, z2 = right / nodes, Z * Z
    centre = (share + z2 / (2 * nodes)) / (1 + z2 / nodes)
    width = Z * np.sqrt(share * (1 - share) / nodes + z2 / (4 * nodes**2)) / (1 + z2 / nodes)
    return max(0.0, float(centre - width)), min(1.0, float(centre + width))


def _counts(n: int, draw: np.random.Generator) -> Iterator[Values]:
    """Yield the ``[b, n]`` counts of all draws."""
    block = max(1, BLOCK // n)
    for start in range(0, NODE_DRAWS, block):
        size = min(block, NODE_DRAWS - start)
        drawn = draw.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def _percentiles(values: Values) -> Interval:
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _mean(values: Values) -> Weighted:
    return lambda weights: np.asarray(weights @ values / len(values))


def _calibration(p: Values, y: IntArray) -> Weighted:
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    bins = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    gaps = np.zeros((len(y), BINS))
    gaps[np.arange(len(y)), bins] = right - confidence
    return lambda weights: np.asarray(np.abs(weights @ gaps).sum(axis=1) / len(y))


def _ranked(
    classes: list[tuple[Values, npt.NDArray[np.bool_]]], measure: Callable[[Values, Values], Values]
) -> Weighted:
    """Return the mean over classes of a measure of the nodes in the order of their scores, largest first."""
    ordered = []
    for scores, positive in classes:
        order = np.argsort(-scores, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(scores[order]) != 0))  # of nodes with equal scores
        ordered.append((order, starts, positive[order]))

    def mean(weights: Values) -> Values:
        total = np.zeros(len(weights))
        for order, starts, positive in ordered:
            sorted_weights = weights[:, order]
            yes = np.add.reduceat(sorted_weights * positive, starts, axis=1)
            no = np.add.reduceat(sorted_weights * ~positive, starts, axis=1)
            total += measure(yes, no)
        return np.asarray(total / len(ordered))

    return mean


def _area(yes: Values, no: Values) -> Values:
    """Return the ROC-AUC from ``[B, G]`` weights of both kinds by falling score."""
    below = no.sum(axis=1, keepdims=True) - np.cumsum(no, axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray((yes * (below + no / 2)).sum(axis=1) / (yes.sum(axis=1) * no.sum(axis=1)))


def _precision(yes: Values, no: Values) -> Values:
    """Return the average precision from ``[B, G]`` weights of both kinds by falling score."""
    found = np.cumsum(yes, axis=1)
    seen = found + np.cumsum(no, axis=1)
    with np.errstate(invalid="ignore"):
        precision = found / np.maximum(seen, 1)
        return np.asarray((yes * precision).sum(axis=1) / yes.sum(axis=1))
