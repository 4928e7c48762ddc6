"""The edges of one table or of several: their ends as node indices, their weights and their relations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.data.files.table import Table
from otherhalf.data.notes import listing
from otherhalf.data.roles.edge_columns import edge_columns
from otherhalf.data.roles.ends import edge_ends
from otherhalf.data.roles.ids import NodeIds
from otherhalf.data.roles.relations import (
    could_be_relations,
    edge_relations,
    relation_column,
    relations_of_tables,
)
from otherhalf.data.roles.weights import Weights, edge_weights, weight_column
from otherhalf.system.arrays import IntArray


@dataclass(frozen=True)
class Edges:
    """The edges of all tables.

    Args:
        pairs: ``[2, E]`` node indices.
        weights: ``[E]`` positive numbers, or None if no table has weights.
        relations: ``[E]`` names, or None if the edges are of one kind.
        ids: The ids of all nodes, with those that only edges name at the end.
    """

    pairs: IntArray
    weights: Weights | None
    relations: npt.NDArray[Any] | None
    ids: NodeIds


def read_edges(
    tables: Sequence[Table],
    ids: NodeIds,
    notes: list[str],
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | bool | None = None,
    relation: str | bool | None = None,
    unknown_edges: str = "drop",
) -> Edges:
    """Return the edges of all tables. The edges of a table without weights count 1 beside those of others.

    Several tables are several relations, unless a column names the relations, or there shall be none.

    Args:
        tables: The tables of edges.
        ids: The ids of the nodes.
        notes: The decisions are added here.
        source: Column of one end; None to look for it in each table.
        target: Likewise, for the other end.
        weight: Column of the weights; None to look for it in each table, ``False`` for none.
        relation: Column of the relations; ``False`` for none.
        unknown_edges: What to do with an end that is no node id: ``drop``, ``error`` or ``add``.
    """
    pairs, weights, relations, found = [], [], [], []
    for table, own in zip(tables, relations_of_tables(tables), strict=True):
        ends = edge_columns(table, ids, source, target, notes)
        rows = table.read(text=ends)
        read = edge_ends(table, rows, ends, ids, unknown_edges, notes)
        ids, kept, column = read.ids, read.pairs, weight_column(table, rows, ends, weight, notes)
        values, used = np.ones(kept.shape[1]), read.kept
        if column is not None:
            values, used = edge_weights(table, rows[column], read.kept, notes)
            kept = kept[:, used[read.kept]]
            found.append(table)
        naming = relation_column(table, {*ends, column}, relation)
        names = np.full(len(rows), own, dtype=object)
        if naming is not None:
            names = edge_relations(table, rows[naming], notes)
        _note_unused(table, {*ends, column, naming}, relation is None, notes)
        pairs.append(kept)
        weights.append(values)
        relations.append(names[used])
    without = [table.name for table in tables if table not in found]
    if found and without:
        notes.append(f"The edges of {listing(without)} have no weights and count 1 each.")
    told_apart = relation is not False and (relation is not None or len(tables) > 1)
    if len(tables) > 1 and not told_apart:
        notes.append(f"The edges of {len(tables)} tables were put together as edges of one kind.")
    return Edges(
        np.concatenate(pairs, axis=1),
        np.concatenate(weights) if found else None,
        np.concatenate(relations) if told_apart else None,
        ids,
    )


def _note_unused(table: Table, used: Collection[str | None], hint: bool, notes: list[str]) -> None:
    unused = [name for name in table.columns if name not in used and not table.unnamed(name)]
    kinds = could_be_relations(unused) if hint else []
    more = f"; if {kinds[0]!r} says the kind of an edge, name it with relation" if kinds else ""
    if unused:
        notes.append(f"{table.name}: the columns {listing(unused)} of the edges are not used{more}.")
