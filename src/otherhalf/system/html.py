"""Small pieces of HTML for notebooks: no script, no external resource, readable on light and dark pages.

Every text that is given is escaped here, and colours are inherited from the page or half transparent.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

BLUE, ORANGE = "#4c8bf5", "#e8833a"
"""Two colours that are seen on white and on black."""

LONGEST = 60
"""Most characters of a name; a longer one is cut."""

_LINE = "1px solid rgba(128,128,128,.35)"
_CELL = "padding:2px 12px 2px 0;border:none;background:transparent;vertical-align:top;max-width:46em;"
_ROW = '<tr style="background:transparent">'


def card(title: str, *parts: str) -> str:
    """Return a box with a title around pieces of HTML; empty ones are left out."""
    head = f'<div style="font-weight:600;padding-bottom:4px">{escape(title)}</div>'
    style = f"border:{_LINE};border-radius:6px;padding:8px 12px;margin:2px 0;display:inline-block;"
    style += "max-width:60em;font-size:13px;line-height:1.45;text-align:left;color:inherit"
    return f'<div style="{style}">{head}{"".join(parts)}</div>'


def paragraph(text: str) -> str:
    """Return a text as a paragraph; nothing for no text."""
    return f'<p style="margin:4px 0;font-size:inherit">{escape(text)}</p>' if text else ""


def facts(values: Mapping[str, Any]) -> str:
    """Return names and their values, one in each row; values that are None are left out."""
    rows = "".join(
        f"{_ROW}{_cell(name, muted=True)}{_cell(value)}</tr>"
        for name, value in values.items()
        if value is not None
    )
    return _table(rows)


def table(names: Sequence[str], rows: Iterable[Sequence[Any]], bars: int | None = None) -> str:
    """Return a table whose columns after the first are numbers.

    Args:
        names: Names of the columns.
        rows: Cells; numbers are written as they are given.
        bars: Place of a column of shares from 0 to 1 that are drawn as bars, too.
    """
    head = "".join(_cell(name, right=place not in (0, bars), muted=True) for place, name in enumerate(names))
    body = "".join(
        _ROW
        + "".join(
            _share(cell) if place == bars else _cell(cell, right=place > 0) for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return _table(f"{_ROW}{head}</tr>{body}")


def two_curves(names: Sequence[str], curves: Sequence[Sequence[float]], ends: Sequence[str]) -> str:
    """Return a small drawing of two curves over one range, with their names and the ends of the range."""
    width, height = 320, 70
    top = max((max(curve, default=0.0) for curve in curves), default=0.0) or 1.0
    drawn = legend = ""
    for name, curve, colour in zip(names, curves, (BLUE, ORANGE), strict=True):
        step, scale = width / max(1, len(curve) - 1), height / top
        points = " ".join(f"{i * step:.1f},{height - value * scale:.1f}" for i, value in enumerate(curve))
        drawn += f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        mark = f'<span style="color:{colour}">━</span>'
        legend += f'<span style="padding-right:12px;white-space:nowrap">{mark} {escape(name)}</span>'
    drawn += f'<path d="M0 {height}h{width}" stroke="currentColor" stroke-opacity=".4"/>'
    low, high = (escape(end) for end in ends)
    range_ = f'<span style="opacity:.7">{low}</span><span style="float:right;opacity:.7">{high}</span>'
    box = f'viewBox="0 -2 {width} {height + 4}" width="{width}" height="{height + 4}"'
    label = escape(f"Curves of {' and '.join(names)}")
    return (
        f'<div style="width:{width}px;margin:4px 0"><svg {box} role="img" aria-label="{label}">{drawn}</svg>'
        f"<div>{range_}</div><div>{legend}</div></div>"
    )


def shortened(name: Any) -> str:
    """Return a name as text, cut if it is long."""
    text = str(name)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _cell(value: Any, *, right: bool = False, muted: bool = False) -> str:
    style = _CELL + ("text-align:right;" if right else "text-align:left;")
    style += "opacity:.7;white-space:nowrap;" if muted else ""
    return f'<td style="{style}">{escape(str(value))}</td>'


def _share(value: float) -> str:
    bar = f'<span style="display:inline-block;height:8px;background:{BLUE};width:{60 * value:.0f}px"></span>'
    text = f'<span style="display:inline-block;width:3.5em;text-align:right">{value:.0%}</span>'
    return f'<td style="{_CELL}text-align:left;white-space:nowrap">{text} {bar}</td>'


def _table(rows: str) -> str:
    style = "border-collapse:collapse;border:none;margin:4px 0;background:transparent;"
    style += "color:inherit;font-size:inherit"
    return f'<table style="{style}"><tbody>{rows}</tbody></table>'
