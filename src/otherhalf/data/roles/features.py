"""Features that are taken as they are: the numeric columns of a table of nodes, without any encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.files.table import Table
from otherhalf.data.notes import listing
from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray


def numeric_columns(table: Table, cells: pd.DataFrame, notes: list[str]) -> list[str]:
    """Return the columns whose numbers can be taken as they are.

    Args:
        table: The table of nodes.
        cells: Its columns that can be features.
        notes: A sentence is added here with the columns that are not used.
    """
    chosen = [name for name in cells.columns if _is_numeric(cells[name]) and not table.unnamed(name)]
    unused = [name for name in cells.columns if name not in set(chosen)]
    if not chosen:
        raise InputError(
            f"{table.name} has no numeric column for the features besides id and label (its columns are "
            f"{listing(table.columns)}): add one, or encode the columns"
        )
    if unused:
        notes.append(
            f"{table.name}: the columns {listing(unused)} are not numeric, or have no name, and are "
            "not used as features."
        )
    return chosen


def plain_features(
    table: Table, rows: pd.DataFrame, chosen: Sequence[str], ids: npt.NDArray[Any], added: int = 0
) -> FloatArray:
    """Return ``[N + added, D]``: the numbers of the chosen columns; truth values count as 0 and 1.

    Args:
        table: The table of nodes.
        rows: Its rows.
        chosen: Names of the columns.
        ids: The ids of the nodes, for messages.
        added: Number of nodes that have no row: they get the median of every column.
    """
    for name in chosen:
        table.require(name, "features")
    texts = [column for column in chosen if not pd.api.types.is_numeric_dtype(rows[column])]
    values = rows[list(chosen)].assign(**{column: _as_numbers(table, rows[column]) for column in texts})
    with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite; see below
        x = values.to_numpy(dtype=np.float32)
    finite = np.isfinite(x)
    if not finite.all():
        row, column = (int(v) for v in np.argwhere(~finite)[0])
        what = "empty or NaN" if np.isnan(x[row, column]) else "infinite or too large for float32"
        raise InputError(
            f"{table.name}: the feature {chosen[column]!r} of the node {str(ids[row])!r} is {what} "
            f"({int((~finite).sum())} such cells in all): encode the columns, fill these cells in, or leave "
            "the column out of features"
        )
    return np.concatenate([x, np.tile(np.median(x, axis=0), (added, 1)).astype(x.dtype)]) if added else x


def _is_numeric(column: pd.Series[Any]) -> bool:
    if column.dtype == object:  # such as truth values with gaps
        column = column.dropna().infer_objects()
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)


def _as_numbers(table: Table, column: pd.Series[Any]) -> pd.Series[Any]:
    texts = column.dtype == object or pd.api.types.is_string_dtype(column)
    numbers = pd.to_numeric(column, errors="coerce") if texts else pd.Series(np.nan, index=column.index)
    bad = np.flatnonzero(numbers.isna() & column.notna())
    if len(bad):
        raise InputError(
            f"{table.name}: the feature column {column.name!r} holds {str(column.iloc[bad[0]])!r}, which is "
            f"not a number (row {bad[0] + 1}): give numbers, encode the columns, or leave this one out of "
            "features"
        )
    return numbers.astype(np.float64)
