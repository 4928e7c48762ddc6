"""A table of nodes: which columns are ids, labels, parts of a split and features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.columns import number_text
from otherhalf.data.columns.category import CategoryColumn
from otherhalf.data.columns.cells import Cells
from otherhalf.data.columns.choices import kinds_by_name, split_names
from otherhalf.data.columns.encoding import ColumnEncoding, Encoded
from otherhalf.data.columns.kinds import ID_NAME
from otherhalf.data.columns.leaks import Tell, columns_that_tell
from otherhalf.data.files.table import MemoryTable, Table
from otherhalf.data.notes import by_column, counted, listing
from otherhalf.data.own_splits import PART_NAMES, column_split, time_split
from otherhalf.data.reading import Columns, Reading
from otherhalf.data.roles.features import numeric_columns, plain_features
from otherhalf.data.roles.ids import NodeIds, check_first_line, node_ids
from otherhalf.data.roles.labels import read_labels
from otherhalf.errors import InputError
from otherhalf.graph import Split
from otherhalf.system.arrays import FloatArray

_SAMPLE_ROWS = 1000


@dataclass(frozen=True, eq=False)
class NodeTable:
    """The nodes of a table.

    Attributes:
        table: The table.
        rows: Its cells.
        ids: The ids of the nodes.
        cells: The columns that can be features.
        reading: What the columns mean, and what becomes of them.
        y: Labels as :class:`~otherhalf.graph.Graph` takes them, and ``classes`` if they are codes.
        tells: Columns that give the label away; looked for only where the encoding is learned.
    """

    table: Table
    rows: pd.DataFrame
    ids: NodeIds
    cells: pd.DataFrame
    reading: Reading
    y: Any
    classes: Any
    tells: tuple[Tell, ...] = ()

    @cached_property
    def x(self) -> FloatArray | sp.csr_matrix:
        """``[N, D]`` features; no column if the table has none, for which Graph has a rule."""
        if self.encoded is None:
            return plain_features(self.table, self.rows, self._plain, self.ids.values)
        return self.encoded.x

    @cached_property
    def encoded(self) -> Encoded | None:
        """What the columns of features become; None if their numbers are taken as they are."""
        encoding = self.reading.encoding
        try:
            return None if encoding is None else encoding.apply(self.cells)
        except InputError as error:
            raise InputError(f"{self.table.name}: {error}") from error

    def check_columns(self) -> None:
        """Raise InputError if the table has columns that the table of the fit did not have."""
        try:
            if self.reading.encoding is None:
                self.reading.check_new(list(self.cells.columns))
        except InputError as error:
            raise InputError(f"{self.table.name}: {error}") from error

    def features(self, added: int, notes: list[str]) -> FloatArray | sp.csr_matrix:
        """Return ``[N + added, D]`` features; added nodes, which only edges name, are rows of gaps."""
        if not added:
            return self.x
        notes.append(
            f"Nothing is known of {counted(added, 'added node')}, so their features are those of a row "
            "without any value."
        )
        encoding = self.reading.encoding
        if encoding is None:
            return plain_features(self.table, self.rows, self._plain, self.ids.values, added)
        empty = pd.DataFrame(index=range(added), columns=self.cells.columns, dtype=object)
        rows = encoding.apply(empty).x
        return sp.csr_matrix(sp.vstack([self.x, rows])) if encoding.sparse else np.concatenate([self.x, rows])

    @property
    def _plain(self) -> list[str]:
        """The columns whose numbers are taken as they are."""
        return split_names(self.reading.columns.features or ())

    def splits(self, labelled: npt.NDArray[np.bool_], notes: list[str]) -> tuple[Split, ...]:
        """Return the split that a column decides, if the user named one."""
        columns = self.reading.columns
        for column, make in ((columns.split_column, column_split), (columns.split_time, time_split)):
            if column is not None and column in self.table.columns:
                return (make(self.rows[column], labelled, f"{self.table.name}, column {column!r}", notes),)
        return ()


def read_nodes(table: Table, columns: Columns, notes: list[str], reading: Reading | None = None) -> NodeTable:
    """Read a table of nodes.

    Args:
        table: The table.
        columns: What its columns mean.
        notes: The decisions are added here, each one sentence.
        reading: The reading of a fit, which is applied again; default: everything is learned from this table.
    """
    if reading is not None:
        columns = _again(table, columns, reading)
    id, label = id_and_label(table, columns.id, columns.label)
    taken = {id: "id"} if label is None else {id: "id", label: "label"}
    by_split = _split_columns(table, columns, taken)
    named = _named_features(table, columns, taken)
    codes = _code_columns(table) if columns.encode and reading is None else ()
    again = () if reading is None else set(reading.text).intersection(table.columns)
    rows = table.read(text=[*taken, *by_split.difference(named), *codes, *again])
    ids = node_ids(table, rows[id])
    if columns.id is None and not isinstance(table, MemoryTable):
        check_first_line(table, id, ids)
    if columns.id is None and not ID_NAME.fullmatch(id):
        notes.append(
            f"{table.name}: the node ids were taken from the first column {id!r}; name their column with id "
            "if that is wrong."
        )
    cells = rows[[name for name in table.columns if name not in taken and name not in by_split - named]]
    columns = replace(columns, id=id, label=label)
    y, classes = (None, None) if label is None else read_labels(table, rows[label], notes)
    if reading is not None and (reading.encoding is not None or columns.features is not None):
        read = NodeTable(table, rows, ids, cells, replace(reading, columns=columns), y, classes)
        read.check_columns()
        notes.extend(f"{table.name}: {note}." for note in (read.encoded.notes if read.encoded else ()))
        return read
    reading = _learn(table, cells, columns, taken, notes)
    tells: list[Tell] = []
    if label is not None and reading.encoding is not None:
        tells = columns_that_tell(cells, rows[label], reading.encoding)
    notes.extend(
        f"{table.name}: the column {tell.column!r} alone tells the label of {tell.score:.1%} of the nodes "
        f"(the most frequent label: {tell.baseline:.1%}). If it is not known for new nodes, exclude it."
        for tell in tells
    )
    return NodeTable(table, rows, ids, cells, reading, y, classes, tuple(tells))


def id_and_label(table: Table, id: str | None, label: str | None) -> tuple[str, str | None]:
    """Return the columns of ids and labels: those that the user names, or else ``id`` and ``label``."""
    if id is None:
        named = _called(table, "id")
        id = named or table.columns[0]
        if named is None and id == (label or _called(table, "label")):
            raise InputError(
                f"{table.name} has no column 'id', and its first column is the label {id!r}: "
                "name the column of node ids with id"
            )
    table.require(id, "node id")
    if label is None:
        label = _called(table, "label")
        return id, None if label == id else label
    table.require(label, "label")
    if label == id:
        raise InputError(f"the column {id!r} cannot be both id and label: name two different columns")
    return id, label


def _called(table: Table, name: str) -> str | None:
    """Return the column of this name, in small letters or else in any."""
    same = [column for column in table.columns if column.casefold() == name]
    return name if name in same else next(iter(same), None)


def _again(table: Table, columns: Columns, reading: Reading) -> Columns:
    """Return what the columns of another table mean: what is said now, or else what was said for the fit."""
    for name in ("features", "exclude", "kinds"):
        if getattr(columns, name) is not None:
            raise InputError(
                f"{name} cannot be said anew: the model reads the columns as they were read for its fit, so "
                "leave it out"
            )
    earlier = reading.columns
    optional: dict[str, Any] = {
        name: column if column in table.columns else None
        for name in ("label", "split_column", "split_time")
        if (column := getattr(earlier, name)) is not None
    }
    return columns.over(replace(earlier, **optional))


def _learn(
    table: Table, cells: pd.DataFrame, columns: Columns, taken: dict[str, str], notes: list[str]
) -> Reading:
    """Decide what becomes of the columns of features, and say so."""
    if not columns.encode:
        for name in ("exclude", "kinds"):
            if getattr(columns, name) is not None:
                raise InputError(f"{name} says what becomes of columns: leave it out, or encode the columns")
        named = split_names(columns.features or ()) or numeric_columns(table, cells, notes)
        unused = tuple(name for name in cells.columns if name not in set(named))
        return Reading(replace(columns, features=named), None, unused=unused)
    for name in kinds_by_name(columns.kinds):
        if name in taken:
            raise InputError(f"the column {name!r} is the {taken[name]} and no feature: take it out of kinds")
    # A column that is no feature need not be excluded.
    exclude = [name for name in split_names(columns.exclude or ()) if name not in taken]
    encoding = ColumnEncoding.learn(
        cells, kinds=columns.kinds, features=columns.features, exclude=exclude or None
    )
    said = by_column((row.column, row.note) for row in encoding.table() if row.note)
    notes.extend(f"{table.name}: {note}." for note in said)
    if not encoding.columns:
        notes.append(
            f"{table.name} has no column for the features: edges, and labels of other nodes, decide alone."
        )
    notes.extend(
        f"{table.name}: the column {column.name!r} with the values {listing(column.values)} is a feature: if "
        "it says the parts of a split, name it with split_column (--split-column)."
        for column in encoding.columns
        if isinstance(column, CategoryColumn) and _are_parts(column.values)
    )
    text = tuple(column.name for column in encoding.columns if _is_text(cells[column.name]))
    return Reading(columns, encoding, text)


def _are_parts(values: Sequence[str]) -> bool:
    return len(values) > 1 and {value.casefold() for value in values} <= PART_NAMES.keys()


def _code_columns(table: Table) -> list[str]:
    """Return the columns of a text file with codes such as 007, which are no numbers, in its first rows."""
    if isinstance(table, MemoryTable):
        return []
    rows = table.first_rows(_SAMPLE_ROWS)
    return [name for name in rows.columns if number_text.has_codes(rows[name].dropna().unique().tolist())]


def _is_text(column: pd.Series[Any]) -> bool:
    return Cells.of(column).plain is None and pd.api.types.is_string_dtype(column.dropna())


def _named_features(table: Table, columns: Columns, taken: dict[str, str]) -> set[str]:
    """Return the columns that the user names as features; raise InputError if one has another role."""
    if columns.features is None:
        return set()
    names = split_names(columns.features)
    if not names:
        raise InputError(
            f"no feature column is named: the columns of {table.name} are {listing(table.columns)}"
        )
    for name in names:
        if name in taken:
            raise InputError(f"the column {name!r} is the {taken[name]}: take it out of the features")
        if names.count(name) > 1:
            raise InputError(f"the feature column {name!r} is named twice: name it once")
        if "*" not in name:
            table.require(name, "features")
    # A pattern such as * does not make a feature of the column that the split follows.
    return {name for name in names if name in table.columns}


def _split_columns(table: Table, columns: Columns, taken: dict[str, str]) -> set[str]:
    """Return the column that decides the split, if there is one. A column of parts can have no other role."""
    if columns.split_column is not None and columns.split_time is not None:
        raise InputError("the split cannot follow both split_column and split_time: give one of them")
    named = {columns.split_column: "split column", columns.split_time: "split time"}
    found = {column: role for column, role in named.items() if column is not None}
    for column, role in found.items():
        table.require(column, role)
        if column in taken:
            raise InputError(f"the column {column!r} is the {taken[column]} and cannot be the {role} too")
    if columns.split_column is not None:
        taken[columns.split_column] = "split"
    return set(found)
