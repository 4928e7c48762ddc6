"""What every table offers, on disk or in memory: a name for messages, its columns, and its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from otherhalf.data.notes import listing
from otherhalf.errors import InputError
from otherhalf.system.names import short

UNNAMED = "Unnamed: "
"""What a column without a name is called, with its number behind it, as pandas does."""

LONGEST_COLUMN = 1_000
"""Most characters of a column's name, which stands in messages, models and reports."""


class Table(ABC):
    """A table whose column names are known before its cells are read.

    The names come first because they decide how the cells are read: an id column must be read as text,
    or the id 007 would become the number 7.

    Args:
        name: What messages call the table, such as its path.
        columns: The names of its columns; no name may occur twice.
        notes: What was decided on the way, for the user; a reader adds its sentences here.
    """

    def __init__(self, name: str, columns: Sequence[str], notes: list[str] | None = None) -> None:
        self.name = name
        self.columns = list(columns)
        self.notes: list[str] = [] if notes is None else notes
        if not self.columns:
            raise InputError(f"{self.name} has no columns: give a table with column names")
        long = next((column for column in self.columns if len(column) > LONGEST_COLUMN), None)
        if long is not None:
            raise InputError(
                f"{self.name} has a column {short(long)!r} whose name has {len(long):,} characters: give "
                f"names of at most {LONGEST_COLUMN:,}, in the first line of a text file"
            )
        if len(set(self.columns)) < len(self.columns):
            twice = next(column for column in self.columns if self.columns.count(column) > 1)
            raise InputError(f"{self.name} has two columns called {twice!r}: rename one")

    def read(self, text: Iterable[str]) -> pd.DataFrame:
        """Return all rows. The columns ``text`` of a text file stay text and do not become numbers."""
        rows = self._rows(set(text), None)
        if len(rows) == 0:
            raise InputError(f"{self.name} has column names but no rows: add the data")
        return rows

    def first_rows(self, count: int) -> pd.DataFrame:
        """Return the first rows; every column of a text file is text."""
        return self._rows(set(self.columns), count)

    def unnamed(self, column: str) -> bool:
        """Return whether the column has no name, like the row numbers that pandas writes by default."""
        return column.startswith(UNNAMED)

    def require(self, column: str, role: str) -> None:
        """Raise InputError if there is no such column; ``role`` says what it is needed for."""
        if column not in self.columns:
            raise InputError(
                f"{self.name} has no column {column!r} for the {role}: "
                f"its columns are {listing(self.columns)}"
            )

    @abstractmethod
    def _rows(self, text: set[str], count: int | None) -> pd.DataFrame:
        """Return the first ``count`` rows, or all of them."""


class MemoryTable(Table):
    """A table whose cells are in memory, with their types."""

    def __init__(self, name: str, cells: pd.DataFrame, notes: list[str] | None = None) -> None:
        super().__init__(name, [str(column) for column in cells.columns], notes)
        self._cells = _with_text(cells.set_axis(self.columns, axis="columns"))

    def _rows(self, text: set[str], count: int | None) -> pd.DataFrame:
        return self._cells if count is None else self._cells.head(count)


def _with_text(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the table with text in place of bytes that are text in UTF-8."""
    decoded = {
        name: cells[name].map(_text, na_action="ignore") for name in cells.columns if _has_bytes(cells[name])
    }
    return cells.assign(**decoded) if decoded else cells


def check_no_bytes(name: str, column: pd.Series[Any]) -> None:
    """Raise InputError if cells of a column are bytes that are no text; ``name`` is that of its table."""
    if _has_bytes(column):
        raise InputError(
            f"{name}: the column {column.name!r} holds bytes that are not text: give text or numbers"
        )


def _has_bytes(column: pd.Series[Any]) -> bool:
    return column.dtype == object and any(isinstance(cell, bytes) for cell in column)


def _text(cell: Any) -> Any:
    try:
        return cell.decode() if isinstance(cell, bytes) else cell
    except UnicodeDecodeError:
        return cell
