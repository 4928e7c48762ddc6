"""Columns of true and false."""

import pandas as pd
import pytest

from otherhalf.data.columns.boolean import BooleanColumn
from otherhalf.errors import InputError


@pytest.mark.parametrize(
    "column",
    [
        [True, False, None],
        ["yes", "NO", ""],
        ["T", "f", None],
        [1, 0, None],
        ["1", "0", "?"],
        pd.array([True, False, None], dtype="boolean"),
        pd.Categorical(["on", "off", None]),
    ],
)
def test_words(column):
    learned = BooleanColumn.learn(pd.Series(column, name="a"))
    assert learned.names == ("a", "a: missing")
    assert learned.apply(pd.Series(column)).tolist() == [[1, 0], [0, 0], [0, 1]]
    assert learned.unreadable(pd.Series(column)) == []


def test_other_values_are_gaps_with_the_usual_value():
    learned = BooleanColumn.learn(pd.Series(["yes", "yes", "no"]))
    assert learned.apply(pd.Series(["maybe", "true", None])).tolist() == [[1], [1], [1]]
    assert learned.unreadable(pd.Series(["maybe", "true"])) == ["maybe"]
    assert learned.unreadable(pd.Series([0, 1, 2])) == ["2"]


def test_no_truth_at_all_is_refused():
    with pytest.raises(
        InputError, match="the column 'a' is said to be boolean, but has only values such as 'x', 'z'"
    ):
        BooleanColumn.learn(pd.Series(["x", "z"], name="a"))
