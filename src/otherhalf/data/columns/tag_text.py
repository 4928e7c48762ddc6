"""Several tags in one cell: lists, or texts such as ``a;b``, ``a|b``, ``a, b`` and ``["a", "b"]``."""

import json
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.columns.cells import Cells
from otherhalf.system.arrays import IntArray, distinct_keys

LISTS, BRACKETS = "lists", "[…]"
MARKS = {";": (0.2, 1.5), "|": (0.2, 1.5), ",": (0.5, 2.0)}
"""Marks between tags: the share of rows that must have one, and how often a tag must occur on average."""
STYLES = (LISTS, BRACKETS, *MARKS)
"""How the tags of a cell are written."""

Pairs = tuple[IntArray, IntArray, npt.NDArray[np.object_]]
"""Rows, codes of tags, and tags: each pair of a row and a tag occurs once, in the order of rows."""

_LONGEST_TAG, _MOST_WORDS = 40, 3


def in_brackets(texts: Sequence[str]) -> bool:
    """Return whether all texts are lists with brackets."""
    return len(texts) > 0 and all(text.startswith("[") and text.endswith("]") for text in texts)


def choose_mark(texts: Sequence[str], counts: Sequence[int]) -> str | None:
    """Return the mark between tags if the texts look like tags; None if not.

    Many rows must have the mark, the tags must be short, and on average a tag must occur in several rows. A
    comma, which prose has too, must fulfil more.
    """
    rows = sum(counts)
    for mark, (share, repeats) in MARKS.items():
        marked = sum(count for text, count in zip(texts, counts, strict=True) if mark in text)
        if rows == 0 or marked < share * rows:
            continue
        weight: dict[str, int] = {}
        for text, count in zip(texts, counts, strict=True):
            for tag in {part.strip() for part in text.split(mark)} - {""}:
                weight[tag] = weight.get(tag, 0) + count
        short = all(len(tag) <= _LONGEST_TAG and len(tag.split()) <= _MOST_WORDS for tag in weight)
        if weight and short and sum(weight.values()) >= repeats * len(weight):
            return mark
    return None


def read_tags(cells: Cells, style: str) -> Pairs:
    """Return which tags each row has."""
    if cells.lists is None:
        return _tags_of_texts(cells, style)
    values, rows, others = cells.column.to_numpy(object), *map(np.flatnonzero, (cells.lists, ~cells.lists))
    first, tags, texts = _pairs(values[rows].tolist(), rows)
    rest, more_tags, more_texts = _tags_of_texts(not_lists(cells), style)
    codes, distinct = pd.factorize(np.concatenate([texts, more_texts]))
    tags = codes[np.concatenate([tags, more_tags + len(texts)])]
    owners = np.concatenate([first, others[rest]])
    order = np.argsort(owners, kind="stable")
    return owners[order], tags[order].astype(np.int64), np.asarray(distinct, dtype=object)


def not_lists(cells: Cells) -> Cells:
    """Return the cells that are not lists, in a column that has lists."""
    assert cells.lists is not None
    return Cells.of(pd.Series(cells.column.to_numpy(object)[~cells.lists], dtype=object, name=cells.name))


def _tags_of_texts(cells: Cells, style: str) -> Pairs:
    places, tags, texts = _pairs([split(text, style) for text in cells.texts], np.arange(len(cells.texts)))
    # From distinct texts to rows: the pairs of a text are in one piece.
    starts = np.searchsorted(places, np.arange(len(cells.texts) + 1))
    known = np.flatnonzero(cells.codes >= 0)
    codes = cells.codes[known]
    lengths = (starts[1:] - starts[:-1])[codes]
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(known, lengths), tags[np.repeat(starts[codes], lengths) + within], texts


def split(text: str, style: str) -> list[object]:
    """Return the tags of one text."""
    if style in MARKS:
        return list(text.split(style))
    if not text.startswith("["):
        return [text]
    try:
        found = json.loads(text)
        return found if isinstance(found, list) else [found]
    except (ValueError, RecursionError):  # such as ['a', 'b'] and [a, b]
        inner = text.removeprefix("[").removesuffix("]")
        return [part.strip().strip("'\"") for part in inner.split(",")]


def _pairs(lists: Sequence[Collection[object]], rows: IntArray) -> Pairs:
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    flat = np.empty(int(lengths.sum()), dtype=object)
    flat[:] = [tag for tags in lists for tag in tags]
    cells = Cells.of(pd.Series(flat, dtype=object))
    owners, codes = np.repeat(rows, lengths)[cells.codes >= 0], cells.codes[cells.codes >= 0]
    keys = distinct_keys(owners * max(1, len(cells.texts)) + codes)
    width = max(1, len(cells.texts))
    return keys // width, keys % width, cells.texts
