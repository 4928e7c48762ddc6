"""The labels of nodes: which cells are classes, and which mean that the class is not known."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from otherhalf.data.columns.cells import GAP_WORDS
from otherhalf.data.files.table import Table, check_no_bytes
from otherhalf.data.notes import counted, listing
from otherhalf.errors import InputError
from otherhalf.system.arrays import UNKNOWN

# From this many labelled nodes on, a column with a class for nearly every node holds names or measurements.
_ENOUGH_NODES = 20
_MOST_CLASSES = 0.8
_LIKE_UNKNOWN = GAP_WORDS | {"unknown", "unlabeled", "unlabelled", "missing"}
_SHOWN = 3


def read_labels(table: Table, column: pd.Series[Any], notes: list[str]) -> tuple[Any, Any]:
    """Return the labels as :class:`~otherhalf.graph.Graph` takes them, and the classes if they are codes.

    Labels are numbers if all of them are written as numbers, else text. An empty cell and NaN mean unknown.
    So does −1, unless −1 and 1 are all the labels there are: then both are classes.

    Args:
        table: The table of nodes, for messages.
        column: Its column of labels.
        notes: A sentence is added here if −1 or the text NaN is among the labels, if a class looks like a
            word for "not known", and if classes differ only in capital letters.
    """
    check_no_bytes(table.name, column)
    _note_texts(table, column, notes)
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
        column = column.astype(object)
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


def _note_texts(table: Table, column: pd.Series[Any], notes: list[str]) -> None:
    """Say which texts mean that the label is not known, and which do not although they look so."""
    known = column.dropna().infer_objects()
    if isinstance(known.dtype, pd.CategoricalDtype):
        known = known.astype(object)
    if not pd.api.types.is_string_dtype(known):
        return
    counts = known.astype(str).str.strip().value_counts()
    unknown = [name for name in counts.index if name.lower() == "nan"]
    where = f"{table.name}: the label column {column.name!r}"
    if unknown:
        notes.append(
            f"{where} has the text {unknown[0]!r}, which means that the label is not known "
            f"({counted(int(counts[unknown].sum()), 'node')})."
        )
    names = sorted(name for name in counts.index if name and name not in unknown)
    unclear = [name for name in names if name.lower() in _LIKE_UNKNOWN]
    if unclear:
        notes.append(
            f"{where} has the class {listing(map(repr, unclear), 5)}: leave these cells empty if the label "
            "is not known there."
        )
    alike = [list(group) for _, group in groupby(sorted(names, key=str.casefold), str.casefold)]
    for group in [sorted(group) for group in alike if len(group) > 1][:_SHOWN]:
        notes.append(
            f"{where} has the classes {listing(map(repr, group), 5)}, which differ only in capital letters: "
            "write them alike if they are one class."
        )


def _check_classes(table: Table, column: pd.Series[Any], known: pd.Series[Any]) -> None:
    if pd.api.types.is_complex_dtype(known):
        raise InputError(
            f"{table.name}: the label column {column.name!r} holds complex numbers: give one class per node"
        )
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
