"""A graph from two tables, one of nodes and one of edges, with any column names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.edge_tables import read_edges
from otherhalf.data.files.table import Table
from otherhalf.data.notes import counted, hand_over
from otherhalf.data.own_splits import column_split, time_split
from otherhalf.data.roles.ends import check_unknown_edges
from otherhalf.data.roles.features import features_of_added_nodes, named_features, read_features
from otherhalf.data.roles.ids import node_ids
from otherhalf.data.roles.labels import read_labels
from otherhalf.data.roles.relations import note_relations
from otherhalf.data.table_files import open_table
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN
from otherhalf.system.graph_checks import checked_labels


@dataclass(frozen=True)
class Columns:
    """What the columns of the user's tables mean; None stands for the default of :func:`read_tables`."""

    id: str | None = None
    label: str | None = None
    features: Sequence[str] | str | None = None
    source: str | None = None
    target: str | None = None
    directed: bool = False
    unknown_edges: str = "drop"
    split_column: str | None = None
    split_time: str | None = None
    weight: str | bool | None = None
    relation: str | bool | None = None


def read_tables(
    nodes: str | Path,
    edges: str | Path | Sequence[str | Path],
    *,
    id: str | None = None,
    label: str | None = None,
    features: Sequence[str] | str | None = None,
    source: str | None = None,
    target: str | None = None,
    directed: bool = False,
    unknown_edges: str = "drop",
    split_column: str | None = None,
    split_time: str | None = None,
    weight: str | bool | None = None,
    relation: str | bool | None = None,
    name: str = "",
    notes: list[str] | None = None,
) -> Graph:
    """Read a graph from a table of nodes and a table of edges.

    A table is a CSV file (``.csv``, ``.tsv``) or JSON lines (``.jsonl``, ``.ndjson``), also compressed as
    ``.gz``, ``.bz2``, ``.xz`` or ``.zst``; a Parquet file; or ``file::table`` of a SQLite or DuckDB file.

    Ids are compared as text, so that ``007`` stays ``007``, unless every node id is a whole number: then
    ``1`` and ``1.0`` are the same node. An empty cell, ``NaN`` or ``-1`` in the label column is an unknown
    label; only where the labels are −1 and 1, −1 is a class. Messages count the rows from 1, without the line
    of column names.

    Args:
        nodes: Table with one row per node.
        edges: Table with one row per edge, or several such tables: each is then a relation. Columns
            other than the two ends, the weight and the relation are not used.
        id: Column of the node ids; default ``id``, or else the first column.
        label: Column of the labels; default ``label`` if there is one.
        features: Feature columns, as a list or as one comma-separated text; default: every other numeric
            column. Truth values count as 0 and 1.
        source: Column of one end of the edge; default: a known name such as ``source``, ``src`` or ``from``,
            or else the first column.
        target: Column of the other end; default: the known name that belongs to it, or else the second
            column.
        directed: Whether the order of the ends has a meaning.
        unknown_edges: What to do with edges to an id that no node has: ``drop`` them (unless they are most of
            the edges), raise an ``error``, or ``add`` the nodes, without label and with median features.
        split_column: Column with the part of every node: train, val (or valid, validation, dev) or test.
            ``split(graph, "given")`` returns that split. The column is no feature.
        split_time: Column with the time of every node, for a split by time: the oldest 60 % of the labelled
            nodes train, the next 20 % are val, the newest test. The column is a feature only if named so.
        weight: Column of the edge table with the weights; default: a numeric column called ``weight``,
            ``weights`` or ``w``. ``False`` for edges that all count the same. A weight is a positive number,
            and 0 means no edge. The weights of repeated edges are summed, also those of the two directions of
            an undirected edge.
        relation: Column of the edge table that names the relation (the kind) of each edge. Default: several
            tables are several relations, named after the tables. ``False`` for edges of one kind. An edge in
            two relations counts once, and is in both.
        name: Name of the graph.
        notes: List to which the decisions of the reader are added, each one sentence. Default: each is a
            warning.
    """
    found: list[str] = []
    columns = Columns(
        id,
        label,
        features,
        source,
        target,
        directed,
        unknown_edges,
        split_column,
        split_time,
        weight,
        relation,
    )
    paths = [nodes, edges] if isinstance(edges, str | Path) else [nodes, *edges]
    node_table, *edge_tables = (open_table(path, found) for path in paths)
    graph = graph_of_tables(node_table, edge_tables, columns, name, found)
    hand_over(found, notes)
    return graph


def graph_of_tables(
    nodes: Table, edges: Sequence[Table], columns: Columns, name: str, notes: list[str]
) -> Graph:
    """Make a graph from tables that are open; the decisions are added to ``notes``."""
    check_unknown_edges(columns.unknown_edges)
    if not edges:
        raise InputError("no table of edges is given: name at least one")
    id, label = _id_and_label(nodes, columns.id, columns.label)
    taken = {id: "id"} if label is None else {id: "id", label: "label"}
    by_split = _split_columns(nodes, columns, taken)
    named = named_features(nodes, columns.features, taken)
    rows = nodes.read(text=[*taken, *by_split.difference(named or ())])
    ids = node_ids(nodes, rows[id])
    x = read_features(nodes, rows, named, ids.values, {*taken, *by_split}, notes)
    y, classes = (None, None) if label is None else read_labels(nodes, rows[label], notes)
    read = read_edges(
        edges,
        ids,
        notes,
        source=columns.source,
        target=columns.target,
        weight=columns.weight,
        relation=columns.relation,
        unknown_edges=columns.unknown_edges,
    )
    grown = read.ids
    added = len(grown.values) - len(ids.values)
    with _naming(nodes, *edges):
        y, classes = checked_labels(_labels_of_added_nodes(y, added), classes, len(grown.values))
    splits = _splits(nodes, rows, columns, (y != UNKNOWN)[: len(rows)], notes)
    with _naming(nodes, *edges):
        graph = Graph(
            edges=read.pairs,
            x=features_of_added_nodes(x, added, notes),
            y=y,
            directed=columns.directed,
            ids=grown.values,
            classes=classes,
            fixed_splits=splits,
            name=name,
            weights=read.weights,  # type: ignore[arg-type]  # float64 until those of repeats are summed
            relations=read.relations,  # type: ignore[arg-type]  # names, from which it makes Relations
        )
    note_relations({} if graph.relations is None else graph.relations.counts(), notes)
    _note_dropped(graph, edges, notes)
    return graph


def _id_and_label(table: Table, id: str | None, label: str | None) -> tuple[str, str | None]:
    if id is None:
        named = _called(table, "id")
        id = named or table.columns[0]
        if named is None and id == (label or _called(table, "label")):
            raise InputError(
                f"{table.name} has no column 'id', and its first column is the label {id!r}: "
                "name the column of node ids with id"
            )
    table.require(id, "node id")
    if label is None:
        label = _called(table, "label")
        return id, None if label == id else label
    table.require(label, "label")
    if label == id:
        raise InputError(f"the column {id!r} cannot be both id and label: name two different columns")
    return id, label


def _called(table: Table, name: str) -> str | None:
    """Return the column of this name, in small letters or else in any."""
    same = [column for column in table.columns if column.casefold() == name]
    return name if name in same else next(iter(same), None)


@contextmanager
def _naming(*tables: Table) -> Iterator[None]:
    """Put the names of the tables before the message of an error."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{', '.join(table.name for table in tables)}: {error}") from error


def _split_columns(table: Table, columns: Columns, taken: dict[str, str]) -> set[str]:
    """Return the column that decides the split, if there is one. A column of parts can have no other role."""
    if columns.split_column is not None and columns.split_time is not None:
        raise InputError("the split cannot follow both split_column and split_time: give one of them")
    named = {columns.split_column: "split column", columns.split_time: "split time"}
    found = {column: role for column, role in named.items() if column is not None}
    for column, role in found.items():
        table.require(column, role)
        if column in taken:
            raise InputError(f"the column {column!r} is the {taken[column]} and cannot be the {role} too")
    if columns.split_column is not None:
        taken[columns.split_column] = "split"
    return set(found)


def _splits(
    table: Table,
    rows: pd.DataFrame,
    columns: Columns,
    labelled: npt.NDArray[np.bool_],
    notes: list[str],
) -> tuple[Split, ...]:
    """Return the split that a column of the node table decides, if the user named one."""
    if columns.split_column is not None:
        what = f"{table.name}, column {columns.split_column!r}"
        return (column_split(rows[columns.split_column], labelled, what, notes),)
    if columns.split_time is not None:
        what = f"{table.name}, column {columns.split_time!r}"
        return (time_split(rows[columns.split_time], labelled, what, notes),)
    return ()


def _labels_of_added_nodes(y: Any, count: int) -> Any:
    return y if y is None or count == 0 else pd.concat([y.astype(object), pd.Series([None] * count)])


def _note_dropped(graph: Graph, edges: Sequence[Table], notes: list[str]) -> None:
    name = ", ".join(table.name for table in edges)
    if graph.dropped_self_loops:
        loops = counted(graph.dropped_self_loops, "edge")
        notes.append(f"{name}: the reader dropped {loops} from a node to itself.")
    if graph.dropped_repeats:
        repeats = counted(graph.dropped_repeats, "repeated edge")
        also = "" if graph.directed else "; the two directions of an edge count as one"
        also += "" if graph.relations is None else "; an edge in two relations is in both"
        kept = "kept each once" if graph.weights is None else "added its weight to that of the first"
        notes.append(f"{name}: the reader dropped {repeats} and {kept}{also}.")
