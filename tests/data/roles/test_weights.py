import numpy as np
import pandas as pd
import pytest

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.roles.weights import edge_weights
from otherhalf.errors import InputError


def weights(values, kept=None):
    column = pd.Series(values, name="w")
    notes = []
    kept = np.ones(len(column), dtype=bool) if kept is None else np.array(kept)
    found, rows = edge_weights(MemoryTable("edges.csv", column.to_frame()), column, kept, notes)
    return found.tolist(), rows.tolist(), notes


@pytest.mark.parametrize("values", [[1, 2.5], ["1", "2.5"], pd.array([1, 2.5], dtype="Float64")], ids=str)
def test_positive_numbers(values):
    assert weights(values) == ([1, 2.5], [True, True], [])


def test_zero_means_no_edge():
    assert weights([1, 0, 3, 0]) == (
        [1, 3],
        [True, False, True, False],
        ["edges.csv: the reader dropped 2 edges whose weight 'w' is 0."],
    )


def test_rows_that_were_dropped_need_no_weight():
    assert weights([1, np.nan, 3], [True, False, True]) == ([1, 3], [True, False, True], [])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, -2, -3], r"edges.csv: the weight 'w' in row 2 is '-2' \(2 such rows in all\): give positive"),
        ([1, np.nan], r"in row 2 is empty \(1 such row in all\)"),
        (["1", ""], "in row 2 is empty"),
        ([np.inf, 1], "in row 1 is 'inf'"),
        (["1", "heavy"], "in row 2 is 'heavy'"),
        ([0, 0], "every weight 'w' is 0: name another column"),
    ],
)
def test_refusals(values, message):
    with pytest.raises(InputError, match=message):
        weights(values)
