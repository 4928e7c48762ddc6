"""Cells: gaps, distinct texts and numbers of any column that pandas can hold."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.columns.cells import Cells, sample_of, text_of
from otherhalf.errors import InputError


def texts(column):
    """The text of each cell, None for a gap."""
    cells = Cells.of(pd.Series(column))
    return [None if code < 0 else cells.texts[code] for code in cells.codes]


def test_texts_are_stripped_and_gap_words_are_gaps():
    assert texts([" a ", "a", "", "N/A", "?", None, "-inf", "b"]) == [
        "a",
        "a",
        None,
        None,
        None,
        None,
        None,
        "b",
    ]


def test_whole_numbers_have_one_text():
    assert texts([1, 2]) == texts([1.0, 2.0]) == texts(["1", "2"]) == ["1", "2"]
    assert texts([1.5, np.nan, np.inf]) == ["1.5", None, None]


def test_equal_cells_of_other_types_stay_apart():
    assert texts(pd.Series([True, 1, "1", 1.0, None], dtype=object)) == ["True", "1", "1", "1", None]


def test_odd_cells():
    cells = [
        b"ab",
        ["b", 1],
        {"k": 1},
        {2, 1},
        2**60,
        10**400,
        1e300,
        "\ud800x",
        decimal.Decimal("1.50"),
        np.float32(2),
    ]
    expected = [
        "ab",
        '["b", "1"]',
        "{'k': 1}",
        "[1, 2]",
        "1.152921504606847e+18",
        None,
        "1e+150",
        "?x",
        "1.50",
        "2",
    ]
    assert texts(pd.Series(cells, dtype=object)) == expected


def test_complex_numbers_are_texts():
    assert Cells.of(pd.Series([1j, 2 + 1j], name="c")).texts.tolist() == ["1j", "(2+1j)"]


def test_categories_without_rows_are_no_values():
    cells = Cells.of(pd.Series(pd.Categorical(["a", "b", None], categories=["z", "b", "a"])))
    assert (cells.distinct, sorted(cells.texts), int(cells.gaps.sum())) == (2, ["a", "b"], 1)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2, None], dtype="Int64"),
        pd.Series([1.0, 2.0, None]),
        pd.Series([1.0, 2.0, np.inf]),
        pd.Series([1, 2, None], dtype=object),
        pd.Series(pd.arrays.SparseArray([1.0, 2.0, np.nan])),
        pd.Series(pd.to_timedelta([1, 2, None], unit="D")),
    ],
)
def test_numbers(column):
    cells = Cells.of(column)
    np.testing.assert_array_equal(cells.plain, [1, 2, np.nan])
    assert (cells.distinct, cells.ordered.tolist(), cells.gaps.tolist()) == (2, [1, 2], [False, False, True])


def test_huge_numbers_are_bounded():
    assert Cells.of(pd.Series([1e300, -1e300])).plain.tolist() == [1e150, -1e150]
    assert Cells.of(pd.Series([10**400, 1], dtype=object)).plain is None


def test_moments():
    day = pd.Series(pd.to_datetime(["1970-01-02T12:00", None]))
    for column in (
        day,
        day.dt.tz_localize("UTC"),
        day.astype("datetime64[s]"),
        day.dt.tz_localize("Etc/GMT+12"),
    ):
        days = Cells.of(column).days
        assert days[0] == (1.5 if "GMT" not in str(column.dtype) else 2.0)
        assert np.isnan(days[1])
        assert (Cells.of(column).distinct, Cells.of(column).gaps.tolist()) == (1, [False, True])
    assert Cells.of(pd.Series(pd.period_range("1970-02", periods=1, freq="M"))).days.tolist() == [31.0]


def test_arrow_types():
    pa = pytest.importorskip("pyarrow")
    listed = pd.Series([["a"], None], dtype=pd.ArrowDtype(pa.list_(pa.string())))
    assert Cells.of(listed).lists.tolist() == [True, False]
    stamp = pd.Series([datetime.datetime(1970, 1, 2), None], dtype=pd.ArrowDtype(pa.timestamp("us", "UTC")))
    assert Cells.of(stamp).days[0] == 1
    assert Cells.of(pd.Series([1, None], dtype=pd.ArrowDtype(pa.int64()))).plain[0] == 1


def test_lists():
    assert Cells.of(pd.Series([["a"], None, np.array([1])], dtype=object)).lists.tolist() == [
        True,
        False,
        True,
    ]
    assert Cells.of(pd.Series(["a", None])).lists is None


def test_a_sample_depends_on_the_texts_alone():
    values = np.array([f"t{i}" for i in range(500)], dtype=object)
    turned = values[::-1].copy()
    first, second = values[sample_of(values, 20)], turned[sample_of(turned, 20)]
    assert first.tolist() == second.tolist() == sorted(first)
    assert len(first) == 20


def test_text_of_a_large_float_is_exact():
    assert text_of(1e20) == "1e+20"
    assert text_of(float(2**52)) == str(2**52)


def test_moments_far_away_with_a_time_zone():
    far = pd.Series(np.array([2**40, 0], dtype="M8[s]")).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    assert Cells.of(far.rename("t")).distinct == 2


def test_a_date_that_no_number_of_microseconds_holds():
    far = pd.Series(np.array([10**15], dtype="M8[s]"), name="t")
    with pytest.raises(InputError, match="the column 't' holds a date that is 290,000 years away or more"):
        _ = Cells.of(far).days
