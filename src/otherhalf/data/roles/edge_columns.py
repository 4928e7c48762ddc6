"""Which two columns of a table are the ends of its edges."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from otherhalf.data.files.table import Table
from otherhalf.data.notes import listing
from otherhalf.data.roles.end_names import NEVER_AN_END, ROW_NUMBERS, known_pairs, plain
from otherhalf.data.roles.ids import NodeIds
from otherhalf.errors import InputError

_SAMPLE_ROWS = 1000


def edge_columns(
    table: Table, ids: NodeIds, source: str | None, target: str | None, notes: list[str]
) -> tuple[str, str]:
    """Return the columns of the two ends: those named, those of known names, or else the first two.

    A guess is checked with the first rows: most of their cells must be node ids. The first two columns are
    taken only if nothing speaks against them: their names say nothing else, and no other column holds node
    ids.

    Args:
        table: The table of edges.
        ids: The ids of the nodes.
        source: Column that the user named, if any.
        target: Likewise, for the other end.
        notes: A sentence is added here with the columns, unless it is plain which these are.
    """
    for column, role in ((source, "source"), (target, "target")):
        if column is not None:
            table.require(column, role)
    if len(table.columns) < 2:
        raise InputError(
            f"{table.name} has only the column {table.columns[0]!r}: an edge needs two, source and target"
        )
    if source is not None and source == target:
        raise InputError(f"the column {source!r} cannot be both ends of an edge: name two different columns")
    if source is not None and target is not None:
        return source, target
    sample = _Sample(table, ids)
    known = [pair for pair in known_pairs(table.columns) if _agrees(pair, source, target)]
    fitting = [pair for pair in known if sample.fits(pair)]
    if fitting:
        _note_choice(table, fitting, notes)
        if source is None and target is None and _are_nodes(fitting[0], ids):
            names = ", ".join(fitting[0])
            notes.append(
                f"{table.name}: the first line, {names}, was taken as column names, though nodes "
                "are called so: if it is an edge, add a line such as source,target above it."
            )
        return fitting[0]
    guess = _first_two(table, source, target)
    if guess is not None and sample.fits(guess):
        others = [column for column in _free(table, *guess) if column in sample.columns_of_ids()]
        if others:
            raise InputError(_no_ends(table, sample))
        if source is None and target is None:
            _check_header(table, guess, ids)
        ends = " to ".join(repr(end) for end in guess)
        notes.append(
            f"{table.name}: the edges were taken to go from the column {ends}; name the columns with source "
            "and target if that is wrong."
        )
        return guess
    if known:
        return known[0]  # its cells are no node ids, which the next step says with an example
    if guess is None or len(table.columns) > 2:
        raise InputError(_no_ends(table, sample))
    _check_header(table, guess, ids)
    return guess


class _Sample:
    """The first rows of a table, and which of its columns hold node ids."""

    def __init__(self, table: Table, ids: NodeIds) -> None:
        self.table, self.ids = table, ids
        self.rows = table.first_rows(_SAMPLE_ROWS)

    def fits(self, pair: tuple[str, str]) -> bool:
        """Return whether most rows have node ids in both columns."""
        if len(self.rows) == 0:
            return True  # reading the table says that it is empty
        first, second = (self.ids.known(self.table, self.rows[end]) for end in pair)
        return bool(np.mean(first & second) >= 0.5)

    def columns_of_ids(self) -> list[str]:
        """Return the columns that could be an end."""
        return [
            column
            for column in self.table.columns
            if np.mean(self.ids.known(self.table, self.rows[column])) >= 0.5
        ]


def _agrees(pair: tuple[str, str], source: str | None, target: str | None) -> bool:
    return source in (None, pair[0]) and target in (None, pair[1])


def _first_two(table: Table, source: str | None, target: str | None) -> tuple[str, str] | None:
    """Return the named end and the first other column, or the first two columns; None if there are none."""
    free = _free(table, source, target)
    needed = (source is None) + (target is None)
    if len(free) < needed:  # row numbers that are an end: id,neighbour
        others = _free(table, source, target, ROW_NUMBERS)
        free = [column for column in table.columns if column in {*free, *others}]
    if len(free) < needed:
        return None
    return source or free.pop(0), target or free.pop(0)


def _free(table: Table, source: str | None, target: str | None, but_for: Collection[str] = ()) -> list[str]:
    """Return the columns that can be an end by position; the row numbers that pandas writes have no name."""
    out = {*NEVER_AN_END, *ROW_NUMBERS}.difference(but_for)
    return [
        column
        for column in table.columns
        if column not in (source, target) and not table.unnamed(column) and plain(column) not in out
    ]


def _are_nodes(names: tuple[str, str], ids: NodeIds) -> bool:
    return bool((ids.find(pd.Series(names)) >= 0).all())


def _check_header(table: Table, pair: tuple[str, str], ids: NodeIds) -> None:
    if _are_nodes(pair, ids):
        raise InputError(
            f"the first line of {table.name} is the edge {pair[0]}, {pair[1]}, not column names: "
            "add a line such as source,target above it, or name the columns with source and target"
        )


def _note_choice(table: Table, fitting: list[tuple[str, str]], notes: list[str]) -> None:
    """Say which columns are the ends, unless these are the first two and there is no doubt."""
    others = [column for pair in fitting[1:] for column in pair if column not in fitting[0]]
    if not others and table.columns[:2] == [*fitting[0]]:
        return
    ends = " to ".join(repr(end) for end in fitting[0])
    names = listing(dict.fromkeys(others))
    also = f"; the columns {names} hold node ids too and are not used" if others else ""
    notes.append(f"{table.name}: the edges go from the column {ends}{also}.")


def _no_ends(table: Table, sample: _Sample) -> str:
    columns = sample.columns_of_ids()
    hint = f" (node ids are in {listing(columns)})" if columns else ""
    return (
        f"it is not clear which columns of {table.name} are the ends of the edges: its columns are "
        f"{listing(table.columns)}{hint}; name two of them with source and target"
    )
