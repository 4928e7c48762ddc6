"""What the metrics compute: functions of scores and class codes. NaN means undefined.

Every function maps ``[n, C]`` scores and ``[n]`` class codes to a number. Without rows, and where a score is
NaN or infinite, it returns NaN.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.system.arrays import IntArray

Scores = npt.NDArray[Any]

BINS = 15
"""Number of bins of the calibration error."""

TOP = 3
"""Number of classes that may hold the label in the top-k accuracy."""

NAN = float("nan")


def accuracy(scores: Scores, y: IntArray) -> float:
    """Return the share of rows whose largest score is at ``y``."""
    if _undefined(scores):
        return NAN
    return int(np.count_nonzero(scores.argmax(axis=1) == y)) / len(scores)


def balanced_accuracy(scores: Scores, y: IntArray) -> float:
    """Return the mean recall over the classes that have a row."""
    if _undefined(scores):
        return NAN
    counts = confusion(scores.argmax(axis=1), y, scores.shape[1])
    rows = counts.sum(axis=1)
    return float(np.mean(np.diag(counts)[rows > 0] / rows[rows > 0]))


def macro_f1(scores: Scores, y: IntArray) -> float:
    r"""Return the mean F1 over the classes that have a row or a prediction.

    .. math:: F_1(c) = \frac{2\,TP_c}{2\,TP_c + FP_c + FN_c}
    """
    if _undefined(scores):
        return NAN
    counts = confusion(scores.argmax(axis=1), y, scores.shape[1])
    both = counts.sum(axis=0) + counts.sum(axis=1)
    return float(np.mean(2 * np.diag(counts)[both > 0] / both[both > 0]))


def log_loss(probabilities: Scores, y: IntArray) -> float:
    """Return the mean of −log p(y); a probability counts as at least the smallest step of its number type."""
    if _undefined(probabilities):
        return NAN
    least = np.finfo(probabilities.dtype).eps if probabilities.dtype.kind == "f" else np.finfo(float).eps
    chosen = probabilities[np.arange(len(y)), y].astype(np.float64)
    return float(-np.log(np.clip(chosen, least, 1.0)).mean())


def roc_auc(scores: Scores, y: IntArray) -> float:
    r"""Return the area under the ROC curve; NaN where one of the classes, or every other, has no row.

    .. math:: P(s_i > s_j) + \tfrac{1}{2} P(s_i = s_j), \quad y_i = 1, \; y_j = 0

    With two classes, :math:`s` is the second column less the first: logits and probabilities give the same
    order. With more, it is the mean over classes of each against the rest, :math:`s` being the class's own
    probability.
    """
    from scipy.stats import rankdata

    n, classes = scores.shape
    counts = np.bincount(y, minlength=classes)
    if _undefined(scores) or classes < 2 or (counts == 0).any():
        return NAN
    if classes == 2:
        positive = y == 1
        yes, no = int(counts[1]), int(counts[0])
        ranks = rankdata(_margins(scores))[positive]
        return float((ranks.sum() - yes * (yes + 1) / 2) / (yes * no))
    ranks = rankdata(scores, axis=0)[np.arange(n), y]
    sums = np.bincount(y, weights=ranks, minlength=classes)
    return float(np.mean((sums - counts * (counts + 1) / 2) / (counts * (n - counts))))


def average_precision(scores: Scores, y: IntArray) -> float:
    r"""Return the average precision; NaN where a class has no row.

    .. math:: AP = \sum_k (R_k - R_{k-1}) P_k

    :math:`P_k` and :math:`R_k` are precision and recall of the rows with the k largest distinct scores. With
    two classes it is that of the rarer one (:func:`rarer`), by its column less the other's. With more, it is
    the mean over classes of each against the rest, by the class's own probability.
    """
    classes = scores.shape[1]
    if _undefined(scores) or classes < 2 or (np.bincount(y, minlength=classes) == 0).any():
        return NAN
    if classes == 2:
        rare = rarer(y)
        margins = _margins(scores)
        return _precision_of(margins if rare == 1 else -margins, y == rare)
    return float(np.mean([_precision_of(scores[:, c], y == c) for c in range(classes)]))


def top_k(scores: Scores, y: IntArray) -> float:
    """Return the share of rows with ``y`` among the three largest scores; NaN with three classes or fewer.

    Of equal scores, the first column counts as the larger.
    """
    n, classes = scores.shape
    if _undefined(scores) or classes <= TOP:
        return NAN
    known = y < classes  # a code without a column is in no row's best three
    own = scores[np.arange(n), np.where(known, y, 0)][:, None]
    before = (scores == own) & (np.arange(classes) < y[:, None])
    return float(np.mean(known & (((scores > own) | before).sum(axis=1) < TOP)))


def calibration_error(probabilities: Scores, y: IntArray) -> float:
    r"""Return the expected calibration error, over 15 bins of equal width.

    .. math:: \sum_b \frac{n_b}{n} \left| \mathrm{accuracy}_b - \mathrm{confidence}_b \right|

    The confidence of a row is its largest probability; bin b holds the rows with one in (b/15, (b + 1)/15].
    """
    if _undefined(probabilities):
        return NAN
    confidence = probabilities.max(axis=1).astype(np.float64)
    right = probabilities.argmax(axis=1) == y
    bins = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    return float(np.abs(np.bincount(bins, weights=right - confidence, minlength=BINS)).sum() / len(y))


def confusion(predicted: IntArray, y: IntArray, classes: int) -> IntArray:
    """Return the ``[C, C]`` numbers of rows by true class (row) and predicted class (column).

    A code of ``y`` beyond the classes adds a row and a column of its own.
    """
    size = max(classes, int(y.max(initial=0)) + 1)
    return np.bincount(y * size + predicted, minlength=size * size).reshape(size, size)


def rarer(y: IntArray) -> int:
    """Return which of the classes 0 and 1 has fewer rows; of equally many, 1."""
    return int(2 * np.count_nonzero(y == 1) <= len(y))


def _undefined(scores: Scores) -> bool:
    return len(scores) == 0 or not np.isfinite(scores).all()


def _margins(scores: Scores) -> Scores:
    margins: Scores = scores[:, 1].astype(np.float64) - scores[:, 0]
    return margins


def _precision_of(scores: Scores, positive: npt.NDArray[np.bool_]) -> float:
    """Return the average precision of one class; rows with equal scores are taken together."""
    order = np.argsort(-scores, kind="stable")
    ordered, hits = scores[order], np.cumsum(positive[order])
    ends = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)  # last row of each distinct score
    gained = np.diff(hits[ends], prepend=0) / hits[-1]
    return float((gained * hits[ends] / (ends + 1)).sum())
