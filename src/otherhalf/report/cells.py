"""The columns that a user knows: which features belong to each, and what a node's cell was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otherhalf.data.columns.boolean import BooleanColumn
from otherhalf.data.columns.category import CategoryColumn
from otherhalf.data.columns.column import Column
from otherhalf.data.columns.number import NumberColumn
from otherhalf.data.columns.tags import TagsColumn
from otherhalf.graph import Graph
from otherhalf.system.arrays import FloatArray, IntArray

MOST_TAGS = 3
"""Most tags of a cell that are named."""


@dataclass(frozen=True, eq=False)
class UserColumns:
    """The columns of a graph's features, as its user knows them.

    Attributes:
        names: Their names.
        starts: First feature of each; it ends where the next one starts.
        encoded: What became of each, for a graph from tables; None where every feature is a column.
    """

    names: list[str]
    starts: IntArray
    encoded: tuple[Column, ...] | None = None

    @classmethod
    def of(cls, graph: Graph) -> UserColumns:
        """Return the columns of a graph: those of its table, or its features one by one."""
        encoding = None if graph.reading is None else graph.reading.encoding
        if encoding is not None and len(encoding.names) == graph.num_features and encoding.columns:
            widths = [len(column.names) for column in encoding.columns]
            used = tuple(column for column, width in zip(encoding.columns, widths, strict=True) if width)
            starts = np.cumsum([0, *(width for width in widths if width)])[:-1]
            return cls([column.name for column in used], starts, used)
        named = graph.feature_names or [f"feature {place}" for place in range(graph.num_features)]
        return cls([str(name) for name in named], np.arange(graph.num_features))

    def summed(self, effects: FloatArray) -> FloatArray:
        """Return ``[n, U]`` effects of columns: the sums of the effects of their features, ``[n, D]``."""
        if self.encoded is None:
            return effects
        return np.asarray(np.add.reduceat(effects, self.starts, axis=1))

    def cell(self, row: FloatArray, column: int) -> str:
        """Return what the cell of a node was, as text; its kind in brackets if the numbers do not tell it.

        Args:
            row: ``[D]`` features of the node, as the graph has them.
            column: Place of the column.
        """
        if self.encoded is None:
            return f"{row[column]:.5g}"
        known = self.encoded[column]
        start = int(self.starts[column])
        return cell_text(known, row[start : start + len(known.names)])


def cell_text(column: Column, values: FloatArray) -> str:
    """Return what the cell of a column was, from the features it became."""
    if column.missing and values[-1] != 0:
        return "missing"
    if isinstance(column, NumberColumn):
        return f"{float(column.scaling.undo(values[:1].astype(np.float64))[0]):.5g}"
    if isinstance(column, BooleanColumn):
        return "true" if values[0] > 0 else "false"
    if isinstance(column, CategoryColumn):
        if column.hashes is not None:
            return "(one of many)"
        chosen = np.flatnonzero(values[: len(column.values)])
        return column.values[chosen[0]] if len(chosen) else "other"
    if isinstance(column, TagsColumn):
        tags = [str(column.tags[place]) for place in np.flatnonzero(values[: len(column.tags)])]
        return ", ".join(tags[:MOST_TAGS]) + ("…" if len(tags) > MOST_TAGS else "")
    return f"({column.kind})"
