"""Columns of categories: one column per value if there are few, hashed columns and the frequency if many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.columns.cells import Cells
from otherhalf.data.columns.column import Column
from otherhalf.data.columns.hashing import buckets, short_text, signs, stable_hashes
from otherhalf.data.columns.kinds import FEW
from otherhalf.data.notes import counted
from otherhalf.system.arrays import IntArray

BUCKETS = 64


@dataclass(frozen=True, eq=False)
class CategoryColumn(Column):
    """What was learned from a column of categories.

    Values that occur once count as "other" together, and so does a value that the fit did not have.
    If the fit had no other values, then no weight was trained for them, and such a row is 0 everywhere.

    Attributes:
        values: The values with a column of their own, the most frequent first; empty if there are too many.
        other: Whether there is a column for all other values.
        hashes: If there are many values: the hashes of those that occur twice or more, ascending.
        counts: If there are many values: the number of rows with each.
        largest: If there are many values: the log of the largest count, which frequencies are divided by.
    """

    kind: ClassVar[str] = "category"

    values: tuple[str, ...]
    other: bool
    hashes: IntArray | None = None
    counts: IntArray | None = None
    largest: float = 1.0

    @classmethod
    def learn(cls, column: pd.Series[Any] | Cells) -> Self:
        """Learn the values and how often they occur."""
        cells = Cells.of(column)
        missing = bool((cells.codes < 0).any())
        often = np.flatnonzero(cells.counts >= 2)
        if len(often) > FEW:
            hashes = stable_hashes(cells.texts[often])
            order = np.argsort(hashes)
            counts, largest = cells.counts[often][order], float(np.log1p(cells.counts.max()))
            return cls(cells.name, 2.0, missing, (), False, hashes[order], counts, largest)
        if len(often) < 2:  # a very small table
            often = np.arange(len(cells.texts))
        ranked = sorted(often.tolist(), key=lambda place: (-cells.counts[place], cells.texts[place]))[:FEW]
        values = tuple(str(cells.texts[place]) for place in ranked)
        return cls(cells.name, 1.0, missing, values, len(values) < len(cells.texts))

    def apply(self, column: pd.Series[Any] | Cells) -> sp.csr_matrix:
        """Return the columns as a sparse matrix."""
        cells = Cells.of(column)
        return self._apply_few(cells) if self.hashes is None else self._apply_many(cells)

    def _apply_few(self, cells: Cells) -> sp.csr_matrix:
        place = {value: index for index, value in enumerate(self.values)}
        beyond = len(self.values) if self.other else -1
        gap = len(self.values) + self.other if self.missing else -1
        places = np.array([*(place.get(str(text), beyond) for text in cells.texts), gap])[cells.codes]
        starts = np.concatenate([[0], np.cumsum(places >= 0)])
        ones = np.ones(starts[-1], dtype=np.float32)
        return sp.csr_matrix((ones, places[places >= 0], starts), shape=(len(cells), len(self.names)))

    def _apply_many(self, cells: Cells) -> sp.csr_matrix:
        assert self.hashes is not None
        assert self.counts is not None
        hashes = stable_hashes(cells.texts)
        found = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        counts = np.where(self.hashes[found] == hashes, self.counts[found], 0)
        frequency = (np.log1p(counts.astype(np.float64)) / self.largest).astype(np.float32)
        # Two values per row: bucket and frequency. A gap has only its own column, if there is one.
        width = len(self.names)
        first = np.append(buckets(hashes, BUCKETS), width - 1 if self.missing else 0)[cells.codes]
        value = np.append(signs(hashes), np.float32(self.missing))[cells.codes]
        second = np.append(frequency, np.float32(0))[cells.codes]
        data = np.column_stack([value, second]).ravel()
        places = np.column_stack([first, np.full(len(cells), BUCKETS)]).ravel()
        starts = np.arange(0, len(data) + 1, 2)
        matrix = sp.csr_matrix((data, places, starts), shape=(len(cells), width), dtype=np.float32)
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return matrix

    def unseen(self, column: pd.Series[Any] | Cells) -> list[str]:
        """Return the distinct values for which there is neither a column nor one for other values."""
        if self.hashes is not None or self.other:
            return []
        return sorted({str(text) for text in Cells.of(column).texts}.difference(self.values))

    @property
    def names(self) -> tuple[str, ...]:
        """One name per value or bucket, then the frequency, other values, and gaps."""
        if self.hashes is None:
            own = [f"{self.name}={short_text(value)}" for value in self.values]
        else:
            own = [*(f"{self.name}#{bucket}" for bucket in range(BUCKETS)), f"{self.name}: frequency"]
        more = [(self.other, "other"), (self.missing, "missing")]
        return (*own, *(f"{self.name}: {word}" for there, word in more if there))

    @property
    def becomes(self) -> str:
        """How many columns, of which kind."""
        if self.hashes is not None:
            text = f"{BUCKETS} hashed columns and the log frequency"
        else:
            text = f"{counted(len(self.values), 'column')} of 0 and 1" + (
                ", others together" if self.other else ""
            )
        return text + (", gaps marked" if self.missing else "")
