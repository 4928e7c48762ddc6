"""The weights of edges: which column of an edge table has them, and positive numbers from its cells."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.columns.cells import Cells
from otherhalf.data.columns.kinds import mostly
from otherhalf.data.columns.number import numbers_in
from otherhalf.data.columns.number_text import remarks
from otherhalf.data.files.table import Table
from otherhalf.data.notes import counted
from otherhalf.errors import InputError
from otherhalf.system.names import short

Weights = npt.NDArray[np.float64]

KNOWN_NAMES = ("weight", "weights", "w")
"""Names of a weight column, in small letters; an earlier one goes before a later one."""


def weight_column(
    table: Table, rows: pd.DataFrame, ends: Collection[str], named: str | bool | None, notes: list[str]
) -> str | None:
    """Return the column of weights, if there is one: the one named, or else a numeric one of a known name.

    A column is numeric if most of its cells are numbers; the other cells are then refused by
    :func:`edge_weights`.

    Args:
        table: The table of edges.
        rows: Its rows.
        ends: The columns of source and target.
        named: The column that the user named; ``False`` for no weights, None to look for one.
        notes: A sentence is added here if a column was found that the user did not name.
    """
    if named is True:
        raise InputError("weight is True: name the column of weights, or give False for no weights")
    if named is False:
        return None
    if named is not None:
        table.require(named, "weight")
        if named in ends:
            raise InputError(f"the column {named!r} is an end of the edges and cannot be their weight too")
        return named
    called = {column: column.casefold() for column in table.columns if column not in ends}
    for name in KNOWN_NAMES:
        same = [column for column, plain in called.items() if plain == name]
        for column in sorted(same, key=lambda column: column != name):
            if _numeric(rows[column]):
                notes.append(
                    f"{table.name}: the column {column!r} was taken as the weights of the edges; "
                    "weight=False (--no-weight) ignores it."
                )
                return column
    return None


def _numeric(column: pd.Series[Any]) -> bool:
    cells = Cells.of(column)
    if cells.truths:
        return False
    numbers, _ = numbers_in(cells)
    return mostly(int((~np.isnan(numbers)).sum()), int((~cells.gaps).sum()))


def edge_weights(
    table: Table, column: pd.Series[Any], kept: npt.NDArray[np.bool_], notes: list[str]
) -> tuple[Weights, npt.NDArray[np.bool_]]:
    """Return the weights of the edges that are kept, and which rows of the table these are.

    A weight of 0 means that there is no edge: such rows are dropped. Those of repeated edges are not summed
    here, because :class:`~otherhalf.graph.Graph` does that.

    Args:
        table: The table of edges, for messages.
        column: Its column of weights: numbers, or text that holds numbers with decimal points or commas.
        kept: ``[rows]`` the rows whose ends are nodes; the weights of others are not looked at.
        notes: A sentence is added here if rows are dropped, or numbers are not written in the plain way.

    Returns:
        The weights, and ``[rows]`` which rows have one: the rows of ``kept`` without those of weight 0.
    """
    numbers, style = numbers_in(Cells.of(column))
    wrong = kept & ~(numbers >= 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        cell = column.iloc[row]
        gap = pd.api.types.is_scalar(cell) and (pd.isna(cell) or str(cell).strip() == "")
        what = "empty" if gap else repr(short(cell))
        raise InputError(
            f"{table.name}: the weight {column.name!r} in row {row + 1} is {what} "
            f"({counted(int(wrong.sum()), 'such row')} in all): give positive numbers, name another column "
            "with weight, or ignore the weights with weight=False (--no-weight)"
        )
    notes.extend(f"{table.name}, column {column.name!r}: {remark}." for remark in remarks(style))
    zero = kept & (numbers == 0)
    if zero.any():
        notes.append(
            f"{table.name}: the reader dropped {counted(int(zero.sum()), 'edge')} whose weight "
            f"{column.name!r} is 0."
        )
    if (kept & ~zero).sum() == 0:
        raise InputError(f"{table.name}: every weight {column.name!r} is 0: name another column")
    return numbers[kept & ~zero], kept & ~zero
