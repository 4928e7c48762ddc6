"""The times of nodes: numbers such as years, or dates that can be read in one way only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from otherhalf.errors import InputError

# Tried in this order. 01/02/2020 is two different dates in the last two, which is refused.
_ONE_MEANING = ("ISO8601", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y", "%d.%m.%Y %H:%M:%S")
_TWO_MEANINGS = ("%d/%m/%Y", "%m/%d/%Y")


def read_times(column: pd.Series[Any], what: str) -> pd.Series[Any]:
    """Return times that can be sorted: float64 numbers or dates without a time zone; NaN and NaT are gaps.

    Args:
        column: Numbers, dates, or text that holds one or the other.
        what: Name of the column in messages.
    """
    if pd.api.types.is_datetime64_any_dtype(column):
        return _naive(column)
    if pd.api.types.is_numeric_dtype(column):
        return _finite(column, what)
    texts = column.map(str, na_action="ignore").str.strip()
    texts = texts.where(~texts.isin(["", "nan", "NaN", "NaT", "None"]))
    known = texts.dropna()
    numbers = pd.to_numeric(known, errors="coerce")
    if numbers.notna().all():
        return _finite(numbers.reindex(texts.index), what)
    for form in _ONE_MEANING:
        dates = pd.to_datetime(known, format=form, errors="coerce", utc=form == "ISO8601")
        if dates.notna().all():
            return _naive(dates).reindex(texts.index)
    both = [pd.to_datetime(known, format=form, errors="coerce") for form in _TWO_MEANINGS]
    sure = [dates for dates in both if dates.notna().all()]
    if len(sure) == 1 or (len(sure) == 2 and sure[0].equals(sure[1])):
        return sure[0].reindex(texts.index)
    if sure:
        raise InputError(
            f"{what}: {known.iloc[0]!r} can be read with the day or the month first: "
            "write dates as 2020-01-31"
        )
    iso = pd.to_datetime(known, format="ISO8601", errors="coerce", utc=True)
    wrong = known[iso.isna() & numbers.isna()]
    example = wrong.iloc[0] if len(wrong) else known.iloc[0]
    raise InputError(
        f"{what}: {example!r} is not a number or a date like the others: "
        "write numbers, or dates as 2020-01-31"
    )


def _naive(dates: pd.Series[Any]) -> pd.Series[Any]:
    return dates if dates.dt.tz is None else dates.dt.tz_convert("UTC").dt.tz_localize(None)


def _finite(numbers: pd.Series[Any], what: str) -> pd.Series[Any]:
    values = numbers.astype("Float64").astype(np.float64)
    if np.isinf(values).any():
        raise InputError(f"{what}: a time is infinite: correct it, or leave the cell empty")
    return values
