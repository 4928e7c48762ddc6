"""The labels of nodes: which cells are classes, and which mean that the class is not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from otherhalf.data.files.table import Table
from otherhalf.data.notes import counted
from otherhalf.errors import InputError
from otherhalf.system.arrays import UNKNOWN

# From this many labelled nodes on, a column with a class for nearly every node holds names or measurements.
_ENOUGH_NODES = 20
_MOST_CLASSES = 0.8


def read_labels(table: Table, column: pd.Series[Any], notes: list[str]) -> tuple[Any, Any]:
    """Return the labels as :class:`~otherhalf.graph.Graph` takes them, and the classes if they are codes.

    Labels are numbers if all of them are written as numbers, else text. An empty cell and NaN mean unknown.
    So does −1, unless −1 and 1 are all the labels there are: then both are classes.

    Args:
        table: The table of nodes, for messages.
        column: Its column of labels.
        notes: A sentence is added here if −1 or the text NaN is among the labels.
    """
    labels = _numbers_or_text(table, column)
    known = labels.dropna().infer_objects()
    _check_classes(table, column, known)
    if pd.api.types.is_numeric_dtype(known):
        if set(known.unique()) == {-1, 1}:
            notes.append(
                f"{table.name}: the labels in {column.name!r} are −1 and 1, so −1 is a class and does not "
                "mean unknown."
            )
            codes = labels.map({-1: 0, 1: 1}).fillna(UNKNOWN).astype(np.int64)
            return codes, np.array([-1, 1])
        unknown = int((known == UNKNOWN).sum())
    else:
        unknown = int((known.astype(str).str.strip() == str(UNKNOWN)).sum())
    if unknown:
        notes.append(
            f"{table.name}: −1 in the label column {column.name!r} means that the label is not known "
            f"({counted(unknown, 'node')})."
        )
    return labels, None


def _numbers_or_text(table: Table, column: pd.Series[Any]) -> pd.Series[Any]:
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
    values = numbers if (numeric | (names == "")).all() else names.where(names != "")
    return values.reindex(codes).reset_index(drop=True)


def _check_classes(table: Table, column: pd.Series[Any], known: pd.Series[Any]) -> None:
    try:
        classes = known.nunique()
    except TypeError as error:
        raise InputError(
            f"{table.name}: the label column {column.name!r} holds lists or other structures: give one class "
            "per node"
        ) from error
    if len(known) >= _ENOUGH_NODES and classes > _MOST_CLASSES * len(known):
        raise InputError(
            f"{table.name}: the label column {column.name!r} has {classes} different values for {len(known)} "
            "nodes, which are names or measurements and not classes: name the column of classes with label, "
            "or rename this one"
        )
