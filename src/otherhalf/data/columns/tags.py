"""Columns with several tags in a cell: one column per frequent tag, and hashed columns for the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.columns import tag_text
from otherhalf.data.columns.cells import BoolArray, Cells
from otherhalf.data.columns.column import Column
from otherhalf.data.columns.hashing import buckets, short_text, signs, stable_hashes
from otherhalf.data.notes import counted
from otherhalf.system.arrays import IntArray

MOST = 100
"""Number of tags that have a column of their own."""

BUCKETS = 32


@dataclass(frozen=True, eq=False)
class TagsColumn(Column):
    """What was learned from a column of tags. A tag that the fit did not have is ignored. An empty list is
    not a gap.

    Attributes:
        style: How tags are written.
        tags: The tags with a column of their own, the most frequent first.
        rest: The hashes of the other tags that occur twice or more, ascending.
        distinct: Number of distinct tags of the fit.
    """

    kind: ClassVar[str] = "tags"

    style: str
    tags: tuple[str, ...]
    rest: IntArray
    distinct: int

    @classmethod
    def learn(cls, column: pd.Series[Any] | Cells) -> Self:
        """Learn which tags there are and how often they occur."""
        cells = Cells.of(column)
        style = _style(cells)
        _, codes, texts = tag_text.read_tags(cells, style)
        counts = np.bincount(codes, minlength=len(texts))
        often = np.flatnonzero(counts >= 2)
        if not len(often):  # a very small table
            often = np.arange(len(texts))
        ranked = sorted(often.tolist(), key=lambda place: (-counts[place], texts[place]))
        rest = np.sort(stable_hashes(str(texts[place]) for place in ranked[MOST:]))
        tags = tuple(str(texts[place]) for place in ranked[:MOST])
        filled = len(codes) / max(1, len(cells))
        return cls(cells.name, filled, bool(tag_gaps(cells).any()), style, tags, rest, len(texts))

    def apply(self, column: pd.Series[Any] | Cells) -> sp.csr_matrix:
        """Return 1 for each tag of a row, and the sum of the signs of its rarer tags in their buckets."""
        cells = Cells.of(column)
        rows, codes, texts = tag_text.read_tags(cells, self.style)
        hashes = stable_hashes(str(text) for text in texts)
        place = {tag: index for index, tag in enumerate(self.tags)}
        columns = np.array([place.get(str(text), -1) for text in texts], dtype=np.int64)
        values = np.ones(len(texts), dtype=np.float32)
        if len(self.rest):
            found = self.rest[np.minimum(np.searchsorted(self.rest, hashes), len(self.rest) - 1)] == hashes
            rare = found & (columns < 0)
            columns[rare] = len(self.tags) + buckets(hashes[rare], BUCKETS)
            values[rare] = signs(hashes[rare])
        kept = columns[codes] >= 0
        rows, codes = rows[kept], codes[kept]
        parts = [(rows, columns[codes], values[codes])]
        if self.missing:
            gaps = np.flatnonzero(tag_gaps(cells))
            last = np.full(len(gaps), len(self.names) - 1)
            parts.append((gaps, last, np.ones(len(gaps), dtype=np.float32)))
        where, which, what = (np.concatenate(part) for part in zip(*parts, strict=True))
        matrix = sp.csr_matrix((what, (where, which)), shape=(len(cells), len(self.names)), dtype=np.float32)
        matrix.sort_indices()
        return matrix

    @property
    def names(self) -> tuple[str, ...]:
        """The frequent tags, the buckets, gaps."""
        hashed = [f"{self.name}#{bucket}" for bucket in range(BUCKETS)] if len(self.rest) else []
        gaps = [f"{self.name}: missing"] if self.missing else []
        return (*(f"{self.name}={short_text(tag)}" for tag in self.tags), *hashed, *gaps)

    @property
    def becomes(self) -> str:
        """How many columns."""
        text = f"{counted(len(self.tags), 'column')} of 0 and 1"
        text += f", {BUCKETS} hashed columns for {len(self.rest)} rarer tags" if len(self.rest) else ""
        return text + (", gaps marked" if self.missing else "")


def _style(cells: Cells) -> str:
    if cells.lists is not None:
        return tag_text.LISTS
    texts = cells.texts[cells.sample].tolist()
    if tag_text.in_brackets(texts):
        return tag_text.BRACKETS
    mark = tag_text.choose_mark(texts, cells.counts[cells.sample].tolist())
    if mark is not None:
        return mark
    return max(tag_text.MARKS, key=lambda candidate: sum(candidate in text for text in texts))


def tag_gaps(cells: Cells) -> BoolArray:
    """Return the rows in which nothing is known; an empty list is known."""
    if cells.lists is None:
        return cells.codes < 0
    gaps = ~cells.lists
    gaps[gaps] = tag_text.not_lists(cells).codes < 0
    return gaps
