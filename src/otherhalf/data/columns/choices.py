"""Names of columns as a user gives them: lists, or texts with commas, with ``*`` for any characters."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence

from otherhalf.errors import InputError
from otherhalf.system.names import short

_LISTED = 20


def split_names(names: Sequence[str] | str) -> list[str]:
    """Return the names of a list, or of a text with commas between them; ``"a,b"`` in quotes is one name."""
    if not isinstance(names, str):
        return [str(name) for name in names]
    try:
        parts = next(csv.reader([names], skipinitialspace=True), [])
    except csv.Error as error:
        raise InputError(f'{names!r} is no list of columns ({error}): give name,name,"odd, name"') from error
    return [stripped for part in parts if (stripped := part.strip())]


def listing(columns: Iterable[str]) -> str:
    """Return the first of the columns for a message, and how many more there are."""
    columns = [short(column) for column in columns]
    more = f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else ""
    return (", ".join(columns[:_LISTED]) or "none") + more


def matching(columns: Sequence[str], name: str, role: str) -> list[str]:
    """Return the columns that a name or a pattern such as ``ast_*`` means; refuse one that means none."""
    if name in columns:
        return [name]
    pattern = re.compile(".*".join(map(re.escape, name.split("*"))), re.DOTALL)
    found = [column for column in columns if pattern.fullmatch(column)] if "*" in name else []
    if not found:
        raise InputError(f"no column matches {name!r} in {role}: the columns are {listing(columns)}")
    return found


def chosen_columns(
    columns: Sequence[str], features: Sequence[str] | str | None, exclude: Sequence[str] | str | None
) -> list[str]:
    """Return the columns that ``features`` names, in its order, without those that ``exclude`` names."""
    chosen = list(columns)
    if features is not None:
        named = [name for text in split_names(features) for name in matching(columns, text, "features")]
        chosen = list(dict.fromkeys(named))
    if exclude is None:
        return chosen
    out = {name for text in split_names(exclude) for name in matching(columns, text, "exclude")}
    return [name for name in chosen if name not in out]


def said_kinds(
    columns: Sequence[str], kinds: Mapping[str, str] | str | None, allowed: Sequence[str]
) -> dict[str, str]:
    """Return the kind of each column of which the user says it.

    A full name wins over a pattern, and a later pattern over an earlier one. A text such as
    ``ast_*=number,city=category`` is understood too.
    """
    kinds = kinds_by_name(kinds)
    said: dict[str, str] = {}
    for name, kind in sorted(kinds.items(), key=lambda item: item[0] in columns):
        found = matching(columns, name, "kinds")
        if kind not in allowed:
            raise InputError(f"the kind {kind!r} of {name!r} is not known: say one of {', '.join(allowed)}")
        said |= dict.fromkeys(found, kind)
    return said


def kinds_by_name(kinds: Mapping[str, str] | str | None) -> Mapping[str, str]:
    """Return the kinds that the user says, by name or pattern."""
    if isinstance(kinds, str):
        return dict(_pair(part) for part in split_names(kinds))
    return kinds or {}


def _pair(text: str) -> tuple[str, str]:
    name, mark, kind = text.rpartition("=")
    if not mark or not name.strip():
        raise InputError(f"{text!r} in kinds is not COLUMN=KIND: write for example city=category")
    return name.strip(), kind.strip()
