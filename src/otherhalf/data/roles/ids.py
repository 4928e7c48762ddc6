"""The ids of nodes: compared as text, unless every one of them is a whole number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.files.table import Table, check_no_bytes
from otherhalf.errors import InputError
from otherhalf.system.arrays import IntArray
from otherhalf.system.names import LONGEST_NAME, short

# An integer in its usual form, or as pandas writes it in a column with gaps (1.0). Not 007, which is text;
# at most 18 digits, which int64 holds.
_INTEGER = r"(?:0|-?[1-9][0-9]{0,17})(?:\.0+)?"


@dataclass(frozen=True)
class NodeIds:
    """The ids of all nodes, in order: int64, or objects that are text."""

    values: npt.NDArray[Any]

    @cached_property
    def _index(self) -> pd.Index[Any]:
        index: pd.Index[Any] = pd.Index(self.values)
        return index

    def find(self, names: pd.Series[Any]) -> IntArray:
        """Return the node that each name stands for, −1 for none."""
        if self.values.dtype.kind != "i":
            return self._index.get_indexer(pd.Index(names.astype(object)))
        positions = np.full(len(names), -1, dtype=np.int64)
        integers = names.str.fullmatch(_INTEGER).to_numpy(dtype=bool)
        positions[integers] = self._index.get_indexer(pd.Index(_as_integers(names[integers])))
        return positions

    def known(self, table: Table, column: pd.Series[Any]) -> npt.NDArray[np.bool_]:
        """Return for every cell of a column whether it is a node id."""
        codes, names = distinct_names(table, column)
        return np.where(codes < 0, False, np.append(self.find(names) >= 0, False)[codes])

    def with_more(self, names: pd.Series[Any]) -> NodeIds:
        """Return the ids with new ones at the end. All become text if a new one is not a whole number."""
        if self.values.dtype.kind == "i" and names.str.fullmatch(_INTEGER).all():
            return NodeIds(np.concatenate([self.values, pd.unique(_as_integers(names))]))
        ids = self.values if self.values.dtype == object else self.values.astype(str).astype(object)
        return NodeIds(np.concatenate([ids, names.to_numpy(dtype=object)]))


def distinct_names(table: Table, column: pd.Series[Any]) -> tuple[IntArray, pd.Series[Any]]:
    """Return for each row the code of its name (−1: none), and the distinct names as text."""
    check_no_bytes(table.name, column)
    try:
        codes, distinct = pd.factorize(column)
        names = _as_names(pd.Series(distinct))
    except TypeError as error:  # lists cannot be compared
        raise InputError(
            f"{table.name}: the column {column.name!r} holds lists or other structures: "
            "give one value per cell"
        ) from error
    except NotImplementedError as error:  # of pandas, for moments with a time zone
        raise InputError(
            f"{table.name}: the column {column.name!r} holds dates beyond the year 9999: give text or numbers"
        ) from error
    blank = np.flatnonzero(names == "")
    return np.where(np.isin(codes, blank), -1, codes), names


def _as_names(values: pd.Series[Any]) -> pd.Series[Any]:
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    if (
        pd.api.types.is_float_dtype(values)
        and np.all(values == np.round(values))
        and values.abs().lt(2**53).all()
    ):
        values = values.astype(np.int64)
    return values.astype(str).str.strip()


def node_ids(table: Table, column: pd.Series[Any]) -> NodeIds:
    """Return the ids in a column. Raise InputError if one is empty or occurs twice."""
    codes, names = distinct_names(table, column)
    if (codes < 0).any():
        raise InputError(
            f"{table.name}: the id {column.name!r} is empty in row {int(np.argmax(codes < 0)) + 1} "
            f"({int((codes < 0).sum())} in all): give every node an id"
        )
    integers = bool(names.str.fullmatch(_INTEGER).all())
    if not integers:
        _check_length(table, column, codes, names)
    ids = (_as_integers(names) if integers else names.to_numpy(dtype=object))[codes]
    repeated = pd.Index(ids).duplicated()
    if repeated.any():
        raise InputError(
            f"{table.name}: the id {short(ids[repeated][0])!r} in the column {column.name!r} occurs more "
            f"than once (row {int(np.argmax(repeated)) + 1}): give every node one row, or name another id "
            "column"
        )
    return NodeIds(ids)


def check_first_line(table: Table, column: str, ids: NodeIds) -> None:
    """Raise InputError if the name of the id column is a whole number, as the ids are: it is a node."""
    if ids.values.dtype.kind == "i" and re.fullmatch(_INTEGER, column):
        raise InputError(
            f"the first line of {table.name} is the node {column}, not column names: add a line such as "
            f"id,… above it, or name the column of node ids with id"
        )


def _as_integers(names: pd.Series[Any]) -> IntArray:
    return np.asarray(names.str.replace(r"\.0+$", "", regex=True).astype(np.int64))


def _check_length(table: Table, column: pd.Series[Any], codes: IntArray, names: pd.Series[Any]) -> None:
    lengths = names.str.len().to_numpy()
    longest = int(lengths.max(initial=0))
    if longest > LONGEST_NAME:
        place = int(np.argmax(lengths))
        row = int(np.argmax(codes == place)) + 1
        raise InputError(
            f"{table.name}: the id {short(names[place])!r} in the column {column.name!r}, row {row}, "
            f"has {longest:,} characters: name another id column, or shorten the ids"
        )
