import numpy as np
import pandas as pd
import pytest

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.roles.features import numeric_columns, plain_features
from otherhalf.errors import InputError

TABLE = MemoryTable(
    "nodes.csv",
    pd.DataFrame({"a": [1, 2], "b": [True, False], "t": ["x", "y"], "n": ["3", "4"], "Unnamed: 0": [0, 1]}),
)
ROWS = TABLE.read([])
IDS = np.array(["u", "v"])


def test_numeric_columns_have_numbers_and_a_name():
    notes = []
    assert numeric_columns(TABLE, ROWS, notes) == ["a", "b"]
    assert notes == [
        "nodes.csv: the columns t, n, Unnamed: 0 are not numeric, or have no name, and are not used as "
        "features."
    ]
    with pytest.raises(InputError, match=r"nodes\.csv has no numeric column for the features"):
        numeric_columns(TABLE, ROWS[["t"]], notes)


def test_chosen_columns_as_they_are():
    assert plain_features(TABLE, ROWS, ["n", "a", "b"], IDS).tolist() == [[3, 1, 1], [4, 2, 0]]
    with pytest.raises(
        InputError, match=r"the feature column 't' holds 'x', which is not a number \(row 1\)"
    ):
        plain_features(TABLE, ROWS, ["t"], IDS)
    with pytest.raises(InputError, match=r"nodes\.csv has no column 'z' for the features"):
        plain_features(TABLE, ROWS, ["z"], IDS)


def test_a_gap_is_refused_by_name():
    table = MemoryTable("nodes.csv", pd.DataFrame({"a": [1.0, np.nan]}))
    with pytest.raises(InputError, match="the feature 'a' of the node 'v' is empty or NaN"):
        plain_features(table, table.read([]), ["a"], IDS)


def test_added_nodes_have_medians():
    table = MemoryTable("nodes.csv", pd.DataFrame({"a": [1, 2, 9], "b": [5, 5, 6]}))
    x = plain_features(table, table.read([]), ["a", "b"], np.array(["u", "v", "w"]), added=2)
    assert x[3:].tolist() == [[2, 5], [2, 5]]
    assert x.dtype == np.float32
