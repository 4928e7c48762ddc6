"""Columns of categories."""

import numpy as np
import pandas as pd

from otherhalf.data.columns.category import BUCKETS, CategoryColumn


def test_few_values_by_hand():
    column = pd.Series(["b", "a", "b", None, "a", "b", "rare"], name="c")
    learned = CategoryColumn.learn(column)
    assert learned.names == ("c=b", "c=a", "c: other", "c: missing")
    assert learned.apply(column).toarray().tolist() == [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [1, 0, 0, 0],
        [0, 0, 0, 1],
        [0, 1, 0, 0],
        [1, 0, 0, 0],
        [0, 0, 1, 0],
    ]
    assert learned.apply(pd.Series(["new"])).toarray().tolist() == [[0, 0, 1, 0]]


def test_an_unseen_value_is_zero_if_the_fit_had_no_others():
    learned = CategoryColumn.learn(pd.Series(["a", "b"] * 2, name="c"))
    assert learned.names == ("c=a", "c=b")
    assert learned.apply(pd.Series(["z", None, "b"])).toarray().tolist() == [[0, 0], [0, 0], [0, 1]]


def test_codes_are_the_same_as_numbers_and_as_text():
    learned = CategoryColumn.learn(pd.Series([1, 2, 2, 1], name="c"))
    for column in (pd.Series([2.0, 1.0]), pd.Series(["2", "1"]), pd.Series(pd.Categorical([2, 1]))):
        assert learned.apply(column).toarray().tolist() == [[0, 1], [1, 0]]


def test_many_values_are_hashed():
    column = pd.Series([f"v{i % 50}" for i in range(200)] + ["v0"] * 100 + [None, "once"], name="c")
    learned = CategoryColumn.learn(column)
    assert len(learned.names) == BUCKETS + 2
    x = learned.apply(column).toarray()
    assert (np.count_nonzero(x[:300, :BUCKETS], axis=1) == 1).all()
    assert set(np.unique(x[:, :BUCKETS])) == {-1, 0, 1}
    assert x[0, BUCKETS] == 1
    assert 0 < x[1, BUCKETS] < 1
    assert x[301, BUCKETS] == 0
    assert x[300].tolist() == [0] * (BUCKETS + 1) + [1]
    assert np.count_nonzero(learned.apply(pd.Series(["unseen"])).toarray()) == 1


def test_many_values_without_gaps_in_the_fit():
    learned = CategoryColumn.learn(pd.Series([f"v{i % 50}" for i in range(200)], name="c"))
    assert np.count_nonzero(learned.apply(pd.Series([None, ""])).toarray()) == 0
    assert np.count_nonzero(learned.apply(pd.Series(["v1"])[:0]).toarray()) == 0
