"""Ways to write dates."""

import numpy as np
import pytest

from otherhalf.data.columns.date_text import (
    ISO,
    choose_number_style,
    choose_style,
    dates_of_numbers,
    other_order,
    read_dates,
)

DAY = 18_293.0  # 2020-02-01


@pytest.mark.parametrize(
    ("text", "fraction"),
    [
        ("2020-02-01", 0),
        ("2020-02", 0),
        ("2020-02-01T12:00:00Z", 0.5),
        ("2020-02-01 13:00:00+01:00", 0.5),
        ("20200201T120000", 0.5),
        ("01.02.2020", 0),
        ("01/02/2020 06:00", 0.25),
        ("2020/02/01", 0),
        ("1 Feb 2020", 0),
        ("February 1, 2020", 0),
        ("Sat, 01 Feb 2020 12:00:00 +0000", 0.5),
        ("01.02.20", 0),
    ],
)
def test_usual_forms(text, fraction):
    style, share = choose_style([text])
    assert share == 1
    assert read_dates([text], style).tolist() == [DAY + fraction]


def test_one_day_after_the_twelfth_decides_the_order():
    assert choose_style(["02/01/2020", "02/13/2020"])[0] == "%m/%d/%Y"
    assert choose_style(["02/01/2020", "13/02/2020"])[0] == "%d/%m/%Y"
    assert other_order("%d/%m/%Y") == "%m/%d/%Y"
    assert other_order(ISO) is None


@pytest.mark.parametrize(
    "texts", [["red", "blue"], ["2020", "2021"], ["1.5", "2"], ["v1.2.3-beta", "v2.0.0-rc1"], []]
)
def test_other_texts_are_no_dates(texts):
    assert choose_style(texts)[1] == 0


def test_a_wrong_text_is_a_gap():
    np.testing.assert_array_equal(
        read_dates(["2020-02-01", "soon", "2020-13-01"], ISO), [DAY, np.nan, np.nan]
    )


@pytest.mark.parametrize(
    ("number", "style"),
    [
        (20200201, "YYYYMMDD"),
        (DAY * 86400, "seconds since 1970"),
        (DAY * 86400e3, "milliseconds since 1970"),
        (DAY * 86400e9, "nanoseconds since 1970"),
    ],
)
def test_numbers_as_dates(number, style):
    assert choose_number_style(np.array([number], dtype=float)) == style
    assert dates_of_numbers(np.array([number], dtype=float), style).tolist() == [DAY]


def test_years_and_numbers_that_are_no_moment():
    assert choose_number_style(np.array([1990.0, 2020.0])) == "year"
    np.testing.assert_array_equal(
        dates_of_numbers(np.array([2020.0, np.nan, 1e6]), "year"), [18262, np.nan, np.nan]
    )
    assert np.isnan(dates_of_numbers(np.array([1e140]), "seconds since 1970")).all()
    assert np.isnan(dates_of_numbers(np.array([20201399.0]), "YYYYMMDD")).all()
