"""What the command line calls DATA: a name, an npz file, a pair of tables, or a folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from otherhalf.data.catalog import load, resolve
from otherhalf.data.formats.geom_gcn import open_geom_gcn
from otherhalf.data.synthetic import PREFIX
from otherhalf.data.tables import read_tables
from otherhalf.errors import InputError
from otherhalf.graph import Graph

TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".gz", ".pq")


@dataclass(frozen=True)
class Columns:
    """Which columns of own tables mean what; None leaves it to the defaults of ``read_tables``."""

    id: str | None = None
    label: str | None = None
    features: str | None = None
    source: str | None = None
    target: str | None = None
    directed: bool = False


def open_data(data: str, columns: Columns | None = None) -> Graph:
    """The graph that DATA names.

    That is a data set's name, an ``.npz`` file, ``nodes.csv,edges.csv``, or a folder of Geom-GCN's files.
    """
    columns = columns or Columns()
    parts = [part.strip() for part in data.split(",")]
    if len(parts) > 1 and not data.startswith(PREFIX):
        if len(parts) != 2 or not all(parts):
            raise InputError(f"{data} is not two files with one comma between them: give nodes.csv,edges.csv")
        return read_tables(
            parts[0],
            parts[1],
            id=columns.id,
            label=columns.label,
            features=columns.features,
            source=columns.source,
            target=columns.target,
            directed=columns.directed,
            name=Path(parts[0]).stem,
        )
    if len(parts) == 1 and data.lower().endswith(TABLE_ENDINGS):
        raise InputError(
            f"{data} is one table, and a graph needs two: give nodes and edges with a comma between them, "
            f"as in {data},edges.csv"
        )
    folder = Path(data).expanduser()
    if resolve(data) is None and folder.is_dir() and replace(columns, directed=False) == Columns():
        return open_geom_gcn(folder, columns.directed)
    if columns != Columns():
        raise InputError(
            "columns can be named for tables only: give DATA as nodes.csv,edges.csv, or drop them"
        )
    return load(data)
