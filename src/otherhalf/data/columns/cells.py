"""The cells of one column, read once: which are gaps, and the numbers, dates or distinct texts of the others.

Everything slow works on the distinct texts and not on the rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.errors import InputError
from otherhalf.system.arrays import IntArray

DoubleArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

GAP_WORDS = frozenset(
    ["", "?", "-", "--", ".", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "nat", "null", "none"]
    + [sign + word for sign in ("", "+", "-") for word in ("inf", "infinity")]
)
"""Texts that mean "nothing is known here", in small letters."""

LARGEST = 1e150
"""Numbers beyond this count as this, so that their squares stay finite."""

SAMPLE = 1000
"""Number of distinct texts from which the kind of a column is guessed."""

_LISTS = (list, tuple, set, frozenset, np.ndarray)
_MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column.

    Attributes:
        name: Name of the column.
        column: The cells as pandas has them.
    """

    name: str
    column: pd.Series[Any]

    @classmethod
    def of(cls, column: pd.Series[Any] | Cells) -> Cells:
        """Return the cells of a column of a table."""
        if isinstance(column, Cells):
            return column
        dtype = column.dtype
        if isinstance(dtype, pd.PeriodDtype):
            column = column.dt.to_timestamp()
        elif isinstance(dtype, pd.SparseDtype):
            column = column.astype(dtype.subtype)
        elif isinstance(dtype, pd.IntervalDtype) or str(dtype).startswith(("list", "struct", "map")):
            column = column.astype(object)
        return cls(str(column.name), column)  # type: ignore[arg-type]  # it was not Cells above

    def __len__(self) -> int:
        return len(self.column)

    # ------------------------------------------------------------------ what pandas already knows

    @cached_property
    def declared(self) -> bool:
        """Whether the column has pandas' own dtype of categories."""
        return isinstance(self.column.dtype, pd.CategoricalDtype)

    @cached_property
    def inferred(self) -> str:
        """What pandas says about the cells of a column of objects, such as ``string`` or ``mixed``."""
        return pd.api.types.infer_dtype(self.column, skipna=True) if self.column.dtype == object else ""

    @cached_property
    def truths(self) -> bool:
        """Whether the cells are True and False, and not texts or numbers."""
        return self.inferred == "boolean" or (pd.api.types.is_bool_dtype(self.column) and not self.declared)

    @cached_property
    def plain(self) -> DoubleArray | None:
        """The numbers, with NaN for gaps and infinities; None if the cells are not numbers already."""
        column = self.column
        if pd.api.types.is_timedelta64_dtype(column):
            return _bounded(column.dt.total_seconds().to_numpy(np.float64) / 86_400)
        if column.dtype == object:
            if self.inferred not in ("boolean", "integer", "floating", "mixed-integer-float"):
                return None
        elif not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_complex_dtype(column):
            return None
        try:
            return _bounded(column.to_numpy(np.float64, na_value=np.nan))
        except (OverflowError, TypeError, ValueError):  # such as the whole number 10**400
            return None

    @cached_property
    def days(self) -> DoubleArray | None:
        """Days since 1970 in UTC, with NaN for gaps; None if the cells are not moments already."""
        column = self.column
        if not pd.api.types.is_datetime64_any_dtype(column):
            return None
        return days_of(column)

    @cached_property
    def lists(self) -> BoolArray | None:
        """The rows whose cell is a list, a tuple, a set or an array; None if there are none."""
        if self.column.dtype != object or not self.inferred.startswith("mixed"):
            return None
        found = np.array([isinstance(cell, _LISTS) for cell in self.column], dtype=bool)
        return found if found.any() else None

    @cached_property
    def mixed_numbers(self) -> DoubleArray | None:
        """The numbers among cells of several types, with NaN for the others; None if there are no such cells.

        A number among texts is itself, however the texts write numbers.
        """
        if self.column.dtype != object or self.plain is not None or self.inferred in ("string", "empty"):
            return None
        return _bounded(np.array([_number(cell) for cell in self.column], dtype=np.float64))

    # ------------------------------------------------------------------ distinct texts

    @cached_property
    def _coded(self) -> tuple[IntArray, npt.NDArray[np.object_]]:
        column: Any = self.column
        if self.declared:
            codes, cells = (
                column.cat.codes.to_numpy().astype(np.int64),
                column.cat.categories.to_numpy(object),
            )
            texts: Any = [text_of(cell) for cell in cells]
        elif self.truths:
            codes, cells = pd.factorize(column)
            texts = [str(bool(cell)) for cell in cells]
        elif self.plain is not None:
            codes, cells = pd.factorize(self.plain)
            texts = [text_of(cell) for cell in cells.tolist()]
        elif self.days is not None:
            codes, cells = pd.factorize(column)
            try:
                texts = [text_of(cell) for cell in cells]
            except NotImplementedError:  # a moment with a time zone beyond the year 9999
                texts = cells.tz_convert("UTC").tz_localize(None).to_numpy().astype(str).tolist()
        else:
            if column.dtype == object and self.inferred not in ("string", "empty"):
                # 1, 1.0 and True are equal for pandas. So the texts are made before equal cells are found.
                column = np.array([text_of(cell) for cell in column], dtype=object)
            codes, cells = pd.factorize(column)
            texts = [text_of(cell) for cell in np.asarray(cells, dtype=object).tolist()]
        return _without_gaps(codes, _clean(texts))

    @property
    def codes(self) -> IntArray:
        """For each row the position of its text in :attr:`texts`, −1 for a gap."""
        return self._coded[0]

    @property
    def texts(self) -> npt.NDArray[np.object_]:
        """The distinct texts without spaces at their ends. Their order is that of the rows."""
        return self._coded[1]

    @cached_property
    def counts(self) -> IntArray:
        """The number of rows with each text."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts)).astype(np.int64)

    @cached_property
    def gaps(self) -> BoolArray:
        """The rows in which nothing is known."""
        if self.plain is not None and not self.declared:
            return np.isnan(self.plain)
        return np.isnan(self.days) if self.days is not None else self.codes < 0

    @cached_property
    def ordered(self) -> DoubleArray:
        """The numbers of a column of numbers without gaps, in ascending order."""
        assert self.plain is not None
        return np.sort(self.plain[~np.isnan(self.plain)])

    @cached_property
    def distinct(self) -> int:
        """Number of distinct values."""
        if self.days is not None:
            return len(np.unique(self.days[~self.gaps]))
        if self.plain is None or self.declared:
            return len(self.texts)
        return int((np.diff(self.ordered) > 0).sum()) + min(1, len(self.ordered))

    @cached_property
    def sample(self) -> IntArray:
        """Positions of some of the distinct texts; the same texts whatever the order of rows."""
        return sample_of(self.texts, SAMPLE)


def sample_of(texts: npt.NDArray[np.object_], most: int) -> IntArray:
    """Return the positions of at most ``most`` texts, sorted by text; which ones, their hashes decide."""
    chosen = np.arange(len(texts))
    if len(texts) > most:
        hashes = pd.util.hash_array(texts, categorize=False)
        chosen = np.argpartition(hashes, most)[:most]
    return chosen[np.argsort(texts[chosen])] if len(chosen) else chosen


def days_of(moments: pd.Series[Any]) -> DoubleArray:
    """Return the days since 1970 in UTC, with NaN for gaps."""
    if getattr(moments.dtype, "tz", None) is not None or "tz=" in str(moments.dtype):
        moments = moments.dt.tz_convert("UTC").dt.tz_localize(None)
    try:
        moments = moments.astype("datetime64[us]")
    except pd.errors.OutOfBoundsDatetime as error:
        raise InputError(
            f"the column {moments.name!r} holds a date that is 290,000 years away or more: correct it"
        ) from error
    values = moments.to_numpy(dtype="datetime64[us]", na_value=np.datetime64("NaT"))
    days = values.astype(np.int64) / _MICROSECONDS_PER_DAY
    days[np.isnat(values)] = np.nan
    return np.ascontiguousarray(days, dtype=np.float64)


def text_of(cell: Any) -> str | None:
    """Return one cell as text, None for a gap: 1.0 is ``1``, and a list is written as JSON."""
    if isinstance(cell, str):
        return cell
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, int | np.integer):
        return str(cell) if abs(int(cell)) < 2**53 else text_of(_number(cell))
    if isinstance(cell, float | np.floating):
        if not np.isfinite(cell):
            return None
        number = min(max(float(cell), -LARGEST), LARGEST)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if isinstance(cell, _LISTS):
        return _list_text(cell)
    return str(cell)


def _number(cell: Any) -> float:
    """Return a cell that is a number or a truth value; NaN for others and for numbers without a float."""
    try:
        return float(cell) if isinstance(cell, int | float | np.number | np.bool_) else np.nan
    except (OverflowError, TypeError):
        return np.nan


def _list_text(cell: Any) -> str:
    try:
        items = sorted(cell, key=str) if isinstance(cell, set | frozenset) else np.asarray(cell).tolist()
        return json.dumps(items, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(cell)


def _bounded(numbers: npt.NDArray[Any]) -> DoubleArray:
    values = np.array(numbers, dtype=np.float64)
    values[np.isinf(values)] = np.nan
    return np.clip(values, -LARGEST, LARGEST)


def _clean(texts: Sequence[str | None]) -> list[str]:
    """Return the texts without spaces at their ends, and with only such characters as UTF-8 can hold."""
    stripped = ["" if text is None else text.strip() for text in texts]
    if all(map(str.isascii, stripped)):
        return stripped
    try:
        for text in stripped:
            text.encode()
    except UnicodeEncodeError:
        return [text.encode("utf-8", "replace").decode() for text in stripped]
    return stripped


def _without_gaps(codes: Any, texts: list[str]) -> tuple[IntArray, npt.NDArray[np.object_]]:
    """Return codes and distinct texts in which gaps have no text, no text occurs twice, and all occur."""
    codes = np.asarray(codes, dtype=np.int64)
    places: dict[str, int] = {}
    unused = np.bincount(codes[codes >= 0], minlength=len(texts)) == 0
    new = [
        -1 if none or (len(text) < 10 and text.lower() in GAP_WORDS) else places.setdefault(text, len(places))
        for text, none in zip(texts, unused.tolist(), strict=True)
    ]
    distinct = np.empty(len(places), dtype=object)
    distinct[:] = list(places)
    if len(places) == len(texts):  # nothing changed
        return codes, distinct
    return np.array([*new, -1], dtype=np.int64)[codes], distinct  # the last place is that of code −1
