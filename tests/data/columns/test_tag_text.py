"""Ways to write several tags in one cell."""

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.columns.cells import Cells
from otherhalf.data.columns.tag_text import choose_mark, in_brackets, read_tags


def tags(column, style):
    """The tags of each row."""
    series = pd.Series(column, dtype=object)
    rows, codes, texts = read_tags(Cells.of(series), style)
    return [sorted(texts[codes[rows == row]]) for row in range(len(series))]


@pytest.mark.parametrize(
    ("column", "style"),
    [
        (["a;b", "b; a;a", "", "c"], ";"),
        (["a|b", "b|a", None, "c"], "|"),
        (['["a", "b"]', "['b', 'a']", None, "[c]"], "[…]"),
        ([["a", "b"], ("b", "a", None), [], np.array(["c"])], "lists"),
        ([["a", "b"], {"b", "a"}, None, "c"], ";"),
    ],
)
def test_each_style(column, style):
    assert tags(column, style) == [["a", "b"], ["a", "b"], [], ["c"]]


def test_numbers_as_tags():
    assert tags([[1, 2.0], ["2"]], "lists") == [["1", "2"], ["2"]]


@pytest.mark.parametrize(
    ("texts", "mark"),
    [
        (["a;b", "b;c", "a"], ";"),
        (["a|b", "b|a"], "|"),
        (["red, blue", "blue, green", "green, red"], ","),
        (["a;b", "c;d"], None),  # no tag occurs twice
        (["Yes, I think so.", "No, never"], None),
        (["a long story; " * 5, "a long story; and more words here"], None),
        ([], None),
    ],
)
def test_marks(texts, mark):
    assert choose_mark(texts, [1] * len(texts)) == mark


def test_brackets():
    assert in_brackets(["[]", "[1]"])
    assert not in_brackets(["[]", "1"])
    assert not in_brackets([])
