"""Cells that the fit did not have, or that do not fit the kind, are counted and said."""

from collections import Counter

import pandas as pd
import pytest

from otherhalf.data.columns.boolean import BooleanColumn
from otherhalf.data.columns.category import CategoryColumn
from otherhalf.data.columns.cells import Cells
from otherhalf.data.columns.number import NumberColumn
from otherhalf.data.columns.surprises import Surprises, wrong_cells, wrong_note
from otherhalf.data.columns.tags import TagsColumn


def cells(*values):
    return Cells.of(pd.Series(values, dtype=object, name="c"))


def surprises(column, *parts):
    found = Surprises(column)
    for part in parts:
        found.add(cells(*part))
    return found.sentences


def test_what_the_fit_had_is_no_surprise():
    column = CategoryColumn.learn(cells("a", "b", "a", "b", None))
    assert surprises(column, ["b", None, "a"]) == []


def test_wrong_cells_of_all_parts_are_counted_together():
    column = NumberColumn.learn(cells("1", "2", None))
    assert surprises(column, ["x", "3"], ["x", "y", None]) == [
        "3 cells are no number and count as a gap: 'x', 'y'"
    ]
    assert wrong_cells(cells("x", "3", "x"), column) == {"x": 2}


def test_new_values_without_a_place():
    column = CategoryColumn.learn(cells("a", "b", "a", "b"))
    assert surprises(column, ["c", "a"]) == [
        "1 cell is new and counts as no value, because the fit did not have it: 'c'"
    ]
    assert surprises(column, ["c", "d"], ["c"])[0].startswith("3 cells are new and count as no value")


def test_new_values_that_count_as_other_are_no_surprise():
    assert surprises(CategoryColumn.learn(cells("a", "b", "a", "b", "rare")), ["c"]) == []


@pytest.mark.parametrize(
    ("kind", "learned", "given"),
    [
        (NumberColumn, ["1", "2"], ["1", None]),
        (BooleanColumn, [True, False], [None, True]),
        (CategoryColumn, ["a", "b"], ["", "a"]),
        (TagsColumn, [["a"], ["b"]], [["a"], None]),
    ],
)
def test_gaps_where_the_fit_had_none(kind, learned, given):
    column = kind.learn(cells(*learned))
    assert surprises(column, given) == ["there is 1 gap, and the fit had none: what is usual stands there"]
    assert surprises(column, given, given) == [
        "there are 2 gaps, and the fit had none: what is usual stands there"
    ]


def test_five_examples_are_shown():
    assert wrong_note(Counter("abcdefg"), "date") == (
        "7 cells are no date and count as a gap: 'a', 'b', 'c', 'd', 'e' and others"
    )
