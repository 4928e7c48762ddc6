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

SIGNS = "%‰$€£¥₹"
"""Signs of shares and money, before or after a number. A style ends with the one that its numbers have."""

_PATTERNS = {style: re.compile(pattern) for style, (pattern, _, _) in STYLES.items()}
_CODE = re.compile(r"[+-]?0[0-9]+")
_ZERO_AND_COMMA = re.compile(r"[+-]?0,[0-9]+")


def choose_style(texts: Sequence[str]) -> tuple[str, float]:
    """Return the way of writing that most of the texts have, and their share; the first way if in doubt.

    Texts such as 007 are codes and not numbers, so that a column with one has the share 0. Texts with several
    of :data:`SIGNS` are no numbers of one meaning.
    """
    signs = [sign for sign in SIGNS if any(sign in text for text in texts)]
    if len(signs) != 1:
        return _choose(texts)
    style, share = _choose([_without(signs[0], text) for text in texts])
    return f"{style} {signs[0]}", share


def _choose(texts: Sequence[str]) -> tuple[str, float]:
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
    if style[-1] in SIGNS:
        return read_numbers([_without(style[-1], text) for text in texts], style[:-2])
    _, thousands, decimal = STYLES[style]
    matches = _PATTERNS[style].fullmatch
    table = str.maketrans({**dict.fromkeys(thousands, ""), decimal: "."})
    found = (float(text.translate(table)) if matches(text) else np.nan for text in texts)
    values = np.fromiter(found, dtype=np.float64, count=len(texts))
    values[np.isinf(values)] = np.nan
    return np.clip(values, -LARGEST, LARGEST)


def remarks(style: str) -> tuple[str, ...]:
    """Return how numbers are written, if it is not the plain way."""
    return () if style == PLAIN else (f"numbers are written as in {style.replace(PLAIN, '1234.5')}",)


def _without(sign: str, text: str) -> str:
    """Return the text without a sign at its end, or at its start or behind a plus or minus there."""
    before, found, after = (part.strip() for part in text.partition(sign))
    if not found or (before not in ("", "+", "-") and after):
        return text
    return before + after
