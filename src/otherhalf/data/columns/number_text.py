"""Numbers that are written as text: with a decimal point or comma, with or without marks of thousands."""

import re
from collections.abc import Sequence

import numpy as np

from otherhalf.data.columns.cells import LARGEST, DoubleArray

PLAIN = "plain"
_POWER = r"(?:[eE][+-]?[0-9]{1,4})?"
_THIN = r"[ '’\u00a0\u2009\u202f]"

STYLES = {
    PLAIN: (r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)" + _POWER, "", "."),
    "1,234.5": (r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3})(?:\.[0-9]+)?", ",", "."),
    "1.234,5": (r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)?" + _POWER, ".", ","),
    "1 234.5": (
        rf"[+-]?(?:[0-9]{{1,3}}(?:{_THIN}[0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?",
        " '’\u00a0\u2009\u202f",
        ".",
    ),
    "1 234,5": (
        rf"[+-]?(?:[0-9]{{1,3}}(?:{_THIN}[0-9]{{3}})+|[0-9]+)(?:,[0-9]+)?",
        " '’\u00a0\u2009\u202f",
        ",",
    ),
}
"""Each way to write numbers: its pattern, the marks between thousands, and the decimal mark."""

_PATTERNS = {style: re.compile(pattern) for style, (pattern, _, _) in STYLES.items()}
_CODE = re.compile(r"[+-]?0[0-9]+")
_ZERO_AND_COMMA = re.compile(r"[+-]?0,[0-9]+")


def choose_style(texts: Sequence[str]) -> tuple[str, float]:
    """Return the way of writing that most of the texts have, and their share; the first way if in doubt.

    Texts such as 007 are codes and not numbers, so that a column with one has the share 0.
    """
    if not len(texts) or has_codes(texts):
        return PLAIN, 0.0
    shares = {
        style: sum(pattern.fullmatch(text) is not None for text in texts) / len(texts)
        for style, pattern in _PATTERNS.items()
    }
    if any(_ZERO_AND_COMMA.fullmatch(text) for text in texts):
        shares["1,234.5"] = 0.0  # 0,125 has no thousands
    best = max(shares, key=lambda style: shares[style])
    return best, shares[best]


def has_codes(texts: Sequence[str]) -> bool:
    """Return whether one of the texts is a code such as 007, which is no number."""
    return any(_CODE.fullmatch(text.strip()) for text in texts)


def read_numbers(texts: Sequence[str], style: str) -> DoubleArray:
    """Return the number that each text is in this way of writing; NaN if it is none, or is infinite."""
    _, thousands, decimal = STYLES[style]
    matches = _PATTERNS[style].fullmatch
    table = str.maketrans({**dict.fromkeys(thousands, ""), decimal: "."})
    found = (float(text.translate(table)) if matches(text) else np.nan for text in texts)
    values = np.fromiter(found, dtype=np.float64, count=len(texts))
    values[np.isinf(values)] = np.nan
    return np.clip(values, -LARGEST, LARGEST)
