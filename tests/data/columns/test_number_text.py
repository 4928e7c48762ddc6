"""Ways to write numbers."""

import numpy as np
import pytest

from otherhalf.data.columns.number_text import PLAIN, choose_style, has_codes, read_numbers, remarks


@pytest.mark.parametrize(
    ("texts", "style", "values"),
    [
        (["1", "-2.5", "+3e2", ".5", "4."], PLAIN, [1, -2.5, 300, 0.5, 4]),
        (["1,5", "20", "-0,25"], "1.234,5", [1.5, 20, -0.25]),
        (["1.234,5", "1.000.000"], "1.234,5", [1234.5, 1e6]),
        (["1,234", "12", "1,000,000.25"], "1,234.5", [1234, 12, 1000000.25]),
        (["1 234", "12.5"], "1 234.5", [1234, 12.5]),
        (["1 234,5", "12"], "1 234,5", [1234.5, 12]),
        (["1'234", "7"], "1 234.5", [1234, 7]),
        (["0,125", "1,250"], "1.234,5", [0.125, 1.25]),
        (["12%", "7.5 %", "3"], "plain %", [12, 7.5, 3]),
        (["$1,234.50", "-$3", "$-4", "+$5"], "1,234.5 $", [1234.5, -3, -4, 5]),
        (["1.234,5 €", "€ 17"], "1.234,5 €", [1234.5, 17]),
    ],
)
def test_styles(texts, style, values):
    assert choose_style(texts) == (style, 1.0)
    assert read_numbers(texts, style).tolist() == values


def test_codes_are_no_numbers():
    assert choose_style(["007", "12"]) == (PLAIN, 0.0)


@pytest.mark.parametrize("texts", [["$5", "€5"], ["5$6", "7$8"], ["%", "$"]])
def test_signs_that_are_no_units(texts):
    assert choose_style(texts)[1] == 0


def test_a_number_of_another_unit_is_none():
    np.testing.assert_array_equal(read_numbers(["$5", "€5", "5"], "plain $"), [5, np.nan, 5])


def test_what_is_said_about_a_style():
    assert remarks(PLAIN) == ()
    assert remarks("plain %") == ("numbers are written as in 1234.5 %",)


def test_has_codes():
    assert has_codes(["12", " 007"])
    assert not has_codes(["0", "0.5", "10", "x07"])


def test_some_wrong_texts():
    assert choose_style(["1", "2.5", "hello", "1,5"]) == (PLAIN, 0.5)
    np.testing.assert_array_equal(
        read_numbers(["1", "hello", "9" * 400, "１"], PLAIN), [1, np.nan, np.nan, np.nan]
    )


def test_nothing():
    assert choose_style([]) == (PLAIN, 0.0)
