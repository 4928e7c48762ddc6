"""What is in the cells of a column that cannot be used, or that the fit did not have: counted, and said."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from otherhalf.data.columns.cells import Cells
from otherhalf.data.columns.column import Column
from otherhalf.data.columns.tags import tag_gaps
from otherhalf.data.notes import counted

_SHOWN = 5


@dataclass(frozen=True)
class Surprises:
    """The surprises of one column, over all parts of a table.

    Attributes:
        column: What was learned from the column.
        wrong: Texts that do not fit the kind, and how many rows have each.
        unseen: Values that the fit did not have and that have no place, and how many rows have each.
        gaps: Number of gaps, if the fit had none; as a list, because the parts of a table add to it.
    """

    column: Column
    wrong: Counter[str] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)
    gaps: list[int] = field(default_factory=list)

    def add(self, cells: Cells) -> None:
        """Count the surprises in a part of the rows."""
        self.wrong.update(_rows_with(cells, self.column.unreadable(cells)))
        self.unseen.update(_rows_with(cells, self.column.unseen(cells)))
        if not self.column.missing:
            self.gaps.append(int((tag_gaps(cells) if cells.lists is not None else cells.gaps).sum()))

    @property
    def sentences(self) -> list[str]:
        """What a user should know."""
        found = []
        if self.wrong:
            found.append(wrong_note(self.wrong, self.column.kind))
        if self.unseen:
            rows = self.unseen.total()
            are = "1 cell is new and counts" if rows == 1 else f"{rows:,} cells are new and count"
            found.append(f"{are} as no value, because the fit did not have it: {_examples(self.unseen)}")
        if sum(self.gaps):
            are = "is 1 gap" if sum(self.gaps) == 1 else f"are {counted(sum(self.gaps), 'gap')}"
            found.append(f"there {are}, and the fit had none: what is usual stands there")
        return found


def wrong_cells(cells: Cells, column: Column) -> Counter[str]:
    """Return the texts that do not fit the kind, and how many rows have each."""
    return _rows_with(cells, column.unreadable(cells))


def wrong_note(wrong: Counter[str], kind: str) -> str:
    """Return a sentence about cells that do not fit the kind."""
    rows = wrong.total()
    what = f"1 cell is no {kind} and counts" if rows == 1 else f"{rows} cells are no {kind} and count"
    return f"{what} as a gap: {_examples(wrong)}"


def _rows_with(cells: Cells, texts: list[str]) -> Counter[str]:
    if not texts:
        return Counter()
    rows = dict(zip(cells.texts.tolist(), cells.counts.tolist(), strict=True))
    return Counter({text: rows[text] for text in texts})


def _examples(texts: Counter[str]) -> str:
    many = " and others" if len(texts) > _SHOWN else ""
    return ", ".join(repr(text[:40]) for text in sorted(texts)[:_SHOWN]) + many
