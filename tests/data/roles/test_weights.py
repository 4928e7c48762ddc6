import numpy as np
import pandas as pd
import pytest

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.roles.weights import edge_weights, weight_column
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


@pytest.mark.parametrize(
    ("values", "numbers", "style"),
    [
        (["1,0", "2,5"], [1, 2.5], "1.234,5"),
        (["1,234", "2,500"], [1234, 2500], "1,234.5"),
        (["10%", "25 %"], [10, 25], "1234.5 %"),
    ],
)
def test_how_weights_are_written_is_said(values, numbers, style):
    note = f"edges.csv, column 'w': numbers are written as in {style}."
    assert weights(values) == (numbers, [True, True], [note])


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
        ([1, -2, -3], r"edges.csv: the weight 'w' in row 2 is '-2' \(2 such rows in all\): give positive n"),
        ([1, np.nan], r"in row 2 is empty \(1 such row in all\)"),
        (["1", ""], "in row 2 is empty"),
        ([np.inf, 1], "in row 1 is 'inf'"),
        (["1", "heavy"], "in row 2 is 'heavy'"),
        ([True, "no", 2], "in row 2 is 'no'"),
        ([0, 0], "every weight 'w' is 0: name another column"),
    ],
)
def test_refusals(values, message):
    with pytest.raises(InputError, match=message):
        weights(values)


def column_of(cells, named=None, ends=("s", "t")):
    rows = pd.DataFrame({"s": ["x", "y", "z"], "t": ["y", "z", "x"], **cells})
    notes = []
    return weight_column(MemoryTable("edges.csv", rows), rows, ends, named, notes), notes


class TestWhichColumn:
    @pytest.mark.parametrize(
        ("cells", "found"),
        [
            ({}, None),
            ({"weight": [1, 2, 3]}, "weight"),
            ({"W": [1, 2, 3]}, "W"),
            ({"w": [1, 2, 3], "Weights": [1, 2, 3]}, "Weights"),
            ({"WEIGHT": [1, 2, 3], "weight": [1, 2, 3]}, "weight"),
            ({"weight": ["light", "heavy", "light"], "w": [1, 2, 3]}, "w"),
            ({"weight": ["1", "2", "hello"]}, "weight"),
            ({"weight": ["1,5", "2,5", "3"]}, "weight"),
            ({"weight": [None, None, None]}, None),
            ({"weight": [True, False, True]}, None),
            ({"value": [1, 2, 3], "count": [1, 2, 3]}, None),
        ],
    )
    def test_a_numeric_one_of_a_known_name(self, cells, found):
        column, notes = column_of(cells)
        assert column == found
        assert len(notes) == (found is not None)

    def test_the_note_says_how_to_ignore_it(self):
        assert column_of({"w": [1, 2, 3]})[1] == [
            "edges.csv: the column 'w' was taken as the weights of the edges; weight=False (--no-weight) "
            "ignores it."
        ]

    def test_an_end_is_no_weight(self):
        assert column_of({"w": [1, 2, 3]}, ends=("s", "w")) == (None, [])

    def test_the_user_decides(self):
        cells = {"weight": [1, 2, 3], "value": [4, 5, 6]}
        assert column_of(cells, "value") == ("value", [])
        assert column_of(cells, False) == (None, [])

    @pytest.mark.parametrize(
        ("named", "message"),
        [
            ("heft", "edges.csv has no column 'heft' for the weight: its columns are s, t, weight"),
            ("s", "the column 's' is an end of the edges and cannot be their weight too"),
            (True, "weight is True: name the column of weights, or give False for no weights"),
        ],
    )
    def test_wrong_names(self, named, message):
        with pytest.raises(InputError, match=message):
            column_of({"weight": [1, 2, 3]}, named)


def test_a_list_is_no_weight():
    column = pd.Series([1, [], 2], dtype=object, name="w")
    table = MemoryTable("e", pd.DataFrame({"w": column}))
    with pytest.raises(InputError, match=r"the weight 'w' in row 2 is '\[\]'"):
        edge_weights(table, column, np.ones(3, dtype=bool), [])
