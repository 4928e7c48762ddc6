"""Tables of SQLite and DuckDB files, opened to read only."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from otherhalf.data.files.compressed import check_file, too_large
from otherhalf.data.files.json_lines import typed
from otherhalf.data.notes import listing
from otherhalf.errors import InputError
from otherhalf.system.memory import in_bytes, room

MARK = "::"
"""What stands between the file of a database and the name of a table."""

ALONE = {"enable_external_access": "false"}
"""A view of a DuckDB file could otherwise read any other file, and addresses on the network."""

_ROW = 300  # bytes of a row beside its cells
_COPIES = 2  # rows, and the table that is made of them

_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
_DUCKDB_TABLES = "SELECT table_name FROM information_schema.tables ORDER BY table_name"


def read_database_table(path: Path, table: str) -> pd.DataFrame:
    """Return a table or a view of a database file.

    Args:
        path: A SQLite or DuckDB file; its first bytes say which.
        table: Name of the table. It is never read as SQL.
    """
    check_file(path, "a database file")
    with path.open("rb") as opened:
        start = opened.read(16)
    if start == b"SQLite format 3\0":
        return _read(path, table, _sqlite(path), _SQLITE_TABLES)
    if start[8:12] == b"DUCK":
        return _read(path, table, _duckdb(path), _DUCKDB_TABLES)
    raise InputError(f"{path} is neither a SQLite nor a DuckDB file: check the path")


def _read(path: Path, table: str, opened: Any, names: str) -> pd.DataFrame:
    with opened as connection:
        present = [str(row[0]) for row in connection.execute(names).fetchall()]
        same = [name for name in present if name.casefold() == table.casefold()]
        if not same:
            raise InputError(f"{path} has no table {table!r}: its tables are {listing(present) or 'none'}")
        name = table if table in same else same[0]
        quoted = '"' + name.replace('"', '""') + '"'
        cursor = connection.execute(f"SELECT * FROM {quoted}")
        columns = [str(column[0]) for column in cursor.description]
        twice = next((column for column in columns if columns.count(column) > 1), None) or _renamed(columns)
        if twice is not None:
            raise InputError(f"{path}{MARK}{name} has two columns called {twice!r}: rename one")
        rows = [dict(zip(columns, row, strict=True)) for row in _held(f"{path}{MARK}{name}", cursor)]
    return typed(rows) if rows else pd.DataFrame(columns=columns)


def _held(name: str, cursor: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows; raise InputError when the memory can hold no more: a view can have rows without end."""
    left, size = room(), 0
    while (row := cursor.fetchone()) is not None:
        size += _ROW + sum(map(sys.getsizeof, row))
        if _COPIES * size > left.free:
            raise too_large(f"{name} has more than {in_bytes(size)}", _COPIES, left)
        yield row


def _renamed(columns: list[str]) -> str | None:
    """Return the name of two columns, the second of which SQLite calls ``name:1`` in a view."""
    present = set(columns)
    return next((name for name in columns if f"{name}:1" in present), None)


@contextmanager
def _sqlite(path: Path) -> Iterator[Any]:
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            yield connection
    except (sqlite3.Error, UnicodeError) as error:
        raise InputError(f"{path} cannot be read as SQLite ({error}): check the file") from error


@contextmanager
def _duckdb(path: Path) -> Iterator[Any]:
    if find_spec("duckdb") is None:
        raise InputError(f"reading {path} needs duckdb: run `pip install otherhalf[io]`, or export CSV files")
    duckdb = import_module("duckdb")
    try:
        with closing(duckdb.connect(str(path), read_only=True, config=ALONE)) as connection:
            yield connection
    except duckdb.Error as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise InputError(f"{path} cannot be read as DuckDB ({reason}): check the file") from error
