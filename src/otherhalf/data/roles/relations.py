"""The relations of edges: a column that names them, or one relation for each of several tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pandas as pd

from otherhalf.data.columns.cells import Cells
from otherhalf.data.files.compressed import without_packing
from otherhalf.data.files.database import MARK
from otherhalf.data.files.table import Table
from otherhalf.data.notes import counted, listing
from otherhalf.errors import InputError
from otherhalf.system.relations import MOST_APART

KNOWN_NAMES = ("relation", "rel", "reltype", "type", "kind", "edgetype", "predicate")
"""Names of a column that often says the relation, in small letters without signs. It is only pointed out: a
column that is taken without being asked for can be of any meaning."""

_ENOUGH_EDGES = 20
_MOST_NAMES = 0.5


def relation_column(table: Table, taken: Collection[str | None], named: str | bool | None) -> str | None:
    """Return the column of relations that the user named, if any.

    Args:
        table: The table of edges.
        taken: The columns of source, target and weight.
        named: The column; ``False`` and None for none.
    """
    if named is True:
        raise InputError("relation is True: name the column of relations, or give False for none")
    if named is None or named is False:
        return None
    table.require(named, "relation")
    if named in taken:
        raise InputError(f"the column {named!r} is an end or the weight of the edges and no relation too")
    return named


def could_be_relations(columns: Sequence[str]) -> list[str]:
    """Return the columns whose names say that they may be relations."""
    plain = {column: "".join(sign for sign in column.casefold() if sign.isalnum()) for column in columns}
    return [column for column, name in plain.items() if name in KNOWN_NAMES]


def edge_relations(table: Table, column: pd.Series[Any], notes: list[str]) -> npt.NDArray[Any]:
    """Return the name of the relation of each row; None for an empty cell.

    Args:
        table: The table of edges, for messages.
        column: Its column of relations.
        notes: A sentence is added here if cells are empty.
    """
    cells = Cells.of(column)
    if len(cells) >= _ENOUGH_EDGES and cells.distinct > _MOST_NAMES * len(cells):
        raise InputError(
            f"{table.name}: the relation {column.name!r} has {cells.distinct} different values for "
            f"{len(cells)} edges, which are no kinds of edges: name another column with relation"
        )
    empty = int((cells.codes < 0).sum())
    if empty:
        notes.append(
            f"{table.name}: {counted(empty, 'edge')} without a relation in {column.name!r} count as edges, "
            "but in no relation."
        )
    names: npt.NDArray[Any] = pd.Series([*cells.texts, None], dtype=object).to_numpy()[cells.codes]
    return names


def relations_of_tables(tables: Sequence[Table]) -> list[str]:
    """Return the relation that each table holds: its own name, without folder and ending."""
    short = [
        table.name.partition(MARK)[2] or Path(without_packing(Path(table.name).name)).stem for table in tables
    ]
    return short if len(set(short)) == len(short) else [table.name for table in tables]


def note_relations(counts: dict[str, int], notes: list[str]) -> None:
    """Add a sentence about the relations and their numbers of edges, if there are several."""
    if len(counts) < 2:
        return
    ordered = sorted(counts, key=lambda name: -counts[name])
    told = f"The edges have {len(counts)} relations, which are told apart"
    if len(counts) > MOST_APART:
        told = (
            f"The edges have {len(counts)} relations; the {MOST_APART - 1} most frequent are told apart, and "
            "the others are put together"
        )
    each = listing(f"{name} ({counts[name]:,})" for name in ordered)
    notes.append(f"{told}: {each}. relation=False (--no-relation) takes them as one.")
