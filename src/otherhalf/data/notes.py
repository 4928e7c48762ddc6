"""Notes: what a reader decided for the user, each one sentence."""

import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator

from otherhalf.errors import shortened
from otherhalf.system.names import short

_PACKAGE = __name__.split(".", maxsplit=1)[0]


def hand_over(notes: Iterable[str], to: list[str] | None = None) -> None:
    """Add the notes to the caller's list, or show each as a warning if there is none.

    The warnings name the first line outside this package that led here.
    """
    notes = map(shortened, notes)
    if to is not None:
        to.extend(notes)
        return
    level, caller = 1, sys._getframe()
    while caller.f_back is not None and caller.f_globals.get("__name__", "").split(".")[0] == _PACKAGE:
        level, caller = level + 1, caller.f_back
    for note in notes:
        warnings.warn(note, stacklevel=level)


def counted(number: int, noun: str) -> str:
    """Return a number and what it counts, as in ``1 edge`` and ``2 edges``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def by_column(notes: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Return the notes on columns, given as (column, note); columns with the same note share one sentence."""
    columns = defaultdict(list)
    for column, note in notes:
        columns[note].append(column)
    for note, names in columns.items():
        yield f"{'column' if len(names) == 1 else 'columns'} {listing(map(repr, names), 10)}: {note}"


def listing(names: Iterable[object], most: int = 20) -> str:
    """Return names with commas between them, the first ones only if there are many."""
    texts = [short(name) for name in names]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more
