"""All columns of a node table together: learn once, then turn any table with these columns into a matrix."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.columns.boolean import BooleanColumn
from otherhalf.data.columns.category import CategoryColumn
from otherhalf.data.columns.cells import Cells
from otherhalf.data.columns.choices import chosen_columns, listing, said_kinds
from otherhalf.data.columns.column import Column
from otherhalf.data.columns.date import DateColumn
from otherhalf.data.columns.kinds import SAYABLE, USED, Finding, check_said, find_kind
from otherhalf.data.columns.number import NumberColumn
from otherhalf.data.columns.surprises import Surprises, wrong_cells, wrong_note
from otherhalf.data.columns.tags import TagsColumn, tag_gaps
from otherhalf.data.columns.text import TextColumn
from otherhalf.data.notes import by_column
from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

KINDS: dict[str, type[Column]] = {
    kind.kind: kind
    for kind in (NumberColumn, CategoryColumn, BooleanColumn, DateColumn, TextColumn, TagsColumn)
}
"""What becomes of each kind of column."""

FORMAT_VERSION = 1
SPARSE_WIDTH, SPARSE_SHARE = 64, 0.1
"""The matrix is sparse if it has at least so many columns, and fewer than this share of it is not 0."""

_ROWS = 1 << 16


@dataclass(frozen=True)
class Row:
    """One column of the user's table, for display."""

    column: str
    kind: str
    gaps: int
    distinct: int
    becomes: str
    note: str = ""


@dataclass(frozen=True, eq=False)
class Encoded:
    """The numbers that a table becomes.

    Attributes:
        x: ``[N, D]``: an array, or a sparse matrix where that is much smaller.
        names: ``[D]``: the name of each column of ``x``.
        notes: Sentences about cells that could not be read, and values and gaps that the fit did not have.
    """

    x: FloatArray | sp.csr_matrix
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ColumnEncoding:
    """What was learned from the columns of a node table.

    Attributes:
        columns: What becomes of each column that is used, in the order of the result.
        rows: One row for each column of the table, for display.
        sparse: Whether the result is a sparse matrix.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    sparse: bool

    @classmethod
    def learn(
        cls,
        table: pd.DataFrame,
        *,
        kinds: Mapping[str, str] | str | None = None,
        features: Sequence[str] | str | None = None,
        exclude: Sequence[str] | str | None = None,
    ) -> ColumnEncoding:
        """Learn from a table with one row per node, without the columns of ids and labels.

        Args:
            table: The cells. No order of its rows or columns changes what is learned of a column.
            kinds: Kinds that should not be inferred, by name or pattern: ``{"ast_*": "number"}``.
            features: Columns to use, as a list or one comma-separated text, with ``*`` for any characters.
            exclude: Columns not to use, in the same form.
        """
        places = _places(table)
        names = list(places)
        said = said_kinds(names, kinds, SAYABLE)
        used: dict[str, Column] = {}
        rows: dict[str, Row] = {}
        for name in chosen_columns(names, features, exclude):
            cells = Cells.of(table.iloc[:, places[name]])
            finding = check_said(cells, said[name]) if name in said else find_kind(cells)
            if finding.kind in USED:
                used[name] = KINDS[finding.kind].learn(cells)
            rows[name] = _row(cells, finding, used.get(name))
        listed = tuple(rows.get(name) or Row(name, "", 0, 0, "left out") for name in names)
        columns = tuple(used.values())
        width, filled = sum(len(column.names) for column in columns), sum(column.filled for column in columns)
        return cls(columns, listed, width >= SPARSE_WIDTH and filled < SPARSE_SHARE * width)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each column of the result."""
        return tuple(name for column in self.columns for name in column.names)

    def apply(self, table: pd.DataFrame) -> Encoded:
        """Return the numbers for the rows of a table; its columns are found by name.

        The bits of a row depend neither on the other rows nor on the order of columns.
        """
        places = _places(table)
        self._check_columns(list(places))
        parts: list[sp.csr_matrix] = []
        dense = np.zeros((0 if self.sparse else len(table), len(self.names)), dtype=np.float32)
        surprises = [Surprises(column) for column in self.columns]
        for top in range(0, len(table), _ROWS):  # a part of the rows at a time needs little memory
            blocks = []
            for column, surprise in zip(self.columns, surprises, strict=True):
                cells = Cells.of(table.iloc[top : top + _ROWS, places[column.name]])
                blocks.append(column.apply(cells))
                surprise.add(cells)
            if self.sparse:
                parts.append(sp.hstack([sp.csr_matrix(block) for block in blocks], format="csr"))
            elif blocks:
                np.concatenate([_dense(block) for block in blocks], axis=1, out=dense[top : top + _ROWS])
        x = sp.csr_matrix(sp.vstack(parts)) if parts else dense
        if self.sparse and not parts:
            x = sp.csr_matrix((0, len(self.names)), dtype=np.float32)
        notes = by_column((each.column.name, said) for each in surprises for said in each.sentences)
        return Encoded(x, self.names, tuple(notes))

    def _check_columns(self, names: list[str]) -> None:
        missing = [column.name for column in self.columns if column.name not in set(names)]
        if missing:
            raise InputError(
                f"the table has no column {listing(map(repr, missing))}, which the model was fitted with: "
                "add it"
            )
        known = {row.column for row in self.rows}
        new = [name for name in names if name not in known]
        if new:
            raise InputError(new_columns(new))

    # ------------------------------------------------------------------ display

    def table(self) -> list[Row]:
        """Return one row for each column of the user's table: its kind and what becomes of it."""
        return list(self.rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """Decisions that a user should know of: columns that are left out, wrong cells, unclear forms."""
        return tuple(f"{row.column}: {row.note}" for row in self.rows if row.note)

    # ------------------------------------------------------------------ files

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the arrays, for JSON."""
        return {
            "version": FORMAT_VERSION,
            "columns": [column.to_dict() for column in self.columns],
            "rows": [asdict(row) for row in self.rows],
            "sparse": self.sparse,
        }

    def tensors(self) -> dict[str, Tensor]:
        """Return the arrays, with the names that files use."""
        return {
            f"columns/{place}/{name}": tensor
            for place, column in enumerate(self.columns)
            for name, tensor in column.tensors().items()
        }

    @classmethod
    def from_parts(cls, values: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> ColumnEncoding:
        """Return the encoding that was written with :meth:`to_dict` and :meth:`tensors`."""
        if values["version"] > FORMAT_VERSION:
            raise InputError(
                f"the columns have format {values['version']} and this otherhalf reads up to "
                f"{FORMAT_VERSION}: upgrade otherhalf"
            )
        columns = []
        for place, column in enumerate(values["columns"]):
            start = f"columns/{place}/"
            own = {key.removeprefix(start): part for key, part in tensors.items() if key.startswith(start)}
            columns.append(KINDS[column["kind"]].from_dict(column, own))
        return cls(tuple(columns), tuple(Row(**row) for row in values["rows"]), bool(values["sparse"]))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that was learned."""
        digest = hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode())
        for name, tensor in sorted(self.tensors().items()):
            digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
            digest.update(tensor.numpy().tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnEncoding) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def new_columns(names: Sequence[str]) -> str:
    """Return the sentence that refuses columns which the fit did not have."""
    return (
        f"the table has the column {listing(map(repr, names))}, which the model was not fitted with: "
        "take it out, or fit again"
    )


def _places(table: pd.DataFrame) -> dict[str, int]:
    """Return the place of each column by its name."""
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"the node table must be a pandas DataFrame, not {type(table).__name__}: convert it")
    names = [str(name) for name in table.columns]
    places = {name: place for place, name in enumerate(names)}
    if len(places) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the node table has two columns called {twice!r}: rename one")
    return places


def _dense(block: FloatArray | sp.csr_matrix) -> FloatArray:
    return block if isinstance(block, np.ndarray) else np.asarray(block.toarray())


def _row(cells: Cells, finding: Finding, column: Column | None) -> Row:
    notes = [finding.why] if finding.why else []
    if column is None:
        if finding.kind == "id":
            notes.append("say its kind to use it")
        gaps, distinct = (0, 0) if cells.lists is not None else (int(cells.gaps.sum()), cells.distinct)
        return Row(cells.name, finding.kind, gaps, distinct, "left out", "left out: " + "; ".join(notes))
    wrong = wrong_cells(cells, column)
    notes += [*([wrong_note(wrong, column.kind)] if wrong else []), *column.remarks]
    if isinstance(column, TagsColumn) and cells.lists is not None:
        gaps, distinct = int(tag_gaps(cells).sum()), column.distinct
    else:
        distinct = column.distinct if isinstance(column, TagsColumn) else cells.distinct
        gaps = int(cells.gaps.sum())
    becomes = column.becomes
    if isinstance(column, NumberColumn) and column.scaling.why:
        becomes += f": {column.scaling.why}"
    return Row(cells.name, column.kind, gaps, distinct, becomes, "; ".join(notes))
