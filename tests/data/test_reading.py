"""Readings: what a model keeps of the tables of its fit, and when another graph has the same features."""

import json

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.columns.encoding import ColumnEncoding
from otherhalf.data.reading import Columns, Reading, check_same_features
from otherhalf.errors import InputError

CELLS = pd.DataFrame({"age": [1.0, 5.0, np.nan], "city": ["Bonn", "Rome", "Bonn"]})


def learned(cells=CELLS):
    return Reading(Columns(id="who", label="team"), ColumnEncoding.learn(cells))


def test_what_is_said_now_goes_before_what_was_said():
    earlier = Columns(id="who", label="team", directed=True)
    assert Columns(id="name").over(earlier) == Columns(id="name", label="team", directed=True)
    assert Columns().over(earlier) == earlier


def test_among_the_arguments_of_a_function():
    assert Columns.among({**vars(Columns(id="who")), "name": "x"}) == Columns(id="who")


def test_json_and_tensors_keep_everything():
    reading = learned()
    again = Reading.from_parts(json.loads(json.dumps(reading.to_dict())), reading.tensors())
    assert again.columns == reading.columns
    assert again.encoding == reading.encoding
    numbers = Reading(Columns(features=["a"], encode=False), None)
    again = Reading.from_parts(json.loads(json.dumps(numbers.to_dict())), {})
    assert (again.columns, again.encoding) == (numbers.columns, None)
    assert Reading.from_parts(None, {}) is None


def test_a_newer_format_is_refused():
    with pytest.raises(InputError, match="has format 99 and this otherhalf reads up to 1: upgrade"):
        Reading.from_parts({**learned().to_dict(), "version": 99}, {})


def test_features_of_one_meaning():
    numbers = Reading(Columns(encode=False), None)
    for fitted, given in [(None, None), (learned(), None), (learned(), learned()), (None, numbers)]:
        check_same_features(fitted, given)


def test_features_of_another_meaning():
    other = learned(CELLS.assign(age=[1.0, 6.0, 2.0]))
    with pytest.raises(InputError, match=r"were not encoded as those of the fit.*reading=model\.reading_"):
        check_same_features(learned(), other)
    for fitted in (None, Reading(Columns(encode=False), None)):
        with pytest.raises(InputError, match="fitted to numbers as they are: read its tables with encode"):
            check_same_features(fitted, other)
    with pytest.raises(InputError, match="were not encoded as those of the fit"):
        check_same_features(learned(), Reading(Columns(encode=False), None))


def test_numbers_as_they_are_remember_the_columns_that_are_no_features():
    reading = Reading(Columns(features=["a", "b"], encode=False), None, unused=("c",))
    again = Reading.from_parts(json.loads(json.dumps(reading.to_dict())), {})
    assert (again.feature_names, again.unused) == (("a", "b"), ("c",))
    again.check_new(["c", "b", "a"])
    with pytest.raises(
        InputError, match="has the column 'd', which the model was not fitted with: take it out"
    ):
        again.check_new(["a", "b", "d"])
    Reading(Columns(features=["a"], encode=False), None).check_new(["a", "d"])  # of an older version
