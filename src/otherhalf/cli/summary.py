"""What a command prints for a person: sentences, small tables and histograms, and the next command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from otherhalf.cli.drawing import GAP, INDENT, Column, Paper, merged

BOLD, DIM, WARNING = "1", "2", "33"
COLOURS = ("36", "35")
"""Codes of styles: bold, grey, yellow; and the colours of histograms in turn, cyan and magenta."""


class Summary:
    """Lines that a command prints, in parts with an empty line between them."""

    def __init__(self, paper: Paper | None = None) -> None:
        self.paper = paper or Paper.of(sys.stdout)
        self._lines: list[tuple[str, str]] = []

    def part(self) -> None:
        """Begin a new part."""
        if self._lines and self._lines[-1][0]:
            self._lines.append(("", ""))

    def say(self, text: str, style: str = "") -> None:
        """Add a paragraph; an empty text adds nothing."""
        if text:
            self._lines += [(line, style) for line in self.paper.wrapped(text)]

    def item(self, text: str) -> None:
        """Add an item of a list."""
        first, *rest = self.paper.wrapped(text, INDENT)
        self._lines += [(f"- {first.removeprefix(INDENT)}", ""), *((line, "") for line in rest)]

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str | float | None]]) -> None:
        """Add a table as a part of its own; one without rows is left out."""
        if rows:
            heading, *lines = self.paper.table(columns, rows)
            self.part()
            self._lines += [(heading, DIM), *((line, "") for line in lines)]

    def histograms(
        self, title: str, ends: tuple[str, str], rows: Sequence[tuple[str, Sequence[float], str]]
    ) -> None:
        """Add histograms over the same bins, a line each, as a part of its own.

        Args:
            title: What is counted.
            ends: The values at the two ends.
            rows: The name, the heights and a remark of each.
        """
        names = [self.paper.letters(name) for name, _, _ in rows]
        wide = max(map(len, names))
        before = len(INDENT) + wide + len(GAP)
        after = max(len(remark) for *_, remark in rows) + len(GAP)
        most = max(1, self.paper.width - before - after)
        heights = [merged(each, most) for _, each, _ in rows]
        top, bins = max(map(max, heights)) or 1.0, len(heights[0])
        self.part()
        self._lines.append((self.paper.cut(INDENT + self.paper.letters(title), self.paper.width), DIM))
        for place, (name, each, (_, _, remark)) in enumerate(zip(names, heights, rows, strict=True)):
            drawn = f"{self.paper.strip(each, top):{bins}}"
            line = f"{INDENT}{name:{wide}}{GAP}{drawn}{GAP}{remark}".rstrip()
            self._lines.append((line, COLOURS[place % len(COLOURS)]))
        left, right = map(self.paper.letters, ends)
        self._lines.append((" " * before + left + right.rjust(max(bins - len(left), len(right) + 1)), DIM))

    def next(self, *commands: str) -> None:
        """Add the commands to type next, each in a line that can be copied."""
        self.part()
        self._lines.append(("Next:", DIM))
        # It is not cut, and its letters are not changed: it has to work.
        self._lines += [(f"{INDENT}{command}", BOLD) for command in commands]

    def __str__(self) -> str:
        return "\n".join(self._styled(line, style) for line, style in self._lines)

    def _styled(self, line: str, style: str) -> str:
        return f"\x1b[{style}m{line}\x1b[0m" if style and line and self.paper.styled else line

    def print(self) -> None:
        """Print the lines on standard output."""
        print(self)
