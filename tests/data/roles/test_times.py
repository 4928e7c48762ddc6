import numpy as np
import pandas as pd
import pytest

from otherhalf.data.roles.times import read_times
from otherhalf.errors import InputError


def order(values):
    times = read_times(pd.Series(values), "the column 'when'")
    assert times.isna().sum() == 0
    return times.argsort().tolist()


@pytest.mark.parametrize(
    "values",
    [
        [2003, 2001, 2002],
        ["2003", "2001", "2002.5"],
        ["2003-05-01", "2001-12-31", "2002-01-01 10:30:00"],
        ["2003-05-01T00:00:00+02:00", "2003-04-30T20:00:00Z", "2003-04-30T23:00:00+02:00"],
        ["2003/05/01", "2001/12/31", "2002/01/01"],
        ["01.05.2003", "31.12.2001", "02.01.2003"],
        ["31/05/2003", "01/12/2001", "02/01/2003"],
        ["05/31/2003", "12/01/2001", "01/02/2003"],
        pd.to_datetime(["2003-05-01", "2001-12-31", "2002-01-01"]),
        pd.to_datetime(["2003-05-01", "2001-12-31", "2002-01-01"]).tz_localize("Europe/Paris"),
    ],
    ids=str,
)
def test_every_way_to_write_times_sorts(values):
    assert order(values) == [1, 2, 0]


def test_gaps_stay_gaps():
    for values in (["2001", "", None, "NaN"], [1.0, np.nan, np.nan, np.nan], ["2001-01-01", "", None, "NaT"]):
        assert read_times(pd.Series(values), "t").isna().tolist() == [False, True, True, True]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            ["01/02/2003", "03/04/2003"],
            "'01/02/2003' can be read with the day or the month first: write dates",
        ),
        (["2001-01-01", "soon"], "the column 'when': 'soon' is not a number or a date like the others"),
        (["31/01/2003", "01/31/2003"], "is not a number or a date like the others"),
        ([1.0, np.inf], "a time is infinite"),
    ],
)
def test_refusals(values, message):
    with pytest.raises(InputError, match=message):
        order(values)
