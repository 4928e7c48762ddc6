import pandas as pd
import pytest

from otherhalf.data.files.table import LONGEST_COLUMN, MemoryTable, check_no_bytes
from otherhalf.errors import InputError


def test_a_table_in_memory_keeps_its_types_and_names_columns_by_text():
    table = MemoryTable("the table", pd.DataFrame({0: [1, 2, 3], "b": ["x", "y", "z"]}))
    assert table.columns == ["0", "b"]
    assert table.read(["0"])["0"].tolist() == [1, 2, 3]
    assert table.first_rows(2)["b"].tolist() == ["x", "y"]


def test_names_are_distinct():
    with pytest.raises(InputError, match="the table has two columns called 'a': rename one"):
        MemoryTable("the table", pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))


def test_rows_are_needed():
    with pytest.raises(InputError, match="t has column names but no rows: add the data"):
        MemoryTable("t", pd.DataFrame({"a": []})).read([])


def test_a_column_is_required_by_name():
    with pytest.raises(InputError, match="t has no column 'x' for the label: its columns are a, b"):
        MemoryTable("t", pd.DataFrame({"a": [1], "b": [2]})).require("x", "label")


def test_columns_without_name():
    table = MemoryTable("t", pd.DataFrame({"Unnamed: 0": [1], "b": [2]}))
    assert [table.unnamed(column) for column in table.columns] == [True, False]


def test_no_columns():
    with pytest.raises(InputError, match=r"nodes.parquet has no columns: give a table with column names"):
        MemoryTable("nodes.parquet", pd.DataFrame())


def test_bytes_become_text_where_they_are_text():
    cells = pd.DataFrame({"a": ["é".encode(), None], "b": [b"\xff", b"x"]})
    rows = MemoryTable("t", cells).read(())
    assert rows["a"].tolist()[0] == "é"
    assert rows["a"].isna().tolist() == [False, True]
    assert rows["b"].tolist() == [b"\xff", "x"]
    check_no_bytes("t", rows["a"])
    with pytest.raises(InputError, match="t: the column 'b' holds bytes that are not text"):
        check_no_bytes("t", rows["b"])


def test_names_of_columns_have_an_end():
    with pytest.raises(
        InputError, match=r"t has a column 'x{40}…' whose name has 1,001 characters: give names"
    ):
        MemoryTable("t", pd.DataFrame({"a": [1], "x" * (LONGEST_COLUMN + 1): [2]}))
    assert MemoryTable("t", pd.DataFrame({"x" * LONGEST_COLUMN: [2]})).columns == ["x" * LONGEST_COLUMN]
