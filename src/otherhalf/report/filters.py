"""How templates write numbers and texts; what is unknown is a dash."""

import json
import re
from typing import Any

from markupsafe import Markup, escape

LONGEST = 80
"""Most characters of a name in a table; a longer one is cut."""

UNKNOWN = "–"
BOLD = re.compile(r"\*\*(.+?)\*\*")


def count(value: int | None) -> str:
    """Return an integer with commas."""
    return UNKNOWN if value is None else f"{value:,}"


def fixed(value: float | None, digits: int = 3) -> str:
    """Return a number with this many decimals."""
    return UNKNOWN if value is None else f"{value:.{digits}f}".replace("-", "\u2212")


def share(value: float | None, digits: int = 1) -> str:
    """Return a share of 1 in percent."""
    return UNKNOWN if value is None else f"{100 * value:.{digits}f}%"


def seconds(value: float | None) -> str:
    """Return a duration."""
    return UNKNOWN if value is None else f"{value:,.1f} s"


def cut(text: Any, longest: int = LONGEST) -> str:
    """Return a text that there is room for."""
    text = str(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def nested(value: Any) -> str:
    """Return settings as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def marked(text: str) -> Markup:
    """Return a text, escaped, whose ``**bold**`` parts are bold and whose lines are lines."""
    return Markup(BOLD.sub(r"<b>\1</b>", str(escape(text))).replace("\n", "<br>"))


FILTERS = {each.__name__: each for each in (count, fixed, share, seconds, cut, nested, marked)}
"""Filters of the templates, by name."""
