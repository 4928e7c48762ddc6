"""The kind of a column, inferred from its cells.

Every rule looks at the distinct values and how often they occur, never at the order of rows. A user who knows
better says the kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from otherhalf.data.columns import date_text, number_text, tag_text
from otherhalf.data.columns.cells import Cells

USED = ("number", "category", "boolean", "date", "text", "tags")
"""Kinds that become numbers."""

LEFT_OUT = ("constant", "id", "empty", "vector")
"""Kinds of columns that tell nothing about a node, or that have more than one number in a cell."""

SAYABLE = (*USED, "id")
"""Kinds that a user can say; a column that is said to be an id is left out."""

TRUTHS = [("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("1", "0")]
"""Words for true and false, in small letters."""

FEW = 30
"""Number of distinct values that is still few."""

_WRONG = 0.1
_VECTORS = 100
ID_NAME = re.compile(r"(?:.*[\W_])?(?:[Ii]d|ID|ids|key|index|idx|uuid|nr|row)|.*[a-z]I[dD]|Unnamed: [0-9]+")
_CHINESE_OR_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class Finding:
    """The kind of a column, and why, if that is worth saying."""

    kind: str
    why: str = ""


def find_kind(cells: Cells) -> Finding:
    """Infer the kind of a column."""
    nothing = _nothing_to_learn(cells)
    if nothing is not None:
        return nothing
    if cells.lists is not None:
        values = cells.column.to_numpy(object)[cells.lists]
        return _tags_or_vectors(values[:_VECTORS].tolist())
    if cells.declared:
        return Finding("boolean" if _are_truths(cells.texts) else "category")
    if cells.truths:
        return Finding("boolean" if cells.distinct == 2 else "category")
    if cells.days is not None:
        return Finding("date")
    return _kind_of_numbers(cells) if cells.plain is not None else _kind_of_texts(cells)


def _nothing_to_learn(cells: Cells) -> Finding | None:
    """Return the finding that a column is empty or constant, whatever a user says about it."""
    gaps = int(cells.gaps.sum()) if cells.lists is None else 0
    if gaps == len(cells):
        return Finding("empty", "it has no values")
    if cells.lists is None and cells.distinct == 1 and gaps == 0:
        return Finding("constant", "all its values are the same")
    return None


def check_said(cells: Cells, kind: str) -> Finding:
    """Return the finding for a kind that a user says: itself, unless there is nothing to learn."""
    return _nothing_to_learn(cells) or Finding(kind, "" if kind in USED else "said to be an id")


def mostly(right: int, total: int) -> bool:
    """Return whether so few cells are wrong that the others decide: one in ten, or one in a small table."""
    wrong = total - right
    return right > 0 and wrong <= max(1, _WRONG * total) and right >= 2 * wrong


def _are_truths(texts: Sequence[str] | np.ndarray[tuple[int], np.dtype[np.object_]]) -> bool:
    if len(texts) > 4:
        return False
    words = {text.lower() for text in texts}
    return any(words == set(pair) for pair in TRUTHS)


# ------------------------------------------------------------------ numbers


def _kind_of_numbers(cells: Cells) -> Finding:
    values = cells.ordered
    if cells.distinct == 1:
        return Finding("category", "one value or nothing")
    if cells.distinct == 2 and values[0] == 0 and values[-1] == 1:
        return Finding("boolean")
    whole = bool((values == np.round(values)).all())
    if whole and cells.distinct == len(cells) and len(cells) > 2 and ID_NAME.fullmatch(cells.name):
        return Finding("id", "every value is a whole number that occurs once, and its name is that of an id")
    return Finding("number")


# ------------------------------------------------------------------ texts


def _kind_of_texts(cells: Cells) -> Finding:
    texts, total = cells.texts[cells.sample].tolist(), int(cells.counts.sum())
    if _are_truths(cells.texts):
        return Finding("boolean")
    if cells.distinct == 1:
        return Finding("category", "one value or nothing")
    if tag_text.in_brackets(texts):
        return _tags_or_vectors([tag_text.split(text, tag_text.BRACKETS) for text in texts[:_VECTORS]])
    for kind, module in (("number", number_text), ("date", date_text)):
        style, share = module.choose_style(texts)
        # A sample cannot count a few wrong cells. So it only says whether to look at all cells.
        if share > 0.5 and mostly(_readable(cells, kind, style), total):
            return Finding(kind)
    if cells.distinct < total or _between_words(texts):
        counts = cells.counts[cells.sample].tolist()
        if tag_text.choose_mark(texts, counts) is not None:
            return Finding("tags")
    return _category_id_or_text(cells, texts, total)


def _tags_or_vectors(lists: list[Collection[object]]) -> Finding:
    """Return tags, unless the lists hold numbers that are not whole, which measure and do not name."""
    items = [item for items in lists for item in items]
    numbers = [float(item) for item in items if isinstance(item, int | float | np.integer | np.floating)]
    if len(numbers) == len(items) and not all(number.is_integer() for number in numbers):
        return Finding("vector", "its cells are lists of measurements; give one column per number")
    return Finding("tags")


def _readable(cells: Cells, kind: str, style: str) -> int:
    """Return the number of rows that are numbers or dates in this way of writing."""
    texts = cells.texts.tolist()
    read = number_text.read_numbers if kind == "number" else date_text.read_dates
    return int(cells.counts[~np.isnan(read(texts, style))].sum())


def _between_words(texts: list[str]) -> bool:
    return any(mark in text for text in texts for mark in tag_text.MARKS)


def _category_id_or_text(cells: Cells, texts: list[str], total: int) -> Finding:
    words = np.mean([len(text.split()) + len(_CHINESE_OR_JAPANESE.findall(text)) for text in texts])
    repeats = total / cells.distinct
    if words < 1.5:
        if cells.distinct == total or (repeats < 1.05 and total >= 20):
            return Finding("id", "nearly every value is one word that occurs once")
        return Finding("category")
    if (cells.distinct <= FEW and repeats >= 2) or repeats >= 5:
        return Finding("category")
    return Finding("text")
