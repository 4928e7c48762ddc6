"""Dates and times that are written as text or as numbers: the ISO forms and the usual others."""

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from otherhalf.data.columns.cells import DoubleArray, days_of

ISO = "ISO8601"
_DATES = [
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y"),
    *("%a, %d %b %Y", "%a %d %b %Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y"),
]
_TIMES = ["", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %H:%M:%S %z", " %I:%M %p", " %I:%M:%S %p"]
_OTHERS = [
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S %z %Y",
    "%Y%m%dT%H%M%S",
    "%Y%m%dT%H%M%SZ",
    "%d/%b/%Y:%H:%M:%S %z",
]
STYLES = [ISO, *(date + time for date in _DATES for time in _TIMES), *_OTHERS]
"""The ways to write a moment; the first that fits wins, so the day comes before the month if in doubt."""

YEARS, DIGITS, SECONDS = "year", "YYYYMMDD", "seconds since 1970"
NUMBERS = {YEARS: (1000, 3000), DIGITS: (10_000_101, 30_001_231), SECONDS: (-1e11, 1e11)}
"""Ways to write a moment as a number, where the user says that a column of numbers is a date."""
_SMALLER = {"milliseconds since 1970": 1e3, "microseconds since 1970": 1e6, "nanoseconds since 1970": 1e9}

_LIKE_A_DATE = re.compile(r"(?=.*[0-9])(?=.*[-/.: T]).{6,40}", re.DOTALL)
_ISO_START = re.compile(r"[0-9]{4}-[0-9]{2}|[0-9]{8}T")


def choose_style(texts: Sequence[str]) -> tuple[str, float]:
    """Return the way of writing that most of the texts have, and their share; the first way if in doubt."""
    likely = [text for text in texts if _LIKE_A_DATE.fullmatch(text)]
    if len(likely) < len(texts) / 2 or not likely:
        return ISO, 0.0
    best, most = ISO, 0
    probe = likely[:20]
    for style in STYLES:
        if np.isnan(read_dates(probe, style)).all():
            continue
        count = int((~np.isnan(read_dates(likely, style))).sum())
        if count > most:
            best, most = style, count
        if most == len(likely):
            break
    return best, most / len(texts)


def other_order(style: str) -> str | None:
    """Return the way of writing with day and month exchanged, if it is usual."""
    swapped = style.replace("%d", "#").replace("%m", "%d").replace("#", "%m")
    return swapped if swapped != style and swapped in STYLES else None


def read_dates(texts: Sequence[str], style: str) -> DoubleArray:
    """Return the days since 1970 in UTC for each text; NaN if it is no moment in this way of writing.

    A time without a zone counts as UTC.
    """
    if style == ISO:  # pandas takes 2024 alone, too
        texts = [text if _ISO_START.match(text) else "" for text in texts]
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moments: Any = pd.to_datetime(pd.Series(values), format=style, errors="coerce", utc=True)
    return days_of(moments)


def choose_number_style(ordered: DoubleArray) -> str:
    """Return how numbers in ascending order stand for moments: years, YYYYMMDD, or a time since 1970."""
    low, high = (float(ordered[0]), float(ordered[-1])) if len(ordered) else (0.0, 0.0)
    for style, (least, most) in NUMBERS.items():
        if least <= low and high <= most:
            return style
    largest = max(abs(low), abs(high))
    return next(
        (style for style, unit in _SMALLER.items() if largest < 1e11 * unit), "nanoseconds since 1970"
    )


def is_numeric(style: str) -> bool:
    """Return whether moments are written as numbers."""
    return style in NUMBERS or style in _SMALLER


def dates_of_numbers(numbers: DoubleArray, style: str) -> DoubleArray:
    """Return the days since 1970 that numbers stand for; NaN for gaps and for numbers that are no moment."""
    if style in (YEARS, DIGITS):
        known = np.isfinite(numbers) & (numbers >= NUMBERS[style][0]) & (numbers <= NUMBERS[style][1])
        whole, places = np.unique(np.where(known, numbers, 0).astype(np.int64), return_inverse=True)
        texts = [f"{value}-01-01" if style == YEARS else f"{value}" for value in whole]
        days = read_dates(texts, ISO if style == YEARS else "%Y%m%d")[places]
        days[~known] = np.nan
        return days
    days = numbers / (86_400 * _SMALLER.get(style, 1.0))
    days[~(np.abs(days) < 2_900_000)] = np.nan  # about the years −6000 to 9900
    return days
