"""A table of text cells, printed as Markdown or on a terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable

BOLD = re.compile(r"\*\*(.+?)\*\*")
STYLES = ("", "bold")


@dataclass
class Table:
    """A table; a cell may have several lines and contain ``**bold**`` text.

    Attributes:
        columns: Headings.
        rows: Rows of cells.
        notes: Paragraphs below the table.
    """

    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Add a row."""
        if len(cells) != len(self.columns):
            raise ValueError(f"a row of {len(cells)} cells does not fit {len(self.columns)} columns")
        self.rows.append(list(cells))

    def markdown(self) -> str:
        """Return the table and its notes as Markdown."""
        lines = [_line(self.columns), _line(["---", *["---:"] * (len(self.columns) - 1)])]
        lines += [_line([cell.replace("\n", "<br>") for cell in row]) for row in self.rows]
        return "\n".join(lines) + "".join(f"\n\n{note}" for note in self.notes) + "\n"

    def rich(self, title: str = "") -> RichTable:
        """Return the table for a terminal, with the notes as its caption."""
        from rich.table import Table as RichTable
        from rich.text import Text

        # Text and not markup: names may contain brackets.
        caption = Text("\n".join(BOLD.sub(r"\1", note) for note in self.notes), style="table.caption")
        heading = Text(title, style="table.title")
        table = RichTable(title=heading or None, caption=caption or None, caption_justify="left")
        for index, column in enumerate(self.columns):
            table.add_column(Text(column), justify="right" if index else "left", no_wrap=True)
        for row in self.rows:
            # The bold parts have odd positions.
            parts = [enumerate(BOLD.split(cell)) for cell in row]
            table.add_row(*(Text.assemble(*((p, STYLES[i % 2]) for i, p in cell)) for cell in parts))
        return table


def best_in_bold(cells: list[str], values: list[float | None]) -> list[str]:
    """Return the cells with the first line of the largest value in bold; of equal values, all."""
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
