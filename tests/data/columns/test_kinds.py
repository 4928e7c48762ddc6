"""Kinds from cells, one small column each."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.columns.cells import Cells
from otherhalf.data.columns.kinds import check_said, find_kind, mostly

WORDS = ["graph", "node", "edge", "half", "label", "model", "paper", "table"]
SENTENCES = [" ".join(WORDS[i:] + WORDS[:i]) + f" {i}" for i in range(8)]
CODES = [f"k{i % 40}" for i in range(200)]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([1.5, 2.5, 3], "number"),
        ([[0.5, 1.0], [2.0, -0.5]], "vector"),
        ([np.array([0.5, 1.0]), None, np.array([2.0])], "vector"),
        (["[0.5, 1]", "[2.0, -0.5]"], "vector"),
        ([[1, 2], [2, 3]], "tags"),
        ([[1.0, 2.0], [2.0]], "tags"),
        ([1990, 2000, 2001], "number"),
        (["1990", "2000", "2001"], "number"),
        (["1", "2", "hello", "3", "n/a", "?"], "number"),
        (["1,5", "2,5", "10"], "number"),
        ([1, 2, "x", 3.5, None], "number"),
        ([decimal.Decimal("1.5"), decimal.Decimal("2")], "number"),
        ([0, 1, 2], "number"),
        ([10**30, 2, 3], "number"),
        ([0, 1, None], "boolean"),
        (["0", "1", "0"], "boolean"),
        ([True, False, None], "boolean"),
        (["Yes", "no", "", "yes"], "boolean"),
        (["TRUE", "False"], "boolean"),
        (["a", "b", "a", "b"], "category"),
        (["007", "012", "007", "012"], "category"),
        (["x", None, "x"], "category"),
        ([5, None, 5], "category"),
        (["New York", "Los Angeles"] * 3, "category"),
        (CODES, "category"),
        (["2020-01-01", "2020-01-02", "2021-01-02"], "date"),
        (["2020-01-01T10:00:00+02:00", "2020-01-02T11:00:00Z"], "date"),
        (["31.12.2020", "1.1.2021", "soon"], "date"),
        ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], "date"),
        (list(pd.date_range("2020", periods=3)), "date"),
        (SENTENCES, "text"),
        (["これは長い文章です", "グラフのノード分類", "別の文章もあります"], "text"),
        (["a;b", "b;c", "c;a"], "tags"),
        (["a|b", "b|a", None], "tags"),
        ([["a"], ["b", "a"], None], "tags"),
        (['["a","b"]', '["b"]', "[]"], "tags"),
        ([3, 3, 3], "constant"),
        (["x", "x"], "constant"),
        ([None, np.nan], "empty"),
        (["", "n/a", "?"], "empty"),
        ([np.inf, -np.inf], "empty"),
        ([], "empty"),
        (["ab1", "cd2", "ef3", "gh4"], "id"),
    ],
)
def test_kinds(column, kind):
    assert find_kind(Cells.of(pd.Series(column, dtype=object))).kind == kind
    assert find_kind(Cells.of(pd.Series(column))).kind == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("user_id", "id"),
        ("userId", "id"),
        ("Unnamed: 0", "id"),
        ("id", "id"),
        ("paid", "number"),
        ("age", "number"),
    ],
)
def test_whole_numbers_that_occur_once_are_an_id_if_the_name_says_so(name, kind):
    assert find_kind(Cells.of(pd.Series([4, 2, 3], name=name))).kind == kind
    assert find_kind(Cells.of(pd.Series([4, 2, 2], name=name))).kind == "number"


def test_pandas_categories_are_categories():
    assert find_kind(Cells.of(pd.Series(pd.Categorical([1, 2, 3])))).kind == "category"
    assert find_kind(Cells.of(pd.Series(pd.Categorical(["yes", "no"])))).kind == "boolean"


def test_what_a_user_says_counts_unless_there_is_nothing_to_learn():
    assert check_said(Cells.of(pd.Series([1, 2, 3])), "category").kind == "category"
    assert check_said(Cells.of(pd.Series([1, 1, 1])), "category").kind == "constant"
    assert check_said(Cells.of(pd.Series([None])), "number").kind == "empty"
    assert check_said(Cells.of(pd.Series([1, 2])), "id").why == "said to be an id"


@pytest.mark.parametrize(
    ("right", "total", "expected"),
    [(2, 3, True), (1, 2, False), (90, 100, True), (89, 100, False), (0, 0, False)],
)
def test_mostly(right, total, expected):
    assert mostly(right, total) is expected
