"""Numbers and names as the JSON of a report has them: short, finite, and of plain types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

DIGITS = 4


def number(value: Any, digits: int = DIGITS) -> float | None:
    """Return a number with few digits; None for None, NaN and infinity."""
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), digits) + 0.0  # −0.0 becomes 0.0


def numbers(values: Any, digits: int = DIGITS) -> list[Any]:
    """Return an array of any shape as lists of short numbers."""
    rounded = np.round(np.asarray(values, dtype=np.float64), digits) + 0.0
    found: list[Any] = rounded.tolist()
    return found if np.isfinite(rounded).all() else _finite(found)


def names(values: Any) -> list[str]:
    """Return ids or labels of any kind as text."""
    return [str(value) for value in np.asarray(values).tolist()]


def plain(value: Any) -> Any:
    """Return nested settings with the types that JSON has; a number that it lacks becomes None."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _finite(values: list[Any]) -> list[Any]:
    return [_finite(each) if isinstance(each, list) else number(each, 16) for each in values]
