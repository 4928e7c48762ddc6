"""Charts as inline SVG text: no plotting library, colours from the style sheet, a title for screen readers.

A chart is :data:`WIDTH` units wide, so that its letters keep their size on a phone. Every text that is given
is escaped, and every number is formatted as one, so that nothing of a user's data becomes markup.
"""

from collections.abc import Callable, Iterable, Sequence
from math import floor, isfinite, log10
from typing import NamedTuple

from markupsafe import Markup, escape

WIDTH = 340
LEFT, RIGHT = 34, 332
"""Where the plotting area of a chart with two axes begins and ends."""

LONGEST = 44
"""Most characters of a label; a longer one is cut."""

SERIES = 6
"""Number of line styles that the style sheet has."""


class Bar(NamedTuple):
    """A row of :func:`bars`: a label, a value, and the ends of its interval; None where unknown."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


class Line(NamedTuple):
    """A line of :func:`lines`: name, values at 0, step, 2 · step …, where its mark is, and its style."""

    name: str
    values: Sequence[float | None]
    step: float = 1.0
    mark: float | None = None
    style: int = 0


class Point(NamedTuple):
    """A point of :func:`reliability`: mean confidence, accuracy and number of the nodes in it."""

    confidence: float
    accuracy: float
    nodes: int


def scale(value: float, spread: float | None, threshold: float, zones: tuple[str, str], title: str) -> Markup:
    """Return a value on a line from 0 to 1 with its spread, a threshold, and the names of both sides."""
    place = _linear(0, 1, 8, WIDTH - 8)
    at, limit, line = place(value), place(threshold), 46
    around = 3 * (spread or 0.0)
    parts = [
        f'<path class="band low" d="M{place(0):.1f} {line}H{limit:.1f}"/>',
        f'<path class="band high" d="M{limit:.1f} {line}H{place(1):.1f}"/>',
        f'<path class="limit" d="M{limit:.1f} {line - 13}V{line + 13}"/>',
        f'<path class="whisker" d="M{place(value - around):.1f} {line}H{place(value + around):.1f}"/>',
        f'<circle class="dot" cx="{at:.1f}" cy="{line}" r="7"/>',
        _text(at, 22, f"D = {value:.3f}", "strong", _anchor(at)),
        _text(limit, line + 28, f"threshold {threshold:g}", "", _anchor(limit)),
        _text(place(0), line + 44, f"← {zones[0]}", "muted"),
        _text(place(1), line + 44, f"{zones[1]} →", "muted", "end"),
    ]
    return _chart(title, f"D is {value:.3f}; the threshold is {threshold:g}.", 96, parts)


def histograms(bins: Sequence[float], heights: Sequence[Sequence[float]], title: str, axis: str) -> Markup:
    """Return two histograms over each other; the second one has a dashed outline."""
    height, top = 190, 10
    base = height - 34
    x = _linear(bins[0], bins[-1], LEFT, RIGHT)
    y = _linear(0, max((max(series, default=0.0) for series in heights), default=0.0) or 1.0, base, top)
    parts = [_x_axis(x, bins[0], bins[-1], base, axis)]
    for number, series in enumerate(heights):
        steps = "".join(
            f"L{x(low):.1f} {y(value):.1f}H{x(high):.1f}"
            for low, high, value in zip(bins[:-1], bins[1:], series, strict=True)
        )
        path = f"M{x(bins[0]):.1f} {base}{steps}V{base}Z"
        parts.append(f'<path class="area s{number}" d="{path}"/>')
    return _chart(title, "", height, parts)


def bars(rows: Sequence[Bar], title: str, *, digits: int = 3, most: float = 1.0, mark: int = -1) -> Markup:
    """Return horizontal bars with intervals, each below its label; ``mark`` is the row with the accent."""
    known = [number for row in rows for number in (row.value, row.low, row.high) if number is not None]
    low, high = min([0.0, *known]), max([most, *known])
    x = _linear(low, high, 0, WIDTH)
    parts, told = [], []
    for number, row in enumerate(rows):
        top = 38 * number
        shown = "unknown" if row.value is None else f"{row.value:.{digits}f}"
        note = f" · {row.note}" if row.note else ""
        parts.append(_text(0, top + 13, f"{_short(row.label)}{note}"))
        parts.append(_text(WIDTH, top + 13, shown, "strong", "end"))
        parts.append(f'<rect class="track" x="0" y="{top + 19}" width="{WIDTH}" height="9" rx="2"/>')
        told.append(f"{_short(row.label)}: {shown}{_interval(row, digits)}")
        if row.value is None:
            continue
        start, end = sorted((x(0), x(row.value)))
        style = "bar s0" if mark in (-1, number) else "bar s1"
        sides = f'x="{start:.1f}" y="{top + 19}" width="{end - start:.1f}" height="9"'
        parts.append(f'<rect class="{style}" {sides} rx="2"/>')
        if row.low is not None and row.high is not None:
            ends = f"M{x(row.low):.1f} {top + 23.5}H{x(row.high):.1f}"
            ticks = "".join(f"M{x(end):.1f} {top + 18}v11" for end in (row.low, row.high))
            parts.append(f'<path class="whisker" d="{ends}{ticks}"/>')
    if low < 0:
        ticks = "".join(f"M{x(0):.1f} {38 * number + 17}v13" for number in range(len(rows)))
        parts.append(f'<path class="zero" d="{ticks}"/>')
    return _chart(title, "; ".join(told), 38 * len(rows), parts)


def climb(points: Sequence[tuple[float | None, bool]], title: str, x_axis: str, y_axis: str) -> Markup:
    """Return values in their order, and a line of the best so far; True marks the one with the accent.

    A value that is unknown leaves a gap. Larger values are better.
    """
    height, top = 220, 24
    base = height - 34
    known = [value for value, _ in points if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    x, y = _linear(0, max(1, len(points) - 1), LEFT + 6, RIGHT - 6), _linear(low, high, base - 8, top + 6)
    parts = [_text(0, 12, y_axis, "muted"), _x_axis(x, 0, max(1, len(points) - 1), base, x_axis)]
    for tick in _ticks(low, high, 4):
        parts.append(f'<path class="grid" d="M{LEFT} {y(tick):.1f}H{RIGHT}"/>')
        parts.append(_text(LEFT - 5, y(tick) + 4, f"{tick:g}", "muted", "end"))
    best, path = None, ""
    for place, (value, _) in enumerate(points):
        if value is not None and (best is None or value > best):
            path += f"M{x(place):.1f} {y(value):.1f}" if best is None else f"H{x(place):.1f}V{y(value):.1f}"
            best = value
    parts.append(f'<path class="line s0" d="{path}H{x(len(points) - 1):.1f}"/>' if path else "")
    for place, (value, marked) in enumerate(points):
        if value is not None:
            centre = f'cx="{x(place):.1f}" cy="{y(value):.1f}"'
            style, radius = ("s1", 6) if marked else ("s0", 3.5)
            parts.append(f'<circle class="mark {style}" {centre} r="{radius}"/>')
    told = f"{len(known)} values; the best is {best:.4f}" if best is not None else "no value"
    return _chart(title, told, height, parts)


def lines(series: Sequence[Line], title: str, x_axis: str, y_axis: str) -> Markup:
    """Return lines over one another, with a dot at the mark of each; gaps stay gaps."""
    height, top = 200, 24
    base = height - 34
    known = [v for line in series for v in line.values if v is not None and isfinite(v)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    last = max((line.step * (len(line.values) - 1) for line in series), default=1.0) or 1.0
    x, y = _linear(0, last, LEFT, RIGHT), _linear(low, high, base, top)
    parts = [_text(0, 12, y_axis, "muted"), _x_axis(x, 0, last, base, x_axis)]
    for tick in _ticks(low, high, 4):
        parts.append(f'<path class="grid" d="M{LEFT} {y(tick):.1f}H{RIGHT}"/>')
        parts.append(_text(LEFT - 5, y(tick) + 4, f"{tick:g}", "muted", "end"))
    for line in series:
        style = f"s{line.style % SERIES}"
        path, pen = "", "M"
        for place, value in enumerate(line.values):
            if value is None or not isfinite(value):
                pen = "M"
                continue
            path += f"{pen}{x(place * line.step):.1f} {y(value):.1f}"
            pen = "L"
        parts.append(f'<path class="line {style}" d="{path}"/>')
        if line.mark is not None:
            value = _value_at(line)
            if value is not None:
                centre = f'cx="{x(line.mark):.1f}" cy="{y(value):.1f}"'
                parts.append(f'<circle class="mark {style}" {centre} r="4"/>')
    return _chart(title, f"{len(series)} lines: " + ", ".join(line.name for line in series), height, parts)


def reliability(points: Sequence[Point], title: str) -> Markup:
    """Return accuracy over confidence; on the diagonal, a model is right as often as it says."""
    height, top = 264, 24
    base = height - 34
    x, y = _linear(0, 1, LEFT, RIGHT), _linear(0, 1, base, top)
    parts = [
        _text(0, 12, "share that is right", "muted"),
        _x_axis(x, 0, 1, base, "confidence: how sure the model says it is"),
        f'<path class="limit" d="M{x(0):.1f} {y(0):.1f}L{x(1):.1f} {y(1):.1f}"/>',
    ]
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        parts.append(f'<path class="grid" d="M{LEFT} {y(tick):.1f}H{RIGHT}"/>')
        parts.append(_text(LEFT - 5, y(tick) + 4, f"{tick:g}", "muted", "end"))
    most = max((point.nodes for point in points), default=1) or 1
    drawn = sorted((point for point in points if point.nodes), key=lambda point: point.confidence)
    way = "L".join(f"{x(point.confidence):.1f} {y(point.accuracy):.1f}" for point in drawn)
    parts.append(f'<path class="line s0" d="M{way}"/>' if way else "")
    for point in drawn:
        place = f'cx="{x(point.confidence):.1f}" cy="{y(point.accuracy):.1f}"'
        parts.append(f'<circle class="mark s0" {place} r="{2.5 + 6 * (point.nodes / most) ** 0.5:.1f}"/>')
    told = (f"confidence {p.confidence:.2f}, right {p.accuracy:.2f}, {p.nodes} nodes" for p in drawn)
    return _chart(title, "; ".join(told), height, parts)


def _chart(title: str, description: str, height: float, parts: Iterable[str]) -> Markup:
    told = f"<desc>{escape(description)}</desc>" if description else ""
    return Markup(  # every part is made of numbers and escaped text
        f'<svg class="chart" role="img" viewBox="0 0 {WIDTH} {height}"><title>{escape(title)}</title>{told}'
        f"{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _x_axis(x: Callable[[float], float], low: float, high: float, base: float, name: str) -> str:
    parts = [f'<path class="axis" d="M{x(low):.1f} {base}H{x(high):.1f}"/>']
    parts += [_text(x(tick), base + 14, f"{tick:g}", "muted", "middle") for tick in _ticks(low, high, 6)]
    return "".join([*parts, _text((LEFT + RIGHT) / 2, base + 30, name, "muted", "middle")])


def _linear(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Return the function from low … high to start … end; values beyond the ends stay at them."""
    span = high - low or 1.0
    return lambda value: start + (end - start) * min(1.0, max(0.0, (value - low) / span))


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers from low to high, at most about ``most`` of them; they have ten digits."""
    if not high - low > 1e-9:
        return [low]
    raw = (high - low) / most
    size = 10.0 ** floor(log10(raw))
    step = next(factor * size for factor in (1, 2, 2.5, 5, 10) if factor * size >= raw * 0.999)
    first = floor(low / step + 0.999)
    return [round(number * step, 10) for number in range(first, floor(high / step + 0.001) + 1)]


def _value_at(line: Line) -> float | None:
    """Return the value of a line at its mark, if it has one there."""
    place = round((line.mark or 0) / line.step) if line.step else 0
    return line.values[place] if 0 <= place < len(line.values) else None


def _interval(row: Bar, digits: int) -> str:
    if row.low is None or row.high is None:
        return ""
    return f" (from {row.low:.{digits}f} to {row.high:.{digits}f})"


def _anchor(place: float) -> str:
    """Return where a text hangs, so that it stays inside the chart."""
    return "start" if place < 60 else "end" if place > WIDTH - 60 else "middle"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
