"""A table of text cells, for a page (Markdown) and for a terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable

BOLD = re.compile(r"\*\*(.+?)\*\*")
BOTH = ("", "bold")


@dataclass
class Table:
    """Columns and rows; a cell may have several lines, and ``**bold**`` in it.

    ``notes`` are sentences that stand under the table.
    """

    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """One more row."""
        if len(cells) != len(self.columns):
            raise ValueError(f"a row of {len(cells)} cells does not fit {len(self.columns)} columns")
        self.rows.append(list(cells))

    def markdown(self) -> str:
        """The table for a page, its notes after it."""
        lines = [_line(self.columns), _line(["---", *["---:"] * (len(self.columns) - 1)])]
        lines += [_line([cell.replace("\n", "<br>") for cell in row]) for row in self.rows]
        return "\n".join(lines) + "".join(f"\n\n{note}" for note in self.notes) + "\n"

    def rich(self, title: str = "") -> RichTable:
        """The table for a terminal, its notes as the caption."""
        from rich.table import Table as RichTable
        from rich.text import Text

        # Text and not markup: a name may have brackets in it.
        caption = Text("\n".join(_plain(note) for note in self.notes), style="table.caption")
        heading = Text(title, style="table.title")
        table = RichTable(title=heading or None, caption=caption or None, caption_justify="left")
        for index, column in enumerate(self.columns):
            table.add_column(Text(column), justify="right" if index else "left", no_wrap=True)
        for row in self.rows:
            # What stands between the marks has an odd place among the parts.
            parts = [enumerate(BOLD.split(cell)) for cell in row]
            table.add_row(*(Text.assemble(*((p, BOTH[i % 2]) for i, p in cell)) for cell in parts))
        return table


def best_in_bold(cells: list[str], values: list[float | None]) -> list[str]:
    """The cells with the first line of the largest value bold; ties all."""
    known = [value for value in values if value is not None]
    if not known:
        return cells
    marked = []
    for cell, value in zip(cells, values, strict=True):
        first, rest = cell.partition("\n")[::2]
        bold = value is not None and round(value, 6) == round(max(known), 6)
        marked.append((f"**{first}**" if bold else first) + (f"\n{rest}" if rest else ""))
    return marked


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _plain(text: str) -> str:
    return BOLD.sub(r"\1", text)
