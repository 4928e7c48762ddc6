import numpy as np
import pandas as pd
import pytest

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.roles.features import features_of_added_nodes, named_features, read_features
from otherhalf.errors import InputError

TABLE = MemoryTable(
    "nodes.csv",
    pd.DataFrame({"id": ["u", "v"], "a": [1, 2], "b": [True, False], "t": ["x", "y"], "n": ["3", "4"]}),
)


def read(named=None):
    notes = []
    x = read_features(TABLE, TABLE.read([]), named, np.array(["u", "v"]), {"id"}, notes)
    return x.tolist(), notes


def test_numeric_columns_by_default():
    assert read() == (
        [[1, 1], [2, 0]],
        ["nodes.csv: the columns t, n are not numeric, or have no name, and are not used as features."],
    )


def test_named_columns():
    assert read(["n", "a"]) == ([[3, 1], [4, 2]], [])
    with pytest.raises(
        InputError, match=r"the feature column 't' holds 'x', which is not a number \(row 1\)"
    ):
        read(["t"])


def test_names_of_features():
    assert named_features(TABLE, None, {}) is None
    assert named_features(TABLE, "b, a", {}) == ["b", "a"]
    with pytest.raises(InputError, match="the column 'a' is the split: take it out of the features"):
        named_features(TABLE, ["a"], {"a": "split"})


def test_added_nodes_have_medians():
    notes = []
    x = features_of_added_nodes(np.array([[1, 5], [2, 5], [9, 6]], dtype=np.float32), 2, notes)
    assert x[3:].tolist() == [[2, 5], [2, 5]]
    assert x.dtype == np.float32
    assert notes == [
        "The features of 2 added nodes are the medians of the columns, because nothing else is known."
    ]
