"""Names of columns: which two name the ends of an edge, and which say something else of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Names are compared in small letters, without spaces and signs: "Source ID" is sourceid.
KNOWN_PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "tgt"),
    ("src", "dest"),
    ("source", "dest"),
    ("source", "destination"),
    ("origin", "destination"),
    ("from", "to"),
    ("sourceid", "targetid"),
    ("srcid", "dstid"),
    ("fromid", "toid"),
    ("sourcenode", "targetnode"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("u", "v"),
    ("s", "t"),
    ("i", "j"),
    ("node1", "node2"),
    ("nodea", "nodeb"),
    ("id1", "id2"),
    ("user1", "user2"),
    ("head", "tail"),
    ("subject", "object"),
    ("citing", "cited"),
    ("parent", "child"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("follower", "followee"),
    ("startid", "endid"),
    ("startnode", "endnode"),
    ("start", "end"),
)
"""Names of the two ends of an edge, source first; an earlier pair goes before a later one."""

_WORD_PAIRS = (*KNOWN_PAIRS, ("1", "2"), ("0", "1"), ("a", "b"), ("left", "right"), ("first", "second"))
_WORD = re.compile(r"[^\W\d_]+|\d+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")

ROW_NUMBERS = {"id", "edgeid", "index"}
"""Names that are an end only if a table has no other columns."""

NEVER_AN_END = {
    *("weight", "weights", "w", "value", "values", "val", "count", "counts", "number", "num", "n", "score"),
    *("strength", "amount", "distance", "length", "cost", "price", "size", "rating", "frequency", "freq"),
    *("similarity", "probability", "prob", "confidence", "capacity", "duration", "sign", "rank", "order"),
    *("type", "kind", "label", "class", "relation", "rel", "reltype", "edgetype", "predicate", "category"),
    *("time", "timestamp", "ts", "date", "datetime", "year", "month", "day", "hour", "since", "until"),
    *("title", "text", "comment", "description", "direction", "directed"),
}
"""Names that say something of an edge, and are never its end unless the user says so."""


def plain(column: str) -> str:
    """Return a name in small letters, without spaces and signs."""
    return "".join(sign for sign in column.casefold() if sign.isalnum())


def known_pairs(columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of columns whose names are those of two ends, the surest first.

    These are the names in :data:`KNOWN_PAIRS`, and then names that differ in one word, and there like two
    ends: ``from_airport`` and ``to_airport``, ``paperA`` and ``paperB``, ``person 1 id`` and ``person 2 id``.
    """
    by_name: dict[str, str] = {}
    for column in sorted(columns, key=lambda name: name != plain(name)):
        by_name.setdefault(plain(column), column)
    exact = [(by_name[a], by_name[b]) for a, b in KNOWN_PAIRS if a in by_name and b in by_name]
    by_words = {_words(column): column for column in reversed(columns)}
    alike = [(by_words[a], by_words[b]) for a in by_words for b in _other_ends(a) if b in by_words]
    return list(dict.fromkeys([*exact, *sorted(alike, key=lambda pair: columns.index(pair[0]))]))


def _words(column: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(_INNER_CAPITAL.sub(" ", column)))


def _other_ends(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the names of the target that belongs to a source of this name."""
    for place, word in enumerate(words if len(words) > 1 else ()):
        for source, target in _WORD_PAIRS:
            if word == source:
                yield (*words[:place], target, *words[place + 1 :])
