"""A graph from two tables, one of nodes and one of edges, with any column names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from otherhalf.data.edge_tables import Edges, read_edges
from otherhalf.data.files.table import Table
from otherhalf.data.node_table import read_nodes
from otherhalf.data.notes import counted, hand_over
from otherhalf.data.reading import Columns, Reading
from otherhalf.data.roles.ends import check_unknown_edges
from otherhalf.data.roles.ids import NodeIds
from otherhalf.data.roles.relations import note_relations
from otherhalf.data.table_files import open_table
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN
from otherhalf.system.graph_checks import checked_labels


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
    exclude: Sequence[str] | str | None = None,
    kinds: Mapping[str, str] | str | None = None,
    encode: bool = True,
    name: str = "",
    notes: list[str] | None = None,
    reading: Reading | None = None,
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
        features: Feature columns, as a list or as one comma-separated text; ``*`` stands for any characters.
            Default: every other column. What becomes of each kind of column
            :mod:`otherhalf.data.columns` says; ``graph.reading.encoding.table()`` shows it for these.
        source: Column of one end of the edge; default: a known name such as ``source``, ``src`` or ``from``,
            or else the first column, if no name and no other column with node ids speaks against it.
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
        exclude: Columns that are not features, in the same form as ``features``.
        kinds: Kinds of columns that should not be inferred, as in ``{"ast_*": "number"}`` or
            ``"age=number,city=category"``: number, category, boolean, date, text, tags, or id (left out).
        encode: Whether columns become features by their kinds. Otherwise features are the numeric columns as
            they are, none of which may have a gap.
        name: Name of the graph.
        notes: List to which the decisions of the reader are added, each one sentence. Default: each is a
            warning.
        reading: The reading of an earlier graph, ``graph.reading`` or ``model.reading_``: the columns mean
            the same as there, and nothing is learned from these tables.
    """
    columns, found = Columns.among(locals()), list[str]()
    paths = [nodes, edges] if isinstance(edges, str | Path) else [nodes, *edges]
    node_table, *edge_tables = (open_table(path, found) for path in paths)
    graph = graph_of_tables(node_table, edge_tables, columns, name, found, reading)
    hand_over(found, notes)
    return graph


def graph_of_tables(
    nodes: Table,
    edges: Sequence[Table],
    columns: Columns,
    name: str,
    notes: list[str],
    reading: Reading | None = None,
) -> Graph:
    """Make a graph from tables that are open; the decisions are added to ``notes``."""
    if not edges:
        raise InputError("no table of edges is given: name at least one")
    known = read_nodes(nodes, columns, notes, reading)
    columns = known.reading.columns
    _ = known.x  # wrong cells are named before wrong edges
    read = read_edges_of(edges, known.ids, columns, notes)
    added = len(read.ids.values) - len(known.ids.values)
    with _naming(nodes, *edges):
        y = _labels_of_added_nodes(known.y, added)
        y, classes = checked_labels(y, known.classes, len(read.ids.values))
    # A split is for a fit; what a fitted model is applied to has none.
    splits = known.splits((y != UNKNOWN)[: len(known.rows)], notes) if reading is None else ()
    with _naming(nodes, *edges):
        graph = Graph(
            edges=read.pairs,
            x=known.features(added, notes),
            y=y,
            directed=columns.directed,
            ids=read.ids.values,
            classes=classes,
            fixed_splits=splits,
            name=name,
            weights=read.weights,  # type: ignore[arg-type]  # float64 until those of repeats are summed
            relations=read.relations,  # type: ignore[arg-type]  # names, from which it makes Relations
            reading=known.reading,
        )
    note_relations({} if graph.relations is None else graph.relations.counts(), notes)
    _note_dropped(graph, edges, notes)
    return graph


def read_edges_of(tables: Sequence[Table], ids: NodeIds, columns: Columns, notes: list[str]) -> Edges:
    """Return the edges of tables whose columns mean this."""
    check_unknown_edges(columns.unknown_edges)
    return read_edges(
        tables,
        ids,
        notes,
        source=columns.source,
        target=columns.target,
        weight=columns.weight,
        relation=columns.relation,
        unknown_edges=columns.unknown_edges,
    )


@contextmanager
def _naming(*tables: Table) -> Iterator[None]:
    """Put the names of the tables before the message of an error."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{', '.join(table.name for table in tables)}: {error}") from error


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
        kept = "kept each once" if graph.weights is None else "summed the weights"
        notes.append(f"{name}: the reader dropped {repeats} and {kept}{also}.")
