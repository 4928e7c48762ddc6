r"""Which columns carried a prediction: a linear reading of the model.

A ridge regression of the model's log-odds on the scaled features says how far each class moves with each
column. The effect of column j on node i is exact for that regression:

.. math:: w_{jc}\,(x_{ij} - \bar{x}_j)

It is a reading of the model and not the model, so its R² is told with it: the share of the variation of the
log-odds that it explains on nodes it has not seen (leave-one-out). It reads no label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from otherhalf.complement.ridge import Ridge, fit_landmarks, fit_ridge
from otherhalf.nn.magnitudes import Rows
from otherhalf.system.arrays import FloatArray, IntArray

MOST_NODES = 1_000
"""Most nodes of the regression; with more, a sample."""

LEAST_R2 = 0.1
"""With a smaller R² the reading says nothing of a class."""

LEAST_PROBABILITY = 1e-3
"""Probabilities nearer to 0 or 1 count as this: the log-odds of sure predictions would decide everything."""

RIDGES = (0.003, 0.03, 0.3)
"""λ relative to the mean squared length of a row; leave-one-out chooses."""

INTERCEPT = 100.0
"""Square of the constant beside each row, relative to the mean squared length of a row: so large that the
intercept is nearly free. Without it the mean would hold the node that is left out, and tell it."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reading:
    """A linear reading of a model.

    Attributes:
        weights: ``[D, C]``: how far the log-odds of each class move with each scaled column.
        mean: ``[D]``: mean of each scaled column over the nodes of the regression.
        r2: ``[C]``: share of the variation that is explained; NaN for a class whose log-odds never vary.
        nodes: Number of nodes of the regression.
    """

    weights: FloatArray
    mean: FloatArray
    r2: Values
    nodes: int

    @property
    def sentence(self) -> str:
        """What the effects are, and how good the reading is."""
        known = self.r2[np.isfinite(self.r2)]
        typical = max(0.0, float(np.median(known))) if len(known) else 0.0
        return (
            "The effects of columns are those of a linear reading of the model: how far a column moves the "
            "log-odds of the predicted class, compared with a node that is average in it. The reading "
            f"explains {typical:.0%} of the variation of the log-odds (median over classes; on nodes it has "
            f"not seen, {self.nodes:,} in all). A class of which it explains less than {LEAST_R2:.0%} has no "
            "effects."
        )

    def explains(self, classes: IntArray) -> npt.NDArray[np.bool_]:
        """Return whether the reading explains enough of these classes."""
        return np.asarray(np.nan_to_num(self.r2, nan=-1.0)[classes] >= LEAST_R2)

    def effects(self, x: Rows, classes: IntArray) -> FloatArray:
        """Return ``[n, D]``: the effect of every column on the class of each row.

        Args:
            x: ``[n, D]`` scaled features.
            classes: ``[n]`` the class in question of each row.
        """
        return np.asarray((dense(x) - self.mean) * self.weights.T[classes], dtype=np.float32)


def nodes_to_read(count: int, seed: int) -> IntArray:
    """Return the nodes that the regression is fitted to: all, or a sample.

    Args:
        count: Number of nodes of the graph.
        seed: Seed of the sample.
    """
    if count <= MOST_NODES:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, MOST_NODES, replace=False))


def read_linearly(x: Rows, probabilities: FloatArray) -> Reading | None:
    """Fit the reading; return None where no column varies.

    Args:
        x: ``[n, D]`` scaled features of the nodes of :func:`nodes_to_read`.
        probabilities: ``[n, C]``: those of the model.
    """
    p = np.clip(probabilities.astype(np.float64), LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    targets = np.log(p / (1 - p))
    targets -= targets.mean(axis=0)
    mean = np.asarray(x.mean(axis=0), dtype=np.float64).ravel()
    size = _mean_square(x, mean)
    if len(targets) < 3 or not size > 0:
        return None
    kernel = None if 2 * x.shape[1] <= len(targets) else _kernel(x, mean, INTERCEPT * size)
    y = torch.from_numpy(targets)
    best: tuple[float, Ridge, Values] | None = None
    for share in RIDGES:
        fitted, missed = _solved(kernel, x, mean, INTERCEPT * size, y, share * size)
        error = float((missed**2).sum())
        if best is None or error < best[0]:
            best = error, fitted, missed
    assert best is not None
    _, fitted, missed = best
    weights = fitted.dual.numpy()
    if kernel is None:
        weights = weights[:-1]  # the last is the intercept
    else:  # a dual of nodes, not yet of columns
        weights = np.asarray(x.T @ weights) - np.outer(mean, weights.sum(axis=0))
    spread = (targets**2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        r2 = np.where(spread > 1e-9 * len(targets), 1 - (missed**2).sum(axis=0) / spread, np.nan)
    return Reading(weights.astype(np.float32), mean.astype(np.float32), r2, len(targets))


def dense(x: Rows) -> FloatArray:
    """Return features as an array."""
    return x if isinstance(x, np.ndarray) else np.asarray(x.toarray())


def _mean_square(x: Rows, mean: Values) -> float:
    """Return the mean squared length of a centred row; 0 if the rows are equal but for rounding."""
    entries = x if isinstance(x, np.ndarray) else x.data
    square = float(np.square(entries, dtype=np.float64).sum() / x.shape[0])
    size = square - float(mean @ mean)
    return size if size > 1e-9 * square else 0.0


def _kernel(x: Rows, mean: Values, intercept: float) -> torch.Tensor:
    """Return the products of the centred rows, each with a constant beside it: quicker with many columns."""
    products = np.asarray(dense(x @ x.T), dtype=np.float64)
    to_mean = np.asarray(x @ mean).ravel()
    products += mean @ mean - to_mean[:, None] - to_mean[None] + intercept
    return torch.from_numpy(products)


def _solved(
    kernel: torch.Tensor | None, x: Rows, mean: Values, intercept: float, y: torch.Tensor, ridge: float
) -> tuple[Ridge, Values]:
    """Return the regression, and what it misses of every node when it has not seen the node."""
    if kernel is not None:
        fitted = fit_ridge(kernel, y, ridge)
        scores = kernel @ fitted.dual
    else:
        constant = np.full((x.shape[0], 1), np.sqrt(intercept))
        rows = torch.from_numpy(np.concatenate([dense(x) - mean, constant], axis=1))
        fitted = fit_landmarks(rows, torch.eye(rows.shape[1], dtype=rows.dtype), y, ridge)
        scores = rows @ fitted.dual
    return fitted, (y - (scores - fitted.own)).numpy()
