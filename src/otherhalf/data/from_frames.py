"""A graph from two tables in memory: of pandas, Arrow, polars, DuckDB and libraries like them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pandas as pd

from otherhalf.data.files.database import MARK
from otherhalf.data.files.table import UNNAMED, MemoryTable
from otherhalf.data.notes import hand_over
from otherhalf.data.reading import Columns, Reading
from otherhalf.data.tables import graph_of_tables
from otherhalf.errors import InputError
from otherhalf.graph import Graph

_INDEX = "index"


def from_frames(
    nodes: Any,
    edges: Any,
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
    """Return the graph of a table of nodes and a table of edges that are in memory.

    A table is a pandas ``DataFrame``, a mapping from names to columns, or an object of another library that
    offers ``__arrow_c_stream__``, ``to_pandas()``, ``arrow()`` or ``__dataframe__``, such as tables of
    polars, Arrow and DuckDB.

    Args:
        nodes: Table with one row per node. If it has no column ``id``, the index of a pandas table is the id,
            unless it only counts the rows from 0 and has no name.
        edges: Table with one row per edge; a named index counts as columns. Several tables, as a mapping from
            the names of relations or as a list, are several relations.
        id: Column of the node ids, as in :func:`~otherhalf.data.tables.read_tables`, which has the other
            arguments too.
        label: Column of the labels.
        features: Feature columns.
        source: Column of one end of the edge.
        target: Column of the other end.
        directed: Whether the order of the ends has a meaning.
        unknown_edges: What to do with edges to an id that no node has: ``drop``, ``error`` or ``add``.
        split_column: Column with the part of every node.
        split_time: Column with the time of every node.
        weight: Column of the weights of the edges; ``False`` for none.
        relation: Column of the relations of the edges; ``False`` for none.
        exclude: Columns that are not features.
        kinds: Kinds of columns that should not be inferred.
        encode: Whether columns become features by their kinds.
        name: Name of the graph.
        notes: List to which the decisions are added; default: each is a warning.
        reading: The reading of an earlier graph, which is applied again.
    """
    columns, found = Columns.among(locals()), list[str]()
    if id is None and reading is not None:
        id = reading.columns.id
    given = _as_pandas(nodes, "the node table")
    cells = _nodes(given, id)
    if len(cells.columns) > len(given.columns):  # the index is the id, and no guess
        columns = replace(columns, id=str(cells.columns[0]))
    node_table = MemoryTable("the node table", cells, found)
    edge_tables = [
        MemoryTable(what, _edges(_as_pandas(table, what)), found) for what, table in _named(edges).items()
    ]
    graph = graph_of_tables(node_table, edge_tables, columns, name, found, reading)
    hand_over(found, notes)
    return graph


def _named(edges: Any) -> dict[str, Any]:
    """Return the tables of edges by the names that messages have for them."""
    if isinstance(edges, Mapping) and edges and all(_is_table(each) for each in edges.values()):
        return {f"edges{MARK}{name}": table for name, table in edges.items()}
    if isinstance(edges, list | tuple) and edges and all(_is_table(each) for each in edges):
        return {f"edges{MARK}{place}": table for place, table in enumerate(edges, start=1)}
    return {"the edge table": edges}


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "columns")


def _as_pandas(table: Any, what: str) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    if isinstance(table, Mapping):
        try:
            return pd.DataFrame(dict(table))
        except ValueError as error:
            raise InputError(f"{what} has columns of different lengths: give one value per row") from error
    if hasattr(table, "__arrow_c_stream__") and find_spec("pyarrow") is not None:
        import pyarrow as pa

        # Integers beside gaps stay integers; as float64, large ones would be rounded.
        converted: pd.DataFrame = pa.table(table).to_pandas(integer_object_nulls=True)
        return converted
    for method in ("to_pandas", "arrow"):
        if callable(getattr(table, method, None)):
            try:
                return _as_pandas(getattr(table, method)(), what)
            except ImportError as error:
                raise InputError(
                    f"{what} is a {type(table).__name__}, which needs pyarrow: "
                    "run `pip install otherhalf[io]`, or give a pandas DataFrame"
                ) from error
    if hasattr(table, "__dataframe__"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas will drop this protocol one day
            return pd.api.interchange.from_dataframe(table)
    raise InputError(
        f"{what} is a {type(table).__name__}: give a pandas DataFrame, or a table of Arrow, polars or DuckDB"
    )


def _nodes(cells: pd.DataFrame, id: str | None) -> pd.DataFrame:
    """Return the table with its index as the first column, if the index is the id."""
    index = cells.index
    counts_rows = isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index)))
    has_id = any(str(column).casefold() == "id" for column in cells.columns)
    if id is None:
        is_id = not has_id and (not counts_rows or index.name is not None)
    else:  # a reading has a name for an index without one
        unnamed = id == _INDEX and _INDEX not in cells.columns and index.names == [None]
        is_id = id in index.names or unnamed
    if not is_id:
        return cells.reset_index(drop=True)
    if isinstance(index, pd.MultiIndex):
        raise InputError(
            "the node table has an index of several columns: name the column of node ids with id"
        )
    named = index.to_frame(index=False, name=index.name if index.name is not None else _INDEX)
    return pd.concat([named, cells.reset_index(drop=True)], axis="columns")


def _edges(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the named parts of its index as columns."""
    if all(name is None for name in cells.index.names):
        return cells.reset_index(drop=True)
    names = [name if name is not None else f"{UNNAMED}{i}" for i, name in enumerate(cells.index.names)]
    index = cells.index.to_frame(index=False).set_axis(names, axis="columns")
    return pd.concat([index, cells.reset_index(drop=True)], axis="columns")
