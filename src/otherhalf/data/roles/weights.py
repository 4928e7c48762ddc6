"""The weights of edges: positive numbers, one for every edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.files.table import Table
from otherhalf.data.notes import counted
from otherhalf.errors import InputError

Weights = npt.NDArray[np.float64]


def edge_weights(
    table: Table, column: pd.Series[Any], kept: npt.NDArray[np.bool_], notes: list[str]
) -> tuple[Weights, npt.NDArray[np.bool_]]:
    """Return the weights of the edges that are kept, and which rows of the table these are.

    A weight of 0 means that there is no edge: such rows are dropped. Those of repeated edges are not summed
    here, because :class:`~otherhalf.graph.Graph` does that.

    Args:
        table: The table of edges, for messages.
        column: Its column of weights.
        kept: ``[rows]`` the rows whose ends are nodes; the weights of others are not looked at.
        notes: A sentence is added here if rows are dropped.

    Returns:
        The weights, and ``[rows]`` which rows have one: the rows of ``kept`` without those of weight 0.
    """
    numbers = pd.to_numeric(column, errors="coerce").astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    wrong = kept & ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        cell = column.iloc[row]
        what = "empty" if pd.isna(cell) or str(cell).strip() == "" else f"{str(cell)!r}"
        raise InputError(
            f"{table.name}: the weight {column.name!r} in row {row + 1} is {what} "
            f"({counted(int(wrong.sum()), 'such row')} in all): give positive numbers, or name another column"
        )
    zero = kept & (numbers == 0)
    if zero.any():
        notes.append(
            f"{table.name}: the reader dropped {counted(int(zero.sum()), 'edge')} whose weight "
            f"{column.name!r} is 0."
        )
    if (kept & ~zero).sum() == 0:
        raise InputError(f"{table.name}: every weight {column.name!r} is 0: name another column")
    return numbers[kept & ~zero], kept & ~zero
