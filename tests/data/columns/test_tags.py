"""Columns of tags."""

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.columns.tags import BUCKETS, MOST, TagsColumn


@pytest.mark.parametrize(
    "column",
    [
        ["a;b", "b", None, "b;a;once"],
        [["a", "b"], ["b"], None, ("b", "a", "once")],
        ['["a", "b"]', '["b"]', None, '["b", "a", "once"]'],
    ],
)
def test_by_hand(column):
    series = pd.Series(column, name="t", dtype=object)
    learned = TagsColumn.learn(series)
    assert learned.names == ("t=b", "t=a", "t: missing")
    assert learned.apply(series).toarray().tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 1], [1, 1, 0]]
    assert learned.distinct == 3


def test_an_empty_list_is_no_gap_and_an_unseen_tag_is_ignored():
    learned = TagsColumn.learn(pd.Series([["a"], ["a", "b"], ["b"], None], name="t", dtype=object))
    assert learned.apply(pd.Series([[], ["new"], None], dtype=object)).toarray().tolist() == [
        *([0, 0, 0], [0, 0, 0], [0, 0, 1])
    ]


def test_lists_later_where_the_fit_had_texts():
    learned = TagsColumn.learn(pd.Series(["a;b", "b;c", "c;a"], name="t"))
    lists, texts = pd.Series([["a", "c"], ["b"]], dtype=object), pd.Series(["c;a", "b"])
    np.testing.assert_array_equal(learned.apply(lists).toarray(), learned.apply(texts).toarray())


def test_texts_among_lists():
    column = pd.Series([["a", "b"], "a,b", '["b"]', "?", 5, ["a"]], name="t", dtype=object)
    learned = TagsColumn.learn(column)
    assert learned.names == ("t=a", "t=b", "t: missing")
    x = learned.apply(column).toarray()
    assert x.tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]]
    for row in range(len(column)):
        assert learned.apply(column[row : row + 1]).toarray()[0].tolist() == x[row].tolist()


def test_rarer_tags_are_hashed():
    column = pd.Series([[f"t{i % 150}", "all"] for i in range(450)], name="t", dtype=object)
    learned = TagsColumn.learn(column)
    assert len(learned.names) == MOST + BUCKETS
    x = learned.apply(column)
    assert (x[:, 0].toarray() == 1).all()
    assert (np.diff(x.indptr) == 2).all()
    assert learned.apply(pd.Series([["unseen"]], dtype=object)).nnz == 0
