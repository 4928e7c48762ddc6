"""Columns of dates."""

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.columns.date import DateColumn
from otherhalf.errors import InputError


def test_parts_by_hand():
    column = pd.Series(["2020-01-06", "2021-04-06", None], name="d")  # a Monday and a Tuesday
    learned = DateColumn.learn(column)
    assert learned.names == (
        *(
            "d: age",
            "d: year",
            "d: month sin",
            "d: month cos",
            "d: weekday sin",
            "d: weekday cos",
            "d: missing",
        ),
    )
    x = learned.apply(column)
    np.testing.assert_allclose(
        x[:2, 2:4], [[0, 1], [1, 0]], atol=1e-7
    )  # January at the top, April a quarter on
    np.testing.assert_allclose(x[0, 4:6], [0, 1], atol=1e-7)
    np.testing.assert_allclose(x[:2, 0], [1, -1])
    assert x[2].tolist() == [0, 0, 0, 0, 0, 0, 1]


def test_only_what_varies():
    days = DateColumn.learn(pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"]), name="d"))
    assert days.becomes == "age in days, weekday"
    hours = DateColumn.learn(pd.Series(["2020-01-01 05:59:59.9999999", "2020-01-01 18:00"]))
    assert hours.becomes == "age in days, hour"


def test_later_dates_and_other_types():
    learned = DateColumn.learn(pd.Series(["01.02.2020", "13.02.2020", "14.05.2020"], name="d"))
    x = learned.apply(pd.Series(pd.to_datetime(["2020-02-01", "2030-01-01"])))
    np.testing.assert_array_equal(x[0], learned.apply(pd.Series(["01.02.2020"]))[0])
    assert x[1, 0] < -10
    assert np.isfinite(learned.apply(pd.Series([20200201, 7]))).all()
    assert learned.unreadable(pd.Series(["2020-02-01", "01.02.2020"])) == ["2020-02-01"]


def test_an_unclear_order_is_said():
    assert (
        "day or month first is unclear"
        in DateColumn.learn(pd.Series(["01/02/2020", "03/04/2020"])).remarks[0]
    )
    assert DateColumn.learn(pd.Series(["01/02/2020", "13/04/2020"])).remarks == ()


@pytest.mark.parametrize("column", [[20200201, 20210201], ["20200201", "20210201"]])
def test_numbers_that_are_said_to_be_dates(column):
    learned = DateColumn.learn(pd.Series(column))
    assert learned.remarks == ("numbers are read as YYYYMMDD",)
    assert learned.becomes == "age in days, year, weekday"


def test_no_date_at_all_is_refused():
    with pytest.raises(InputError, match="the column 'd' is said to be a date, but no cell"):
        DateColumn.learn(pd.Series(["x", "y"], name="d"))
