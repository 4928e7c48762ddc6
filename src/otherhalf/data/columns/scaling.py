r"""The scale of a column of numbers, chosen by the data.

- **standard**: :math:`(v - \mu) / \sigma`, the usual case.
- **log**: for heavy tails. :math:`u = \operatorname{asinh}((v - m) / s)` with the median m and the quartile
  range s, then standard. asinh is linear near the median and a logarithm with a sign far from it. The
  quantiles of a normal distribution were the alternative. But they need a long table, make equal steps out of
  unequal ones, and map every value beyond those of the fit to the same number. asinh needs two numbers and
  keeps the order of all values.
- **counts**: for columns that are mostly 0 and never negative, such as counts of words. As log, but 0 stays
  0, so that the matrix can be sparse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otherhalf.data.columns.cells import DoubleArray

STANDARD, LOG, COUNTS = "standard", "log", "counts"

MOST_SKEW, MOST_KURTOSIS = 2.0, 10.0
"""Beyond these, tails are heavy. An exponential distribution has 2 and 6, a normal one 0 and 0."""

MOSTLY_ZERO = 0.8
FURTHEST = 30.0
"""A value further from the mean than this number of standard deviations counts as if it were there."""

_SMALLEST = 1e-150


@dataclass(frozen=True)
class Scaling:
    """How numbers are scaled, see the module. ``why`` says what in the data decided it."""

    way: str
    median: float
    spread: float
    mean: float
    deviation: float
    why: str = ""

    @classmethod
    def learn(cls, ordered: DoubleArray) -> Scaling:
        """Learn from numbers in ascending order, without gaps."""
        if not len(ordered):
            return cls(STANDARD, 0.0, 1.0, 0.0, 1.0)
        zeros = float((ordered == 0).mean())
        if zeros >= MOSTLY_ZERO and ordered[0] == 0 and ordered[-1] > 0:
            positive = ordered[ordered > 0]
            spread = max(float(np.median(positive)), _SMALLEST)
            size = np.arcsinh(positive / spread)
            why = f"{zeros:.0%} are 0"
            return cls(COUNTS, 0.0, spread, 0.0, _nonzero(float(np.sqrt(np.mean(size**2)))), why)
        median = float(np.median(ordered))
        mean, deviation = _moments(ordered)
        skew, kurtosis = _shape((ordered - mean) / deviation)
        if abs(skew) <= MOST_SKEW and kurtosis <= MOST_KURTOSIS:
            return cls(STANDARD, median, 1.0, mean, deviation)
        spread = _spread(ordered, median)
        why = f"heavy tails (skewness {skew:.1f}, kurtosis {kurtosis:.0f})"
        return cls(LOG, median, spread, *_moments(np.arcsinh((ordered - median) / spread)), why)

    def apply(self, numbers: DoubleArray) -> DoubleArray:
        """Return the numbers on this scale; a gap (NaN) has the place of the median."""
        values = np.where(np.isnan(numbers), self.median, numbers)
        if self.way != STANDARD:
            values = np.arcsinh((values - self.median) / self.spread)
        with np.errstate(over="ignore"):
            scaled = (values - self.mean) / self.deviation
        return np.clip(scaled, -FURTHEST, FURTHEST)

    def undo(self, scaled: DoubleArray) -> DoubleArray:
        """Return the numbers that :meth:`apply` scaled; of one that was too far away, where it was put."""
        values = scaled * self.deviation + self.mean
        return values if self.way == STANDARD else np.sinh(values) * self.spread + self.median

    @property
    def words(self) -> str:
        """The way in words."""
        return {STANDARD: "standard scale", LOG: "signed log scale", COUNTS: "log scale, 0 stays 0"}[self.way]


def _moments(values: DoubleArray) -> tuple[float, float]:
    # Divided first, so that the sum of many large numbers stays finite.
    size = _nonzero(float(np.abs(values[[0, -1]]).max()))
    small = values / size
    return float(small.mean() * size), _nonzero(float(small.std() * size))


def _shape(standard: DoubleArray) -> tuple[float, float]:
    """Return skewness and excess kurtosis of standardised values."""
    square = standard * standard
    return float((square * standard).mean()), float((square * square).mean()) - 3.0


def _spread(ordered: DoubleArray, median: float) -> float:
    low, high = np.quantile(ordered, [0.25, 0.75])
    if high - low > _SMALLEST:
        return float(high - low) / 1.349  # the standard deviation, if the distribution were normal
    away = np.abs(ordered - median)
    return max(float(np.median(away[away > 0])), _SMALLEST)


def _nonzero(value: float) -> float:
    return value if value > _SMALLEST else 1.0
