"""Splits that users bring: a column with the part of every node, times, or lists of ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.files.compressed import check_file
from otherhalf.data.files.table import MemoryTable
from otherhalf.data.notes import counted, hand_over, listing
from otherhalf.data.roles.ids import NodeIds, distinct_names
from otherhalf.data.roles.times import read_times
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, IntArray
from otherhalf.system.paths import user_path

PARTS = ("train", "val", "test")
PART_NAMES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
}
"""What users call the parts of a split, in small letters."""

RATIOS = (0.6, 0.2, 0.2)


def split_by_column(graph: Graph, values: Any, *, notes: list[str] | None = None) -> Split:
    """Return the split that a column gives: train, val (or valid, validation, dev) or test for every node.

    Args:
        graph: The graph; nodes without a label are in no part.
        values: ``[N]`` names of parts, in any case. Nodes with another value or none are in no part.
        notes: List to which the decisions are added; default: each is a warning.
    """
    found: list[str] = []
    column = _column(graph, values, "parts")
    result = column_split(column, graph.y != UNKNOWN, "the parts", found)
    hand_over(found, notes)
    return result


def split_by_time(
    graph: Graph, times: Any, *, ratios: Sequence[float] = RATIOS, notes: list[str] | None = None
) -> Split:
    """Return the split by time: the oldest labelled nodes train, the next are val, the newest test.

    Nodes of one time stay together, so the parts can be a little larger or smaller than the ratios say.

    Args:
        graph: The graph; nodes without a label or a time are in no part.
        times: ``[N]`` numbers or dates, as :func:`~otherhalf.data.roles.times.read_times` takes them.
        ratios: Shares of train, val and test: positive, with sum 1.
        notes: List to which the decisions are added; default: each is a warning.
    """
    found: list[str] = []
    column = _column(graph, times, "times")
    result = time_split(column, graph.y != UNKNOWN, "the times", found, ratios)
    hand_over(found, notes)
    return result


def split_by_ids(graph: Graph, parts: Mapping[str, Any], *, notes: list[str] | None = None) -> Split:
    """Return the split that lists of node ids give.

    Args:
        graph: The graph; nodes without a label are in no part.
        parts: For train, val and test (or another name of them) the ids of its nodes: a list, or the path of
            a text file with one id per line.
        notes: List to which the decisions are added; default: each is a warning.
    """
    found: list[str] = []
    ids = NodeIds(_searchable(graph.node_names()))
    codes = np.full(graph.num_nodes, -1, dtype=np.int64)
    for key, given in parts.items():
        part = PART_NAMES.get(str(key).strip().casefold())
        if part is None:
            raise InputError(f"{key!r} is no part of a split: name the parts {', '.join(PARTS)}")
        names = _ids_of_part(key, given)
        nodes = ids.find(names)
        if (nodes < 0).any():
            raise InputError(
                f"the id {names[int(np.argmax(nodes < 0))]!r} of the part {key!r} is no node of the graph "
                f"({counted(int((nodes < 0).sum()), 'such id')} in all): correct the list"
            )
        place = PARTS.index(part)
        other = nodes[(codes[nodes] >= 0) & (codes[nodes] != place)]
        if len(other):
            raise InputError(
                f"the node {str(graph.node_names()[other[0]])!r} is in {PARTS[codes[other[0]]]} and in {part}"
                ": put every node into one part"
            )
        codes[nodes] = place
    result = _split(codes, graph.y != UNKNOWN, "ids", "the lists of ids", found)
    hand_over(found, notes)
    return result


# ------------------------------------------------------------------ from columns, before there is a graph


def column_split(
    column: pd.Series[Any], labelled: npt.NDArray[np.bool_], what: str, notes: list[str]
) -> Split:
    """Return the split by the names of parts in a column; ``what`` is its name in messages."""
    names = column.astype("string").str.strip().str.casefold()
    parts = names.map(PART_NAMES)
    codes = parts.map({part: place for place, part in enumerate(PARTS)}).fillna(-1).to_numpy()
    elsewhere = parts.isna() & names.notna() & (names != "")
    others = pd.unique(column[elsewhere])
    if (codes < 0).all():
        raise InputError(
            f"{what}: no value is train, val or test (there are {listing(others, 5) or 'only empty cells'}): "
            "name another column"
        )
    if len(others):
        count = int(elsewhere.sum())
        notes.append(
            f"{what}: {counted(count, 'node')} with the values {listing(others, 5)} are in no part of the "
            "split."
        )
    return _split(codes.astype(np.int64), labelled, "column", what, notes)


def time_split(
    column: pd.Series[Any],
    labelled: npt.NDArray[np.bool_],
    what: str,
    notes: list[str],
    ratios: Sequence[float] = RATIOS,
) -> Split:
    """Return the split by the times in a column; ``what`` is its name in messages."""
    times = read_times(column, what)
    dated = labelled & times.notna().to_numpy()
    missing = int(labelled.sum() - dated.sum())
    if missing:
        notes.append(
            f"{what}: {counted(missing, 'labelled node')} without a time are in no part of the split."
        )
    nodes = np.flatnonzero(dated)
    values = times.to_numpy()[nodes]
    order = np.argsort(values, kind="stable")
    nodes, values = nodes[order], values[order]
    first, second = _cuts(values, ratios, what)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[nodes] = np.repeat([0, 1, 2], [first, second - first, len(nodes) - second])
    notes.append(
        f"{what}: {counted(first, 'node')} up to {_shown(values[first - 1])} train, "
        f"{counted(second - first, 'node')} up to {_shown(values[second - 1])} validate, "
        f"and {counted(len(nodes) - second, 'node')} after that test."
    )
    return _split(codes, labelled, "time", what, notes)


def _cuts(values: npt.NDArray[Any], ratios: Sequence[float], what: str) -> tuple[int, int]:
    """Return the two places where the time changes that are nearest to the ratios."""
    if len(ratios) != 3 or any(not r > 0 for r in ratios) or abs(sum(ratios) - 1) > 1e-6:
        raise InputError(f"the ratios must be three positive numbers with sum 1, not {tuple(ratios)}")
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    if len(changes) < 2:
        raise InputError(
            f"{what}: the labelled nodes have {counted(len(changes) + 1, 'different time')}, and a split by "
            "time needs three: name another column, or split in another way"
        )
    wanted = len(values) * np.cumsum(ratios)[:2]
    first = int(np.argmin(np.abs(changes[:-1] - wanted[0])))
    second = first + 1 + int(np.argmin(np.abs(changes[first + 1 :] - wanted[1])))
    return int(changes[first]), int(changes[second])


def _shown(time: Any) -> str:
    return (
        str(pd.Timestamp(time)).removesuffix(" 00:00:00") if isinstance(time, np.datetime64) else f"{time:g}"
    )


def _split(codes: IntArray, labelled: npt.NDArray[np.bool_], kind: str, what: str, notes: list[str]) -> Split:
    unlabelled = int(((codes >= 0) & ~labelled).sum())
    if unlabelled:
        notes.append(f"{what}: {counted(unlabelled, 'node')} without a label are in no part of the split.")
    train, val, test = (np.flatnonzero((codes == place) & labelled) for place in range(3))
    empty = [part for part, nodes in zip(PARTS, (train, val, test), strict=True) if len(nodes) == 0]
    if empty:
        raise InputError(
            f"{what}: no labelled node is in {' or in '.join(empty)}: put some labelled nodes into each of "
            f"{', '.join(PARTS)}"
        )
    return Split(train=train, val=val, test=test, kind=kind)


def _column(graph: Graph, values: Any, what: str) -> pd.Series[Any]:
    column = pd.Series(list(values) if not hasattr(values, "__array__") else values).reset_index(drop=True)
    if len(column) != graph.num_nodes:
        raise InputError(
            f"there are {len(column)} {what} for {graph.num_nodes} nodes: give one per node, in their order"
        )
    return column


def _searchable(names: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return names if names.dtype.kind == "i" else names.astype(object)


def _ids_of_part(key: str, given: Any) -> pd.Series[Any]:
    if isinstance(given, str | Path):
        path = user_path(given)
        check_file(path, f"a file with the ids of {key!r}")
        try:
            given = [line for line in path.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InputError(
                f"{path} with the ids of {key!r} cannot be read ({reason}): check the path"
            ) from error
    if not isinstance(given, Iterable):
        raise InputError(f"the part {key!r} is {given!r}: give a list of ids, or a file with one id per line")
    column = pd.Series(list(given), dtype=object, name=key)
    codes, names = distinct_names(MemoryTable("the lists of ids", column.to_frame()), column)
    return names[np.unique(codes[codes >= 0])].reset_index(drop=True)
