"""Columns of true and false: 0 and 1, and where the gaps were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from otherhalf.data.columns.cells import Cells, DoubleArray
from otherhalf.data.columns.choices import listing
from otherhalf.data.columns.column import Column, stack
from otherhalf.data.columns.kinds import TRUTHS
from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray

_VALUES = {word: value for pair in TRUTHS for word, value in zip(pair, (1.0, 0.0), strict=True)}


@dataclass(frozen=True, eq=False)
class BooleanColumn(Column):
    """What was learned from a column of true and false.

    Attributes:
        usual: The more frequent value, which gaps get.
    """

    kind: ClassVar[str] = "boolean"

    usual: float

    @classmethod
    def learn(cls, column: pd.Series[Any] | Cells) -> Self:
        """Learn which value is the more frequent one."""
        cells = Cells.of(column)
        values = _read(cells)
        known = ~np.isnan(values)
        if not known.any() and len(cells):
            raise InputError(
                f"the column {cells.name!r} is said to be boolean, but has only values such as "
                f"{listing(map(repr, _wrong(cells)[:3]))}: write true and false, or say another kind"
            )
        true = float(values[known].mean()) if known.any() else 0.0
        return cls(cells.name, true, not bool(known.all()), float(true > 0.5))

    def apply(self, column: pd.Series[Any] | Cells) -> FloatArray:
        """Return 0 and 1 and, if the fit had gaps, where the gaps are."""
        values = _read(Cells.of(column))
        gaps = np.isnan(values)
        filled = np.where(gaps, self.usual, values)
        return stack(filled, gaps) if self.missing else stack(filled)

    @property
    def names(self) -> tuple[str, ...]:
        """The column, and its gaps."""
        return (self.name, f"{self.name}: missing") if self.missing else (self.name,)

    @property
    def becomes(self) -> str:
        """What becomes of the values, and whether gaps have a column."""
        return "0 and 1" + (", gaps marked" if self.missing else "")

    def unreadable(self, column: pd.Series[Any] | Cells) -> list[str]:
        """Return the distinct texts that are neither true nor false."""
        cells = Cells.of(column)
        return [] if cells.plain is None and cells.truths else _wrong(cells)


def _read(cells: Cells) -> DoubleArray:
    """Return 0 or 1 for each row, NaN for gaps and other values."""
    if cells.plain is not None and not cells.declared:
        return np.where((cells.plain == 0) | (cells.plain == 1), cells.plain, np.nan)
    found = np.array([_VALUES.get(str(text).lower(), np.nan) for text in cells.texts])
    return np.append(found, np.nan)[cells.codes]


def _wrong(cells: Cells) -> list[str]:
    if cells.plain is not None and not cells.declared and bool(np.isin(cells.ordered, (0, 1)).all()):
        return []
    return sorted(str(text) for text in cells.texts if str(text).lower() not in _VALUES)
