"""Columns of numbers."""

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.columns.number import NumberColumn
from otherhalf.errors import InputError


def test_gaps_have_the_median_and_a_column():
    column = pd.Series([1.0, np.nan, 2.0, 9.0, np.inf], name="a")
    learned = NumberColumn.learn(column)
    assert learned.names == ("a", "a: missing")
    values = learned.apply(column)
    assert values[:, 1].tolist() == [0, 1, 0, 0, 1]
    assert values[1, 0] == values[2, 0] == values[4, 0]


def test_later_gaps_without_gaps_in_the_fit():
    learned = NumberColumn.learn(pd.Series([1.0, 2.0, 4.0], name="a"))
    assert learned.names == ("a",)
    assert learned.apply(pd.Series([None, 2.0]))[:, 0].tolist() == [learned.apply(pd.Series([2.0]))[0, 0]] * 2


def test_texts_in_the_style_of_the_fit():
    learned = NumberColumn.learn(pd.Series(["1,5", "2,5", "3,5", "hello"], name="a"))
    assert learned.remarks == ("numbers are written as in 1.234,5",)
    assert learned.unreadable(pd.Series(["1,5", "hello", "x", "x"])) == ["hello", "x"]
    expected = learned.apply(pd.Series([1.5, 3.5]))
    np.testing.assert_array_equal(learned.apply(pd.Series(["1,5", "3,5"])), expected)


def test_numbers_among_texts_are_themselves():
    column = pd.Series(["1,5", "2,5", "3,5", 1.5, True, "True"], name="a", dtype=object)
    learned = NumberColumn.learn(column)
    x = learned.apply(column)[:, 0]
    assert x[3] == x[0]
    assert x[4] == learned.apply(pd.Series([1.0]))[0, 0]
    assert learned.unreadable(pd.Series(["1,5", 1.5, "x"], dtype=object)) == ["x"]
    for row in range(len(column)):
        assert learned.apply(column[row : row + 1])[0, 0] == x[row]


def test_no_number_at_all_is_refused():
    with pytest.raises(InputError, match="the column 'a' is said to be a number, but no cell of it is one"):
        NumberColumn.learn(pd.Series(["x", "y"], name="a"))
