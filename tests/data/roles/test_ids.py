import numpy as np
import pandas as pd
import pytest

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.roles.ids import NodeIds, check_first_line, distinct_names, node_ids
from otherhalf.errors import InputError

TABLE = MemoryTable("the table", pd.DataFrame({"id": [1]}))


def ids_of(values):
    return node_ids(TABLE, pd.Series(values, name="id"))


def test_whole_numbers_are_integers_and_anything_else_text():
    assert ids_of(["1", "2.0"]).values.tolist() == [1, 2]
    assert ids_of(["1", "x"]).values.tolist() == ["1", "x"]
    assert ids_of(["007", "7"]).values.tolist() == ["007", "7"]


def test_find():
    assert ids_of(["5", "3"]).find(pd.Series(["3", "3.0", "x", "03", "5"])).tolist() == [1, 1, -1, -1, 0]
    assert ids_of(["a", "3"]).find(pd.Series(["3", "3.0", "a"])).tolist() == [1, -1, 0]


def test_known():
    column = pd.Series(["3", None, "x", " 5 "], name="end")
    assert ids_of(["5", "3"]).known(TABLE, column).tolist() == [True, False, False, True]


def test_more_ids():
    ids = NodeIds(np.array([5, 3]))
    assert ids.with_more(pd.Series(["7", "7.0", "9"])).values.tolist() == [5, 3, 7, 9]
    assert ids.with_more(pd.Series(["ten"])).values.tolist() == ["5", "3", "ten"]


def test_mixed_types_of_one_name_are_one_node():
    with pytest.raises(InputError, match="the id '1' in the column 'id' occurs more than once"):
        ids_of(pd.Series([1, "1"], dtype=object))


def test_names_of_rows():
    codes, names = distinct_names(TABLE, pd.Series([2.0, 1.0, 2.0, np.nan]))
    assert (codes.tolist(), names.tolist()) == ([0, 1, 0, -1], ["2", "1"])


def test_lists_are_no_ids():
    with pytest.raises(InputError, match="the column 'id' holds lists or other structures"):
        ids_of([[1], [2]])


def test_a_text_of_many_characters_in_many_rows_does_not_take_gigabytes():
    """As a fixed width in a numpy array, 5,000 times 100,000 characters are 2 GB."""
    names = [f"n{i}" for i in range(5000)]
    names[7] = "x" * 100_000
    with pytest.raises(InputError, match="row 8, has 100,000 characters: name another id column") as caught:
        ids_of(names)
    assert len(str(caught.value)) < 300


def test_long_ids_in_few_rows_are_kept():
    assert ids_of(["x" * 5000, "y"]).values[0] == "x" * 5000


def test_a_first_line_that_is_a_node():
    with pytest.raises(InputError, match=r"the first line of .* is the node 7, not column names: add a line"):
        check_first_line(TABLE, "7", ids_of([1, 2]))
    check_first_line(TABLE, "7", ids_of(["a", "b"]))
    check_first_line(TABLE, "name", ids_of([1, 2]))


def test_moments_far_away_are_no_ids():
    far = pd.Series(np.array([2**40, 0], dtype="M8[s]")).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    with pytest.raises(InputError, match="the column 'id' holds dates beyond the year 9999"):
        ids_of(far)
