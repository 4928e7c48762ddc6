"""Columns of free text: hashed words, weighted by how rare they are, projected to a few columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.columns.cells import Cells, sample_of
from otherhalf.data.columns.column import Column
from otherhalf.data.columns.words import WIDTH, chunks, count_words, weighted
from otherhalf.data.notes import counted
from otherhalf.system.arrays import FloatArray, IntArray, distinct_keys

MOST, FEWEST, CELLS = 200, 50, 10_000_000
"""Words are projected to MOST columns; to fewer, but not below FEWEST, if that is more than CELLS cells."""

TEXTS = 20_000
"""Number of distinct texts that are learned from."""

_POWER_ITERATIONS = 4


@dataclass(frozen=True, eq=False)
class TextColumn(Column):
    """What was learned from a column of free text.

    Attributes:
        used: The buckets of words that the fit had, ascending.
        weights: The weight of each of these buckets: the logarithm of how rare it is.
        directions: ``[buckets, columns]``: right singular vectors of the weighted words, in units of
            the largest standard deviation.
        means: ``[columns]``: means that are subtracted.
        length: Mean and standard deviation of log(1 + number of characters).
    """

    kind: ClassVar[str] = "text"

    used: IntArray
    weights: FloatArray
    directions: FloatArray
    means: FloatArray
    length: tuple[float, float]

    @classmethod
    def learn(cls, column: pd.Series[Any] | Cells) -> Self:
        """Learn weights and directions from the distinct texts, or from a part of them if there are many."""
        cells = Cells.of(column)
        missing = bool((cells.codes < 0).any())
        chosen = sample_of(cells.texts, TEXTS)  # sorted, so that the order of rows changes nothing
        texts, rows = cells.texts[chosen], cells.counts[chosen].astype(np.float64)
        lengths = _log_lengths(texts)
        length = _mean_and_deviation(lengths, rows)
        parts = [count_words(texts[part]) for part in chunks(texts)]
        counts = sp.csr_matrix(sp.vstack(parts)) if parts else sp.csr_matrix((0, WIDTH), dtype=np.float32)
        used = distinct_keys(counts.indices.astype(np.int64))
        inside = counts[:, used]
        frequency = np.asarray((inside > 0).T @ rows).ravel()
        weights = (np.log((1 + rows.sum()) / (1 + frequency)) + 1).astype(np.float32)
        matrix = weighted(inside, weights)
        directions = _directions(matrix, rows, max(FEWEST, min(MOST, CELLS // max(1, len(cells)))))
        projected = np.asarray(matrix @ directions, dtype=np.float64)
        means, deviations = _mean_and_deviation(projected, rows)
        scale = float(np.max(deviations, initial=0.0))
        scale = scale if scale > 1e-6 else 1.0
        return cls(
            cells.name,
            directions.shape[1] + 1.0,
            missing,
            used,
            weights,
            (directions / scale).astype(np.float32),
            (means / scale).astype(np.float32),
            (float(length[0]), float(length[1]) if length[1] > 1e-6 else 1.0),
        )

    def apply(self, column: pd.Series[Any] | Cells) -> FloatArray:
        """Return the projected words and the log length; a gap is 0 everywhere but in its own column."""
        cells = Cells.of(column)
        width = self.directions.shape[1]
        known = np.zeros((len(cells.texts) + 1, len(self.names)), dtype=np.float32)
        for part in chunks(cells.texts):
            counts = count_words(cells.texts[part])
            known[part, :width] = weighted(self._inside(counts), self.weights) @ self.directions - self.means
        mean, deviation = self.length
        known[:-1, width] = (_log_lengths(cells.texts) - mean) / deviation
        known[-1, width + 1 :] = 1
        if len(cells.texts) == len(cells) and bool((np.diff(cells.codes) == 1).all()):
            return known[:-1]  # each text is one row: no copy is needed
        return known[cells.codes]

    def _inside(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        """Return the counts of the words that the fit had."""
        places = np.full(WIDTH, -1)
        places[self.used] = np.arange(len(self.used))
        columns = places[counts.indices]
        kept = columns >= 0
        starts = np.concatenate([[0], np.cumsum(kept)])[counts.indptr]
        return sp.csr_matrix(
            (counts.data[kept], columns[kept], starts), shape=(counts.shape[0], len(self.used))
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The directions, the length, gaps."""
        directions = (f"{self.name}: words {index}" for index in range(self.directions.shape[1]))
        return (*directions, f"{self.name}: length", *([f"{self.name}: missing"] if self.missing else []))

    @property
    def becomes(self) -> str:
        """How many columns."""
        text = f"{counted(self.directions.shape[1], 'direction')} of words and the log length"
        return text + (", gaps marked" if self.missing else "")


def _directions(matrix: sp.csr_matrix, rows: npt.NDArray[np.float64], most: int) -> FloatArray:
    """Return the first right singular vectors as columns; each text counts as often as it occurs."""
    from sklearn.utils.extmath import randomized_svd

    count = min(most, min(matrix.shape) - 1)
    if count < 1:
        return np.zeros((matrix.shape[1], 0), dtype=np.float32)
    scaled = sp.csr_matrix(sp.diags(np.sqrt(rows).astype(np.float32)) @ matrix)
    *_, vectors = randomized_svd(scaled, count, n_iter=_POWER_ITERATIONS, random_state=0)
    return np.ascontiguousarray(vectors.T, dtype=np.float32)


def _log_lengths(texts: npt.NDArray[np.object_]) -> npt.NDArray[np.float64]:
    return np.log1p(np.fromiter(map(len, texts), dtype=np.float64, count=len(texts)))


def _mean_and_deviation(values: npt.NDArray[Any], rows: npt.NDArray[np.float64]) -> tuple[Any, Any]:
    """Return mean and standard deviation over the rows of a table, of which each text is several."""
    total = max(float(rows.sum()), 1.0)
    mean = (rows @ values) / total
    return mean, np.sqrt(np.maximum((rows @ (values - mean) ** 2) / total, 0.0))
