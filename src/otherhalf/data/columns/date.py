"""Columns of dates: age, year, and the place in the year, in the week and in the day as points on circles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.columns import date_text, number_text
from otherhalf.data.columns.cells import Cells, DoubleArray
from otherhalf.data.columns.column import Column, stack
from otherhalf.data.columns.scaling import Scaling
from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray

CIRCLES = {"month": 12, "weekday": 7, "hour": 24}
"""What repeats, and after how many steps."""


@dataclass(frozen=True, eq=False)
class DateColumn(Column):
    """What was learned from a column of dates.

    Attributes:
        style: How dates are written in texts or numbers.
        latest: The latest date of the fit, in days since 1970.
        age: Scale of the days before the latest date.
        year: Scale of the year.
        years: Whether there are dates in several years, so that there is a column for the year.
        circles: Those of month, weekday and hour that vary.
        unclear: Whether day and month could also be the other way round.
    """

    kind: ClassVar[str] = "date"

    style: str
    latest: float
    age: Scaling
    year: Scaling
    years: bool
    circles: tuple[str, ...]
    unclear: bool = False

    @classmethod
    def learn(cls, column: pd.Series[Any] | Cells) -> Self:
        """Learn the way of writing, the latest date and which parts vary."""
        cells = Cells.of(column)
        style, unclear = _style(cells)
        days = _read(cells, style)
        known = np.sort(days[~np.isnan(days)])
        if not len(known) and len(cells):
            raise InputError(
                f"the column {cells.name!r} is said to be a date, but no cell of it is one that can be read: "
                "write dates as 2024-12-31, or say another kind"
            )
        latest = float(known[-1]) if len(known) else 0.0
        parts = _parts(known)
        vary = {name: len(np.unique(values)) > 1 for name, values in parts.items()}
        circles = tuple(name for name in CIRCLES if vary[name])
        filled = 1.0 + vary["year"] + 2 * len(circles)
        age, year = Scaling.learn(np.sort(latest - known)), Scaling.learn(parts["year"])
        missing = len(known) < len(cells)
        return cls(cells.name, filled, missing, style, latest, age, year, vary["year"], circles, unclear)

    def apply(self, column: pd.Series[Any] | Cells) -> FloatArray:
        """Return age, year and points on circles; a gap is at the median, and in the centre of circles."""
        days = _read(Cells.of(column), self.style)
        gaps = np.isnan(days)
        parts = _parts(np.where(gaps, 0.0, days))
        found: list[npt.NDArray[Any]] = [self.age.apply(self.latest - days)]
        if self.years:
            found.append(self.year.apply(np.where(gaps, np.nan, parts["year"])))
        for name in self.circles:
            # Computed once per step of the circle, so that every row has the same bits.
            angles = 2 * np.pi * np.arange(CIRCLES[name]) / CIRCLES[name]
            steps = parts[name].astype(np.int64)
            found += [np.where(gaps, 0.0, function(angles)[steps]) for function in (np.sin, np.cos)]
        if self.missing:
            found.append(gaps)
        return stack(*found)

    @property
    def names(self) -> tuple[str, ...]:
        """Age, year, the circles, gaps."""
        words = ["age", *(["year"] if self.years else [])]
        words += [f"{circle} {axis}" for circle in self.circles for axis in ("sin", "cos")]
        return tuple(f"{self.name}: {word}" for word in [*words, *(["missing"] if self.missing else [])])

    @property
    def becomes(self) -> str:
        """The parts that vary."""
        parts = ["age in days", *(["year"] if self.years else []), *self.circles]
        return ", ".join(parts) + (", gaps marked" if self.missing else "")

    @property
    def remarks(self) -> tuple[str, ...]:
        """How dates are written, where that is a choice."""
        if date_text.is_numeric(self.style):
            return (f"numbers are read as {self.style}",)
        return (f"day or month first is unclear: dates are read as {self.style}",) if self.unclear else ()

    def unreadable(self, column: pd.Series[Any] | Cells) -> list[str]:
        """Return the distinct texts that are not dates."""
        cells = Cells.of(column)
        if cells.days is not None:
            return []
        wrong = np.unique(cells.codes[np.isnan(_read(cells, self.style)) & (cells.codes >= 0)])
        return sorted(str(text) for text in cells.texts[wrong])


def _style(cells: Cells) -> tuple[str, bool]:
    """Return how dates are written, and whether day and month could also be the other way round."""
    if cells.days is not None:
        return date_text.ISO, False
    texts = cells.texts.tolist() if cells.plain is None else []
    style, share = date_text.choose_style(cells.texts[cells.sample].tolist())
    if cells.plain is not None or share == 0:
        numbers = _numbers(cells)
        return date_text.choose_number_style(np.sort(numbers[~np.isnan(numbers)])), False
    other = date_text.other_order(style)
    if other is None:
        return style, False
    known = [int((~np.isnan(date_text.read_dates(texts, way))).sum()) for way in (style, other)]
    return (style if known[0] >= known[1] else other), known[0] == known[1]


def _read(cells: Cells, style: str) -> DoubleArray:
    """Return the days since 1970 for each row, NaN for gaps and for what is not a date."""
    if cells.days is not None:
        return cells.days
    if date_text.is_numeric(style):
        return date_text.dates_of_numbers(_numbers(cells), style)
    if cells.plain is not None:
        return np.full(len(cells), np.nan)
    found = date_text.read_dates(cells.texts.tolist(), style)
    return np.append(found, np.nan)[cells.codes]


def _numbers(cells: Cells) -> DoubleArray:
    if cells.plain is not None:
        return cells.plain
    found = number_text.read_numbers(cells.texts.tolist(), number_text.PLAIN)
    return np.append(found, np.nan)[cells.codes]


def _parts(days: DoubleArray) -> dict[str, DoubleArray]:
    """Return year, month (0 to 11), weekday (0: Monday) and hour of each moment."""
    whole = np.floor(days)
    dates = whole.astype(np.int64).astype("datetime64[D]")
    months = dates.astype("datetime64[M]").astype(np.int64)
    # Rounded to seconds: a float cannot hold every moment of a day exactly.
    seconds = np.minimum(np.round((days - whole) * 86_400), 86_399)
    return {
        "year": (months // 12 + 1970).astype(np.float64),
        "month": (months % 12).astype(np.float64),
        "weekday": ((whole + 3) % 7).astype(np.float64),
        "hour": np.floor(seconds / 3600),
    }
