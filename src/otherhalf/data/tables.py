"""A graph from two tables, one of nodes and one of edges, with any column names."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.table_files import TableFile
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import FloatArray, IntArray

# An integer in its usual form, or as pandas writes it in a column with gaps (1.0). Not 007, which is text;
# at most 18 digits, which int64 holds.
_INTEGER = r"(?:0|-?[1-9][0-9]{0,17})(?:\.0+)?"
_LISTED = 20


def read_tables(
    nodes: str | Path,
    edges: str | Path,
    *,
    id: str | None = None,
    label: str | None = None,
    features: Sequence[str] | str | None = None,
    source: str | None = None,
    target: str | None = None,
    directed: bool = False,
    name: str = "",
) -> Graph:
    """Read a graph from a table of nodes and a table of edges.

    Both files may be CSV (``.csv``, ``.tsv``, also ``.gz``) or Parquet. Ids are compared as text, so that
    ``007`` stays ``007``, unless every node id is a whole number: then ``1`` and ``1.0`` are the same node.
    An empty cell, ``NaN`` or ``-1`` in the label column is an unknown label. Messages count the rows from 1,
    without the line of column names.

    Args:
        nodes: Table with one row per node.
        edges: Table with one row per edge. Columns other than the two ends are not used.
        id: Column of the node ids; default ``id``, or else the first column.
        label: Column of the labels; default ``label`` if there is one.
        features: Feature columns, as a list or as one comma-separated text; default: every other numeric
            column. Truth values count as 0 and 1.
        source: Column of one end of the edge; default: the first column.
        target: Column of the other end; default: the second column.
        directed: Whether the order of the ends has a meaning.
        name: Name of the graph.
    """
    node_file, edge_file = TableFile(nodes), TableFile(edges)
    id, label = _id_and_label(node_file, id, label)
    named = _named_features(node_file, features, id, label)
    source, target, guessed = _edge_columns(edge_file, source, target)
    node_table = node_file.read(text=[id] if label is None else [id, label])
    ids = _node_ids(node_file, node_table[id])
    x = _features(node_file, node_table, named, ids, leave_out=[id, label])
    index = pd.Index(ids)
    if guessed and (_positions(index, pd.Series([source, target])) >= 0).all():
        raise InputError(
            f"the first line of {edge_file.path} is the edge {source}, {target}, not column names: "
            "add a line such as source,target above it, or name the columns with source and target"
        )
    edge_table = edge_file.read(text=[source, target])
    ends = np.stack([_ends(edge_file, edge_table[end], index, node_file) for end in (source, target)])
    y: Any = None if label is None else _labels(node_table[label])
    try:
        return Graph(edges=ends, x=x, y=y, directed=directed, ids=ids, name=name)
    except InputError as error:
        raise InputError(f"{node_file.path}, {edge_file.path}: {error}") from error


# ------------------------------------------------------------------ roles of columns


def _listing(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else ""
    return ", ".join(columns[:_LISTED]) + more


def _require_column(file: TableFile, column: str, role: str) -> None:
    if column not in file.columns:
        raise InputError(
            f"{file.path} has no column {column!r} for the {role}: its columns are {_listing(file.columns)}"
        )


def _id_and_label(file: TableFile, id: str | None, label: str | None) -> tuple[str, str | None]:
    if id is None:
        id = "id" if "id" in file.columns else file.columns[0]
        if id != "id" and id == (label or "label"):
            raise InputError(
                f"{file.path} has no column 'id', and its first column is the label {id!r}: "
                "name the column of node ids with id"
            )
    _require_column(file, id, "node id")
    if label is None:
        return id, "label" if "label" in file.columns and id != "label" else None
    _require_column(file, label, "label")
    if label == id:
        raise InputError(f"the column {id!r} cannot be both id and label: name two different columns")
    return id, label


def _named_features(
    file: TableFile, features: Sequence[str] | str | None, id: str, label: str | None
) -> list[str] | None:
    """Return the feature columns that the caller named; None if the contents are to decide."""
    if features is None:
        return None
    names = features.split(",") if isinstance(features, str) else features
    chosen = [str(column).strip() for column in names if str(column).strip()]
    if not chosen:
        raise InputError(
            f"no feature column is named: the columns of {file.path} are {_listing(file.columns)}"
        )
    for column in chosen:
        _require_column(file, column, "features")
        if column in (id, label):
            role = "id" if column == id else "label"
            raise InputError(f"the column {column!r} is the {role}: take it out of the features")
        if chosen.count(column) > 1:
            raise InputError(f"the feature column {column!r} is named twice: name it once")
    return chosen


def _edge_columns(file: TableFile, source: str | None, target: str | None) -> tuple[str, str, bool]:
    """Return the columns of the two ends, and whether both are a guess."""
    for column, role in ((source, "source"), (target, "target")):
        if column is not None:
            _require_column(file, column, role)
    if len(file.columns) < 2:
        raise InputError(
            f"{file.path} has only the column {file.columns[0]!r}: an edge needs two, source and target"
        )
    if source is not None and source == target:
        raise InputError(f"the column {source!r} cannot be both ends of an edge: name two different columns")
    free = [column for column in file.columns if column not in (source, target)]
    # The row numbers that pandas writes are the first column, without a name, and not an end of an edge.
    free.sort(key=file.unnamed)
    guessed = source is None and target is None
    source = source or free.pop(0)
    target = target or free.pop(0)
    return source, target, guessed


# ------------------------------------------------------------------ ids


def _names(column: pd.Series[Any]) -> tuple[IntArray, pd.Series[Any]]:
    """Return for each row the code of its id (−1: none), and the distinct ids as text."""
    codes, distinct = pd.factorize(column)
    values = pd.Series(distinct)
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    if (
        pd.api.types.is_float_dtype(values)
        and np.all(values == np.round(values))
        and values.abs().lt(2**53).all()
    ):
        values = values.astype(np.int64)
    names = values.astype(str).str.strip()
    blank = np.flatnonzero(names == "")
    return np.where(np.isin(codes, blank), -1, codes), names


def _as_integers(names: pd.Series[Any]) -> IntArray:
    return np.asarray(names.str.replace(r"\.0+$", "", regex=True).astype(np.int64))


def _node_ids(file: TableFile, column: pd.Series[Any]) -> npt.NDArray[Any]:
    codes, names = _names(column)
    if (codes < 0).any():
        raise InputError(
            f"{file.path}: the id {column.name!r} is empty in row {int(np.argmax(codes < 0)) + 1} "
            f"({int((codes < 0).sum())} in all): give every node an id"
        )
    integers = bool(names.str.fullmatch(_INTEGER).all())
    ids = (_as_integers(names) if integers else names.to_numpy(dtype=str))[codes]
    repeated = pd.Index(ids).duplicated()
    if repeated.any():
        raise InputError(
            f"{file.path}: the id {str(ids[repeated][0])!r} in the column {column.name!r} occurs more than "
            f"once (row {int(np.argmax(repeated)) + 1}): give every node one row, or name another id column"
        )
    return ids


def _positions(ids: pd.Index[Any], names: pd.Series[Any]) -> IntArray:
    """Return the node that each name stands for, −1 for none."""
    if ids.dtype.kind != "i":
        return ids.get_indexer(pd.Index(names))
    positions = np.full(len(names), -1, dtype=np.int64)
    integers = names.str.fullmatch(_INTEGER).to_numpy(dtype=bool)
    positions[integers] = ids.get_indexer(pd.Index(_as_integers(names[integers])))
    return positions


def _ends(file: TableFile, column: pd.Series[Any], ids: pd.Index[Any], node_file: TableFile) -> IntArray:
    """Return the node index at one end of every edge."""
    codes, names = _names(column)
    if (codes < 0).any():
        raise InputError(
            f"{file.path}: the column {column.name!r} is empty in row {int(np.argmax(codes < 0)) + 1} "
            f"({int((codes < 0).sum())} in all): fill in both ends of the edge or drop the row"
        )
    ends = _positions(ids, names)[codes]
    if (ends < 0).any():
        row = int(np.argmax(ends < 0))
        raise InputError(
            f"{file.path}: {names[codes[row]]!r} in the column {column.name!r}, row {row + 1}, is not among "
            f"the node ids of {node_file.path}, which look like {str(ids[0])!r} "
            f"({int((ends < 0).sum())} such rows): add the nodes or drop the edges"
        )
    return ends


# ------------------------------------------------------------------ labels and features


def _labels(column: pd.Series[Any]) -> Any:
    """Return the labels as numbers if all of them are written as numbers, else as text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    known = column.dropna().infer_objects()
    if pd.api.types.is_bool_dtype(known):
        return column.map(str, na_action="ignore")  # the classes False and True, as from a CSV file
    if not pd.api.types.is_string_dtype(known):
        return column
    codes, distinct = pd.factorize(column)
    names = pd.Series(distinct).astype(str).str.strip()
    names = names.where(names.str.lower() != "nan", "")
    numbers = pd.to_numeric(names.where(names != ""), errors="coerce")
    # Not 007, which is text, and no numbers so large that float64 rounds them.
    numeric = (numbers.abs() < 2**53) & ~names.str.match(r"[+-]?0[0-9]")
    values = numbers if (numeric | (names == "")).all() else names
    return values.reindex(codes)


def _features(
    file: TableFile,
    table: pd.DataFrame,
    named: list[str] | None,
    ids: npt.NDArray[Any],
    leave_out: list[str | None],
) -> FloatArray:
    chosen = named
    if chosen is None:
        others = [column for column in file.columns if column not in leave_out]
        chosen = [column for column in others if _is_numeric(table[column]) and not file.unnamed(column)]
        used = set(chosen)
        unused = [column for column in others if column not in used]
        if not chosen:
            raise InputError(
                f"{file.path} has no numeric column for the features besides id and label (its columns are "
                f"{_listing(file.columns)}): add one"
            )
        if unused:
            warnings.warn(
                f"{file.path}: the columns {_listing(unused)} are not numeric, or have no name, and are "
                "not used as features",
                stacklevel=3,
            )
    texts = [column for column in chosen if not pd.api.types.is_numeric_dtype(table[column])]
    values = table[chosen].assign(**{column: _as_numbers(file, table[column]) for column in texts})
    with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite; see below
        x = values.to_numpy(dtype=np.float32)
    finite = np.isfinite(x)
    if not finite.all():
        row, column = (int(v) for v in np.argwhere(~finite)[0])
        what = "empty or NaN" if np.isnan(x[row, column]) else "infinite or too large for float32"
        raise InputError(
            f"{file.path}: the feature {chosen[column]!r} of the node {str(ids[row])!r} is {what} "
            f"({int((~finite).sum())} such cells in all): fill them in, or leave the column out of features"
        )
    return x


def _is_numeric(column: pd.Series[Any]) -> bool:
    if column.dtype == object:  # such as truth values with gaps
        column = column.dropna().infer_objects()
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)


def _as_numbers(file: TableFile, column: pd.Series[Any]) -> pd.Series[Any]:
    texts = column.dtype == object or pd.api.types.is_string_dtype(column)
    numbers = pd.to_numeric(column, errors="coerce") if texts else pd.Series(np.nan, index=column.index)
    bad = np.flatnonzero(numbers.isna() & column.notna())
    if len(bad):
        raise InputError(
            f"{file.path}: the feature column {column.name!r} holds {str(column.iloc[bad[0]])!r}, which is "
            f"not a number (row {bad[0] + 1}): give numbers, or leave the column out of features"
        )
    return numbers.astype(np.float64)
