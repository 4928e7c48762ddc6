import pandas as pd
import pytest

from otherhalf.data.files.numbers import read_decimal_commas


def read(cells, separator=";", text=()):
    return read_decimal_commas(pd.DataFrame({"a": cells}), set(text), separator)


def test_decimal_commas_become_points():
    table, changed, unclear = read(["1,5", "-2", "3,25e2", None])
    assert table["a"].tolist()[:3] == [1.5, -2, 325]
    assert table["a"].isna().tolist() == [False, False, False, True]
    assert (changed, unclear) == (["a"], [])


@pytest.mark.parametrize("cells", [["1,5", "x"], ["1.234,5", "2,5"], ["1,2,3", "4"], ["a", "b"]])
def test_other_text_stays(cells):
    table, changed, unclear = read(cells)
    assert table["a"].tolist() == cells
    assert (changed, unclear) == ([], [])


def test_ids_stay_text():
    assert read(["1,5", "2,5"], text=["a"])[1] == []


def test_thousands_or_decimals():
    """Between commas 1,234 has two meanings; between semicolons a comma is a decimal comma."""
    assert read(["1,234", "5"], ",")[1:] == ([], ["a"])
    assert read(["1,234", "5"], ";")[0]["a"].tolist() == [1.234, 5]
    for cells in (["1,234", "0,125"], ["1,234", "1,5"], ["1,234", "1234,567"], ["1,234", "1,2345"]):
        assert read(cells, ",")[1:] == (["a"], [])
