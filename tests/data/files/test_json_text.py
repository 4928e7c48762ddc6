"""JSON texts that are taken, and those that are not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.data.files.json_text import parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES, st.booleans(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_every_value_comes_back(value, ascii_only, encoding):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_json(text) == value
    assert parse_json(text.encode(encoding)) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[" * 200_000, "brackets inside brackets"),
        ('{"a":' * 200_000, "brackets inside brackets"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "an object has the key 'c' twice"),
        ("9" * 5000, "a number has too many digits"),
        (r'"\ud800"', "only half of one"),
        (r'{"\uDFFF": 1}', "only half of one"),
        (b'"\xff"', "codec can't decode"),
        (b'"\xed\xa0\x80"', "codec can't decode"),
    ],
)
def test_refusals_in_one_line(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        parse_json(text)
    assert "\n" not in str(caught.value)


def test_a_pair_of_halves_is_a_character():
    assert parse_json(r'"\ud83d\ude00"') == "😀"
