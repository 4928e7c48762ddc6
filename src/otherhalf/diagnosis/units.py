"""Features that can be compared by their cosine, whatever the units of their columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from otherhalf.diagnosis.similarity import GRID, VALUES_AT_ONCE, Features
from otherhalf.system.arrays import FloatArray, column_moments

BAG_COLUMNS = 32
"""Fewer columns are no bag of words."""


@dataclass(frozen=True, eq=False)
class UnitFree:
    """Features without units.

    Attributes:
        x: ``[N, D]`` float32, dense or sparse.
        scaling: What was done. ``none``: the features are sparse or a bag of words (no value is negative, at
            least half are 0, and the columns are :data:`BAG_COLUMNS` or more); a 0 then means that something
            is absent, and all other values have one unit. ``binary``: no column has more than two values, and
            they become 0 and 1. ``standard``: each column to mean 0 and deviation 1.
    """

    x: Features
    scaling: str

    @classmethod
    def of(cls, x: Features) -> UnitFree:
        """Choose the scaling by the values, and apply it.

        Multiplying a column of numbers by a positive factor, or adding to it, changes the result by rounding
        errors only, except under ``none``.
        """
        if sp.issparse(x) or _is_bag(x):
            return cls(x, "none")
        low, high = x.min(axis=0), x.max(axis=0)
        if all(((x[block] == low) | (x[block] == high)).all() for block in _row_blocks(x)):
            return cls(((x == high) & (high > low)).astype(np.float32), "binary")
        return cls(_standard(x), "standard")

    def used_columns(self) -> int:
        """Return the number of columns that are not 0 everywhere; here that includes constant columns."""
        if sp.issparse(self.x):
            return len(np.unique(self.x.indices))
        return int(np.count_nonzero(self.x.any(axis=0)))


def _is_bag(x: FloatArray) -> bool:
    return x.shape[1] >= BAG_COLUMNS and bool(2 * np.count_nonzero(x) <= x.size and x.min() >= 0)


def _standard(x: FloatArray) -> FloatArray:
    mean, deviation = column_moments(x)
    result = np.empty_like(x)
    for block in _row_blocks(x):
        scaled = (x[block] - mean) / deviation
        # At the mean, the sign of a rounding error would decide the cosine.
        scaled[np.abs(scaled) < 1 / GRID] = 0.0
        result[block] = scaled
    return result


def _row_blocks(x: FloatArray) -> list[slice]:
    rows = max(1, VALUES_AT_ONCE // x.shape[1])
    return [slice(start, start + rows) for start in range(0, len(x), rows)]
