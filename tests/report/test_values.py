"""Numbers and names for JSON."""

import json

import numpy as np

from otherhalf.report.values import names, number, numbers, plain


def test_numbers_are_short_and_finite():
    assert number(1 / 3) == 0.3333
    assert number(np.float32(0.12345), 2) == 0.12
    assert [number(value) for value in (None, np.nan, np.inf)] == [None] * 3
    assert str(number(-0.00001)) == "0.0"


def test_arrays_keep_their_shape_and_lose_what_json_lacks():
    assert numbers(np.array([[1 / 3, np.nan], [np.inf, -0.0]])) == [[0.3333, None], [None, 0.0]]
    assert numbers([]) == []


def test_names_of_any_kind_are_text():
    assert names(np.array([3, 17])) == ["3", "17"]
    assert names(np.array(["a", None], dtype=object)) == ["a", "None"]


def test_settings_become_json():
    values = {"a": (1, 2), 3: np.float32(0.5), "b": {"c": float("inf"), "d": None, "e": object}}
    found = plain(values)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["a"] == [1, 2]
    assert found["3"] == 0.5
    assert found["b"]["c"] is None
