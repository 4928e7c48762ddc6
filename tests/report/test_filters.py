"""Numbers and texts in templates."""

import pytest

from otherhalf.report.filters import FILTERS, count, cut, fixed, marked, nested, seconds, share


@pytest.mark.parametrize("write", [count, fixed, share, seconds])
def test_unknown_is_a_dash(write):
    assert write(None) == "–"


def test_numbers():
    assert count(1234567) == "1,234,567"
    assert (fixed(0.12345), fixed(-0.5, 1)) == ("0.123", "\u22120.5")
    assert (share(0.5), share(0.123, 0)) == ("50.0%", "12%")
    assert seconds(1234.56) == "1,234.6 s"


def test_long_text_is_cut():
    assert cut("a" * 80) == "a" * 80
    assert cut("a" * 81) == "a" * 79 + "…"
    assert cut(1234, 3) == "12…"


def test_marks_become_bold_and_nothing_else_becomes_markup():
    assert marked("**a<b>**\n<i>") == "<b>a&lt;b&gt;</b><br>&lt;i&gt;"
    assert marked("2 ** 3") == "2 ** 3"


def test_settings_are_readable():
    assert nested({"é": [1]}) == '{\n  "é": [\n    1\n  ]\n}'


def test_every_filter_has_its_own_name():
    assert FILTERS["cut"] is cut
