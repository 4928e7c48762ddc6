"""The argument DATA of the command line: a name, an npz file, a pair of tables, or a folder."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from otherhalf.data.catalog import load, places_of, resolve
from otherhalf.data.files.database import MARK
from otherhalf.data.formats.geom_gcn import files_of_folder, open_geom_gcn
from otherhalf.data.graph_files import is_graph_file, read_graph_file
from otherhalf.data.reading import Columns, Reading
from otherhalf.data.synthetic import PREFIX
from otherhalf.data.table_files import TABLE_ENDINGS
from otherhalf.data.tables import read_tables
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.paths import user_path

__all__ = ["READERS", "Columns", "Reader", "open_data"]


@dataclass(frozen=True)
class Reader:
    """One kind of DATA.

    Attributes:
        accepts: Tests the text.
        read: Makes the graph from it and the columns.
        read_again: Does so with the reading of a fit; None for data without tables.
    """

    accepts: Callable[[str], bool]
    read: Callable[[str, Columns], Graph]
    read_again: Callable[[str, Columns, Reading], Graph] | None = None


def open_data(data: str, columns: Columns | None = None, reading: Reading | None = None) -> Graph:
    """Return the graph that DATA names, by the first of :data:`READERS` that accepts it.

    That is a data set's name, an ``.npz`` file, ``nodes.csv,edges.csv``, ``nodes.csv,a.csv+b.csv`` for two
    relations, ``db.sqlite::nodes,edges``, a GraphML, GML or node-link JSON file, or a folder of
    Geom-GCN's files.

    Args:
        data: DATA.
        columns: What the columns of tables mean.
        reading: The reading of a fit, which is applied to tables again.
    """
    reader = next(reader for reader in READERS if reader.accepts(data))
    columns = columns or Columns()
    if reading is None or reader.read_again is None:
        return reader.read(data, columns)
    return reader.read_again(data, columns, reading)


def table_paths(data: str) -> list[str]:
    """Return the path of the node table and those of the edge tables that ``nodes.csv,edges.csv`` names."""
    parts = [part.strip() for part in data.split(",")]
    if len(parts) != 2 or not all(parts):
        raise InputError(f"{data} is not two files with one comma between them: give nodes.csv,edges.csv")
    nodes, edges = parts
    file, mark, _ = nodes.partition(MARK)
    inside = f"{file}{mark}" if mark and MARK not in edges else ""  # of one database: db.sqlite::nodes,edges
    tables = [edges] if os.path.exists(edges) else [part.strip() for part in edges.split("+")]
    if not all(tables):
        raise InputError(f"{data} names an edge table without a name: give nodes.csv,edges1.csv+edges2.csv")
    return [nodes, *(f"{inside}{table}" for table in tables)]


def is_tables(data: str) -> bool:
    """Return whether DATA names tables: those of nodes and edges, or one."""
    return _is_pair(data) or MARK in data or data.lower().endswith(TABLE_ENDINGS)


def _is_pair(data: str) -> bool:
    return "," in data and not data.startswith(f"{PREFIX}:")


def files_of(data: str) -> list[Path]:
    """Return the files that DATA names and that are there: tables, a database, the file of a graph or of a
    data set, or those of a folder.
    """
    if data.startswith(f"{PREFIX}:"):
        return []
    if "," in data:
        paths = [user_path(name.partition(MARK)[0]) for name in table_paths(data)]
    elif _is_folder(data):
        paths = files_of_folder(user_path(data))
    else:
        paths = [user_path(data)]
        if resolve(data) is not None or not os.path.isfile(paths[0]):
            paths += places_of(data)
    return [path for path in paths if os.path.isfile(path)]


def _read_pair(data: str, columns: Columns, reading: Reading | None = None) -> Graph:
    nodes, *edges = table_paths(data)
    name = Path(nodes.partition(MARK)[0]).stem
    return read_tables(nodes, edges, **vars(columns), name=name, reading=reading)


def _read_file(data: str, columns: Columns, reading: Reading | None = None) -> Graph:
    return read_graph_file(data, columns, reading=reading)


def _refuse_one_table(data: str, columns: Columns) -> Graph:
    raise InputError(
        f"{data} is one table, and a graph needs two: give nodes and edges with a comma between them, "
        f"as in {data},edges.csv"
    )


def _is_folder(data: str) -> bool:
    return resolve(data) is None and os.path.isdir(user_path(data))


def _read_folder(data: str, columns: Columns) -> Graph:
    _check_no_columns(replace(columns, directed=False))
    return open_geom_gcn(user_path(data), columns.directed)


def _load(data: str, columns: Columns) -> Graph:
    _check_no_columns(columns)
    return load(data)


def _check_no_columns(columns: Columns) -> None:
    if columns != Columns():
        raise InputError(
            "columns can be named for tables only: give DATA as nodes.csv,edges.csv, or leave out the columns"
        )


READERS = [
    Reader(lambda data: "," not in data and is_graph_file(data), _read_file, _read_file),
    Reader(_is_pair, _read_pair, _read_pair),
    Reader(lambda data: data.lower().endswith(TABLE_ENDINGS), _refuse_one_table),
    Reader(_is_folder, _read_folder),
    Reader(lambda data: True, _load),
]
"""The first that accepts DATA opens it; the last one accepts everything."""
