"""Tables, bars and histograms as text: no wider than the terminal, in letters that it has."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.cells import cell_len, set_cell_size

from otherhalf.errors import printable

NARROWEST, WIDEST = 20, 100
"""Fewest and most columns of a line: longer lines are hard to read, however wide the terminal is."""

INDENT, GAP = "  ", "  "
LEAST = 6
"""Columns that a cell of text keeps at least, if it needs them."""

LONGEST_BAR, SHORTEST_BAR = 24, 4
"""Columns of the bar of the share 1; where a table leaves fewer, it has no bars."""

LEVELS, PLAIN_LEVELS = " ▁▂▃▄▅▆▇█", " .:-=+*%#"
EIGHTHS = " ▏▎▍▌▋▊▉█"
SIGNS = {
    "…": "...",
    "–": "-",
    "−": "-",
    "±": "+-",
    "×": "x",
    "≥": ">=",
    "≤": "<=",
    "√": "sqrt ",
}
"""Signs of this package's own sentences, and what stands for them in ASCII."""


@dataclass(frozen=True)
class Paper:
    """What a stream can show.

    Attributes:
        width: Columns of a line.
        encoding: Encoding of the stream.
        signs: Whether signs that are not ASCII are drawn.
        styled: Whether text may be bold or coloured.
    """

    width: int = 80
    encoding: str = "utf-8"
    signs: bool = True
    styled: bool = False

    @classmethod
    def of(cls, stream: TextIO) -> Paper:
        """Return what a stream can show: a pipe or a file has 80 columns, or those of ``COLUMNS``."""
        terminal = stream.isatty()
        encoding = stream.encoding or "utf-8"
        return cls(
            min(WIDEST, max(NARROWEST, shutil.get_terminal_size().columns)),
            encoding,
            not _wants_ascii() and _has(encoding, LEVELS + EIGHTHS + "".join(SIGNS)),
            terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        )

    def letters(self, text: str) -> str:
        """Return text for one line, in letters that the stream has; others are written out."""
        shown = printable(text)
        if not self.signs:
            shown = "".join(SIGNS.get(sign, sign) for sign in shown)
        if shown.isascii():
            return shown
        return shown.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def cut(self, text: str, width: int) -> str:
        """Return text without the end that is beyond a width."""
        if cell_len(text) <= width:
            return text
        end = self.letters("…")[:width]
        return set_cell_size(text, width - len(end)).rstrip() + end

    def wrapped(self, text: str, indent: str = "") -> list[str]:
        """Return a paragraph as lines; a word that is longer than a line, such as a path, stays whole."""
        lines: list[str] = []
        line, room = "", self.width - len(indent)
        for word in self.letters(text).split(" "):
            longer = f"{line} {word}" if line else word
            if line and cell_len(longer) > room:
                lines.append(indent + line)
                longer = word
            line = longer
        return [*lines, indent + line]

    def bar(self, share: float, width: int) -> str:
        """Return a bar of a share of the width; it is seen if it is more than 0, and full from 1 on."""
        share = min(share, 1.0)
        if not self.signs:
            return "#" * (max(1, round(share * width)) if share > 0 else 0)
        eighths = max(1, round(8 * share * width)) if share > 0 else 0
        return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()

    def strip(self, heights: Sequence[float], top: float) -> str:
        """Return a histogram in one line, a column per bin; a bin that is not 0 is seen.

        Args:
            heights: Heights of the bins.
            top: Height of the tallest column, also that of other histograms beside it.
        """
        levels = LEVELS if self.signs else PLAIN_LEVELS
        return "".join(
            levels[min(8, max(1, round(8 * height / top)))] if height > 0 else " " for height in heights
        )

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str | float | None]]) -> list[str]:
        """Return a table, its headings first.

        Columns of text are cut where the table would be too wide, the widest first. Numbers are never cut: a
        table of many of them may be wider than the line.

        Args:
            columns: The columns.
            rows: A cell for each column: text or, in a column of bars, a share of 1 or None.
        """
        texts = [
            [self.letters(column.heading), *(self.letters(cell) for cell in cells if isinstance(cell, str))]
            for column, cells in zip(columns, zip(*rows, strict=True), strict=True)
        ]
        widths = [
            0 if column.bars else max(map(cell_len, cells))
            for column, cells in zip(columns, texts, strict=True)
        ]
        used = [place for place, column in enumerate(columns) if not column.bars]
        taken = len(INDENT) + len(GAP) * (len(used) - 1)
        _shrink(widths, [place for place in used if not columns[place].right], self.width - taken)
        free = self.width - taken - sum(widths) - len(GAP)
        longest = min(LONGEST_BAR, free) if free >= SHORTEST_BAR else 0
        lines = []
        for number in range(len(rows) + 1):
            cells = []
            for place, (column, width) in enumerate(zip(columns, widths, strict=True)):
                if not column.bars:
                    text = self.cut(texts[place][number], width)
                    space = " " * (width - cell_len(text))
                    cells.append(space + text if column.right else text + space)
                elif longest:
                    share = rows[number - 1][place] if number else None
                    bar = self.bar(share, longest) if isinstance(share, float) else ""
                    cells.append(f"{bar:{longest}}")
            lines.append((INDENT + GAP.join(cells)).rstrip())
        return lines


@dataclass(frozen=True)
class Column:
    """A column of a table: text, or with ``right`` numbers, or with ``bars`` the bars of shares."""

    heading: str
    right: bool = False
    bars: bool = False


def merged(heights: Sequence[float], most: int) -> list[float]:
    """Return a histogram of at most so many bins: neighbouring bins become one, of their mean height."""
    size = -(-len(heights) // most)
    parts = [heights[start : start + size] for start in range(0, len(heights), size)]
    return [sum(part) / len(part) for part in parts]


def _shrink(widths: list[int], places: Sequence[int], room: int) -> None:
    """Make the widest of some columns narrower until all columns have room, or these are very narrow."""
    while sum(widths) > room and (wide := [place for place in places if widths[place] > LEAST]):
        widest = max(wide, key=lambda place: widths[place])
        widths[widest] -= 1


def _wants_ascii() -> bool:
    """Return whether the locale is C, which Python itself takes for UTF-8, and nothing else is said."""
    said = any(os.environ.get(name) for name in ("PYTHONIOENCODING", "PYTHONUTF8"))
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    return not said and next(filter(None, names), "") in ("C", "POSIX")


def _has(encoding: str, signs: str) -> bool:
    try:
        signs.encode(encoding)
    except (UnicodeError, LookupError):
        return False
    return True
