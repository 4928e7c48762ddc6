"""The edges of one table or of several: their ends as node indices, and their weights."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from otherhalf.data.files.table import Table
from otherhalf.data.notes import listing
from otherhalf.data.roles.edge_columns import edge_columns
from otherhalf.data.roles.ends import edge_ends
from otherhalf.data.roles.ids import NodeIds
from otherhalf.data.roles.weights import Weights, edge_weights, weight_column
from otherhalf.system.arrays import IntArray


@dataclass(frozen=True)
class Edges:
    """The edges of all tables.

    Args:
        pairs: ``[2, E]`` node indices.
        weights: ``[E]`` positive numbers, or None if no table has weights.
        ids: The ids of all nodes, with those that only edges name at the end.
    """

    pairs: IntArray
    weights: Weights | None
    ids: NodeIds


def read_edges(
    tables: Sequence[Table],
    ids: NodeIds,
    notes: list[str],
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | bool | None = None,
    unknown_edges: str = "drop",
) -> Edges:
    """Return the edges of all tables. The edges of a table without weights count 1 beside those of others.

    Args:
        tables: The tables of edges.
        ids: The ids of the nodes.
        notes: The decisions are added here.
        source: Column of one end; None to look for it in each table.
        target: Likewise, for the other end.
        weight: Column of the weights; None to look for it in each table, ``False`` for none.
        unknown_edges: What to do with an end that is no node id: ``drop``, ``error`` or ``add``.
    """
    pairs, weights, found = [], [], []
    for table in tables:
        ends = edge_columns(table, ids, source, target, notes)
        rows = table.read(text=ends)
        read = edge_ends(table, rows, ends, ids, unknown_edges, notes)
        ids, kept, column = read.ids, read.pairs, weight_column(table, rows, ends, weight, notes)
        values = np.ones(kept.shape[1])
        if column is not None:
            values, weighted = edge_weights(table, rows[column], read.kept, notes)
            kept = kept[:, weighted[read.kept]]
            found.append(table)
        _note_unused(table, {*ends, column}, notes)
        pairs.append(kept)
        weights.append(values)
    if len(tables) > 1:
        counts = ", ".join(
            f"{part.shape[1]:,} from {table.name}" for part, table in zip(pairs, tables, strict=True)
        )
        notes.append(f"The edges of {len(tables)} tables were put together as edges of one kind: {counts}.")
        without = [table.name for table in tables if table not in found]
        if found and without:
            notes.append(f"The edges of {listing(without)} have no weights and count 1 each.")
    return Edges(np.concatenate(pairs, axis=1), np.concatenate(weights) if found else None, ids)


def _note_unused(table: Table, used: Collection[str | None], notes: list[str]) -> None:
    unused = [name for name in table.columns if name not in used and not table.unnamed(name)]
    if unused:
        notes.append(f"{table.name}: the columns {listing(unused)} of the edges are not used.")
