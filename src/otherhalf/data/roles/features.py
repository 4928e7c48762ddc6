"""The features of nodes: the numeric columns of their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.files.table import Table
from otherhalf.data.notes import counted, listing
from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray


def named_features(
    table: Table, features: Sequence[str] | str | None, taken: dict[str, str]
) -> list[str] | None:
    """Return the feature columns that the user named; None if the contents are to decide.

    Args:
        table: The table of nodes.
        features: A list of columns, or one text with commas between them.
        taken: Columns that cannot be features, and what each is.
    """
    if features is None:
        return None
    names = features.split(",") if isinstance(features, str) else features
    chosen = [str(column).strip() for column in names if str(column).strip()]
    if not chosen:
        raise InputError(
            f"no feature column is named: the columns of {table.name} are {listing(table.columns)}"
        )
    for column in chosen:
        table.require(column, "features")
        if column in taken:
            raise InputError(f"the column {column!r} is the {taken[column]}: take it out of the features")
        if chosen.count(column) > 1:
            raise InputError(f"the feature column {column!r} is named twice: name it once")
    return chosen


def read_features(
    table: Table,
    rows: pd.DataFrame,
    named: list[str] | None,
    ids: npt.NDArray[Any],
    leave_out: set[str],
    notes: list[str],
) -> FloatArray:
    """Return ``[N, D]`` features: the columns ``named``, or every numeric column but those to leave out.

    Args:
        table: The table of nodes.
        rows: Its rows.
        named: Columns that the user named, if any.
        ids: The ids of the nodes, for messages.
        leave_out: Columns with another role.
        notes: A sentence is added here with the columns that are not used.
    """
    chosen = named
    if chosen is None:
        others = [column for column in table.columns if column not in leave_out]
        chosen = [column for column in others if _is_numeric(rows[column]) and not table.unnamed(column)]
        used = set(chosen)
        unused = [column for column in others if column not in used]
        if not chosen:
            raise InputError(
                f"{table.name} has no numeric column for the features besides id and label (its columns are "
                f"{listing(table.columns)}): add one"
            )
        if unused:
            notes.append(
                f"{table.name}: the columns {listing(unused)} are not numeric, or have no name, and are "
                "not used as features."
            )
    texts = [column for column in chosen if not pd.api.types.is_numeric_dtype(rows[column])]
    values = rows[chosen].assign(**{column: _as_numbers(table, rows[column]) for column in texts})
    with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite; see below
        x = values.to_numpy(dtype=np.float32)
    finite = np.isfinite(x)
    if not finite.all():
        row, column = (int(v) for v in np.argwhere(~finite)[0])
        what = "empty or NaN" if np.isnan(x[row, column]) else "infinite or too large for float32"
        raise InputError(
            f"{table.name}: the feature {chosen[column]!r} of the node {str(ids[row])!r} is {what} "
            f"({int((~finite).sum())} such cells in all): fill them in, or leave the column out of features"
        )
    return x


def features_of_added_nodes(x: FloatArray, count: int, notes: list[str]) -> FloatArray:
    """Return the features with rows for nodes that only edges name: the median of every column."""
    if count == 0:
        return x
    notes.append(
        f"The features of {counted(count, 'added node')} are the medians of the columns, because nothing "
        "else is known."
    )
    return np.concatenate([x, np.tile(np.median(x, axis=0), (count, 1)).astype(x.dtype)])


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
            f"not a number (row {bad[0] + 1}): give numbers, or leave the column out of features"
        )
    return numbers.astype(np.float64)
