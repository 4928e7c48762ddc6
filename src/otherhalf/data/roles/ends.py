"""The two ends of every edge as node indices, and what to do with ends that are not among the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.files.table import Table
from otherhalf.data.notes import counted
from otherhalf.data.roles.ids import NodeIds, distinct_names
from otherhalf.errors import InputError
from otherhalf.system.arrays import IntArray
from otherhalf.system.names import short

UnknownEdges = Literal["drop", "error", "add"]
"""What to do with an edge to an id that no node has: drop it, refuse the table, or add the node."""


@dataclass(frozen=True)
class Ends:
    """The edges of one table.

    Args:
        pairs: ``[2, E]`` node indices of the rows that were kept.
        kept: For every row of the table, whether it is in ``pairs``.
        ids: The ids of all nodes, with those that were added at the end.
    """

    pairs: IntArray
    kept: npt.NDArray[np.bool_]
    ids: NodeIds


def check_unknown_edges(unknown_edges: str) -> None:
    """Raise InputError if this is not one of the three choices."""
    if unknown_edges not in get_args(UnknownEdges):
        raise InputError(
            f"unknown_edges is {unknown_edges!r}: choose one of {', '.join(get_args(UnknownEdges))}"
        )


def edge_ends(
    table: Table,
    rows: pd.DataFrame,
    columns: tuple[str, str],
    ids: NodeIds,
    unknown_edges: str,
    notes: list[str],
) -> Ends:
    """Return the node indices at both ends of every edge.

    Args:
        table: The table of edges, for messages.
        rows: Its rows.
        columns: The columns of source and target.
        ids: The ids of the nodes.
        unknown_edges: What to do with an end that is no node id: ``drop``, ``error`` or ``add``. Edges are
            not dropped if they are most of the table: then the ids do not fit at all.
        notes: A sentence is added here if edges are dropped or nodes added.
    """
    named = [_End(table, rows[column], ids) for column in columns]
    unknown = (named[0].nodes < 0) | (named[1].nodes < 0)
    count = int(unknown.sum())
    if count == 0:
        return Ends(np.stack([end.nodes for end in named]), ~unknown, ids)
    if unknown_edges == "add":
        more = pd.concat([end.unknown_names() for end in named]).drop_duplicates().reset_index(drop=True)
        grown = ids.with_more(more)
        added = len(grown.values) - len(ids.values)
        notes.append(
            f"{table.name}: the reader added {counted(added, 'node')} without a label, such as {more[0]!r}, "
            "which only the edges name."
        )
        # The known ends keep their nodes: among ids that became text, 10.0 would no longer be the node 10.
        pairs = np.stack([np.where(end.nodes < 0, end.among(grown), end.nodes) for end in named])
        return Ends(pairs, np.ones(len(rows), dtype=bool), grown)
    row = int(np.argmax(unknown))
    end = next(end for end in named if end.nodes[row] < 0)
    example = f"{short(end.name(row))!r} in the column {end.column!r}, row {row + 1}"
    if unknown_edges == "error" or count > len(rows) / 2:
        raise InputError(
            f"{table.name}: {example}, is not among the node ids, which look like {str(ids.values[0])!r} "
            f"({count} of {len(rows)} edges have such an end): name the id column or the ends of the edges, "
            "add the nodes, or set unknown_edges"
        )
    notes.append(
        f"{table.name}: the reader dropped {count} of {counted(len(rows), 'edge')} because an end is not "
        f"among the node ids, such as {example}."
    )
    return Ends(np.stack([end.nodes for end in named])[:, ~unknown], ~unknown, ids)


class _End:
    """One column of ends: a code per row, a name per code."""

    def __init__(self, table: Table, column: pd.Series[Any], ids: NodeIds) -> None:
        self.column = column.name
        self.codes, self.names = distinct_names(table, column)
        empty = self.codes < 0
        if empty.any():
            raise InputError(
                f"{table.name}: the column {column.name!r} is empty in row {int(np.argmax(empty)) + 1} "
                f"({int(empty.sum())} in all): fill in both ends of the edge or drop the row"
            )
        self.nodes = self.among(ids)

    def among(self, ids: NodeIds) -> IntArray:
        return ids.find(self.names)[self.codes]

    def name(self, row: int) -> str:
        return str(self.names[self.codes[row]])

    def unknown_names(self) -> pd.Series[Any]:
        return self.names[np.unique(self.codes[self.nodes < 0])]
