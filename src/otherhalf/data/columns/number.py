"""Columns of numbers: scaled, with the median in gaps and a column that says where the gaps were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from otherhalf.data.columns import number_text
from otherhalf.data.columns.cells import Cells, DoubleArray
from otherhalf.data.columns.column import Column, stack
from otherhalf.data.columns.scaling import COUNTS, Scaling
from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class NumberColumn(Column):
    """What was learned from a column of numbers.

    Attributes:
        style: How numbers are written in texts.
        scaling: Their scale.
    """

    kind: ClassVar[str] = "number"

    style: str
    scaling: Scaling

    @classmethod
    def learn(cls, column: pd.Series[Any] | Cells) -> Self:
        """Learn the way of writing, the median and the scale."""
        cells = Cells.of(column)
        numbers, style = numbers_in(cells)
        known = np.sort(numbers[~np.isnan(numbers)]) if cells.plain is None else cells.ordered
        if not len(known) and len(cells):
            raise InputError(
                f"the column {cells.name!r} is said to be a number, but no cell of it is one: "
                "say another kind"
            )
        scaling = Scaling.learn(known)
        full = 1.0 if scaling.way != COUNTS else float((known != 0).mean())
        return cls(cells.name, full, len(known) < len(cells), style, scaling)

    def apply(self, column: pd.Series[Any] | Cells) -> FloatArray:
        """Return the scaled numbers and, if the fit had gaps, where the gaps are."""
        numbers = _read(Cells.of(column), self.style)
        scaled = self.scaling.apply(numbers)
        return stack(scaled, np.isnan(numbers)) if self.missing else stack(scaled)

    @property
    def names(self) -> tuple[str, ...]:
        """The column, and its gaps."""
        return (self.name, f"{self.name}: missing") if self.missing else (self.name,)

    @property
    def becomes(self) -> str:
        """The scale, and whether gaps have a column."""
        return self.scaling.words + (", gaps marked" if self.missing else "")

    @property
    def remarks(self) -> tuple[str, ...]:
        """How numbers are written, if it is not the plain way."""
        return number_text.remarks(self.style)

    def unreadable(self, column: pd.Series[Any] | Cells) -> list[str]:
        """Return the distinct texts that are not numbers."""
        cells = Cells.of(column)
        if cells.plain is not None:
            return []
        wrong = np.unique(cells.codes[np.isnan(_read(cells, self.style)) & (cells.codes >= 0)])
        return sorted(str(text) for text in cells.texts[wrong])


def numbers_in(cells: Cells) -> tuple[DoubleArray, str]:
    """Return one number per row, NaN for gaps and for what is not a number, and the way of writing."""
    style = number_text.PLAIN
    if cells.plain is None:
        style, _ = number_text.choose_style(cells.texts[cells.sample].tolist())
    return _read(cells, style), style


def _read(cells: Cells, style: str) -> DoubleArray:
    """Return one number per row, NaN for gaps and for what is not a number."""
    if cells.plain is not None:
        return cells.plain
    found = np.append(number_text.read_numbers(cells.texts.tolist(), style), np.nan)[cells.codes]
    own = cells.mixed_numbers
    return found if own is None else np.where(np.isnan(own), found, own)
