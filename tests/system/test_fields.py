"""Settings: rules in words, and dictionaries whose names outlive those of the Python fields."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.errors import InputError
from otherhalf.system.fields import (
    check,
    flag,
    from_dict,
    integer,
    json_number,
    number,
    numbers,
    one_of,
    setting,
    to_dict,
)


@dataclass(frozen=True)
class Inner:
    width: int = setting(8, integer(1), name="hidden")


@dataclass(frozen=True)
class Outer:
    rate: float = setting(0.5, number(0, 1, below=True))
    inner: Inner = setting(factory=Inner, label="inner ")
    sizes: tuple[float, ...] = setting((1.0, 2.0), numbers(2, 0, 5))
    more: dict[str, Any] = setting(factory=dict, merged=True)


@pytest.mark.parametrize(
    ("rule", "good", "bad", "words"),
    [
        (integer(2), [2, np.int64(3)], [1, 2.0, True, "2", None], "an integer ≥ 2"),
        (number(0), [0, 0.5, np.float32(1)], [-1, float("nan"), float("inf"), True, "1"], "a number ≥ 0"),
        (number(0, 1, above=True, below=True), [0.5], [0, 1], "a number > 0 and < 1"),
        (number(0, 1), [0, 1], [1.5], "a number ≥ 0 and ≤ 1"),
        (one_of("a", "b"), ["a"], ["c", 1, None], "one of a, b"),
        (flag(), [True, np.bool_(False)], [0, "yes"], "True or False"),
        (numbers(2, 0, 5), [(0, 5), [1, 2]], [(1,), (1, 6), 3], "2 numbers from 0 to 5"),
    ],
)
def test_rules(rule, good, bad, words):
    for value in good:
        rule.check("x", value)
    for value in bad:
        with pytest.raises(InputError) as caught:
            rule.check("x", value)
        assert str(caught.value) == f"x must be {words}, not {value!r}"


def test_a_wrong_value_in_nested_settings_is_named_with_its_label():
    check(Outer())
    with pytest.raises(InputError, match="inner width must be an integer ≥ 1, not 0"):
        check(Outer(inner=Inner(0)))
    with pytest.raises(InputError, match="settings rate must be a number ≥ 0 and < 1, not 1"):
        check(Outer(rate=1), "settings ")


def test_dictionaries_have_the_names_of_files():
    settings = Outer(rate=0.25, inner=Inner(3), more={"steps": 4})
    values = to_dict(settings)
    assert values == {"rate": 0.25, "inner": {"hidden": 3}, "sizes": (1.0, 2.0), "steps": 4}
    assert from_dict(Outer, json.loads(json.dumps(values))) == settings
    assert from_dict(Outer, {"rate": 0.75}) == Outer(rate=0.75)


@dataclass(frozen=True)
class Tree:
    """Two branches of one kind, one of them with a label, and a dictionary that is not merged."""

    first: Outer = setting(factory=Outer, label="the first's ")
    second: Outer = setting(factory=Outer)
    count: int = setting(1, integer(1), name="number", label="k")
    table: Mapping[str, Any] = setting(factory=dict, name="walks")


def test_labels_of_nested_settings_reach_all_levels_and_the_nearest_counts():
    wrong = Outer(rate=2)
    with pytest.raises(InputError, match=r"^the first's rate must be"):
        check(Tree(first=wrong))
    with pytest.raises(InputError, match=r"^rate must be"):
        check(Tree(second=wrong))
    with pytest.raises(InputError, match=r"^all rate must be"):
        check(Tree(second=wrong), "all ")
    with pytest.raises(InputError, match=r"^inner width must be"):
        check(Tree(first=Outer(inner=Inner(0))))
    # A field's own label replaces its name.
    with pytest.raises(InputError, match=r"^k must be an integer ≥ 1, not 0$"):
        check(Tree(count=0))
    with pytest.raises(InputError, match=r"^all k must be"):
        check(Tree(count=0), "all ")


def test_what_has_no_rule_is_not_checked():
    check(Outer(more={"anything": object()}))
    check(Tree(table={"a": "b"}))


def test_serialised_names_and_not_those_of_python():
    values = to_dict(Tree(count=3, table={"steps": 2}))
    assert list(values) == ["first", "second", "number", "walks"]
    assert (values["number"], values["walks"]) == (3, {"steps": 2})
    # The Python name means nothing in a file.
    assert from_dict(Tree, {"count": 3, "table": {"steps": 2}}) == Tree()
    assert from_dict(Tree, {"number": 3, "walks": {"steps": 2}}) == Tree(count=3, table={"steps": 2})


def test_dictionaries_are_copies():
    table = {"steps": 2}
    tree = Tree(table=table, first=Outer(more=table))
    values = to_dict(tree)
    values["walks"]["steps"] = values["first"]["steps"] = 9
    assert table == {"steps": 2}
    source = to_dict(tree)
    read = from_dict(Tree, source)
    source["first"]["steps"] = 9
    assert read == tree


def test_a_merged_dictionary_takes_what_no_field_has_and_none_is_left_out():
    read = from_dict(Outer, {"rate": 0.25, "steps": 4, "teleport": None})
    assert read == Outer(rate=0.25, more={"steps": 4})
    assert from_dict(Outer, to_dict(read)) == read


def test_unknown_names_without_a_merged_dictionary_are_left_out():
    assert from_dict(Inner, {"hidden": 3, "of another version": 1}) == Inner(3)


def test_settings_without_declarations_have_their_names_and_no_rules():
    @dataclass(frozen=True)
    class Bare:
        size: int = 0

    check(Bare(-1))
    assert from_dict(Bare, to_dict(Bare(5))) == Bare(5)


names = st.sampled_from(["steps", "teleport", "walk_dropout"])
finite = st.floats(0, 0.99)
outers = st.builds(
    Outer,
    rate=finite,
    inner=st.builds(Inner, st.integers(1, 99)),
    sizes=st.tuples(finite, finite),
    more=st.dictionaries(names, finite | st.integers() | st.text()),
)


@given(st.builds(Tree, outers, outers, st.integers(1, 9), st.dictionaries(names, finite)))
def test_any_settings_come_back_from_json(tree):
    check(tree)
    assert from_dict(Tree, json.loads(json.dumps(to_dict(tree)))) == tree


def test_numpy_numbers_in_json():
    assert json.dumps({"a": np.float32(0.5)}, default=json_number) == '{"a": 0.5}'
    with pytest.raises(TypeError, match="set cannot be written to JSON"):
        json.dumps({1}, default=json_number)


# ---------------------------------------------------------------------- fields that came late


@dataclass(frozen=True)
class Later:
    """Settings whose later fields must not change the keys of records that were written before."""

    rate: float = setting(0.5, number(0))
    count: int = setting(3, integer(1), late=True)
    inner: Inner = setting(factory=Inner, label="inner ", late=True)
    renamed: str = setting("a", one_of("a", "b"), name="old", late=True)


def test_late_fields_are_left_out_at_their_defaults():
    assert to_dict(Later()) == {"rate": 0.5}
    assert to_dict(Later(rate=0.25, count=3, inner=Inner(8), renamed="a")) == {"rate": 0.25}


def test_late_fields_with_other_values_are_written_and_read_back():
    settings = Later(count=4, inner=Inner(9), renamed="b")
    values = to_dict(settings)
    assert values == {"rate": 0.5, "count": 4, "inner": {"hidden": 9}, "old": "b"}
    assert from_dict(Later, json.loads(json.dumps(values))) == settings
    assert to_dict(Later(inner=Inner(9))) == {"rate": 0.5, "inner": {"hidden": 9}}


def test_a_dictionary_of_before_a_field_came_has_its_default():
    assert from_dict(Later, {"rate": 0.75}) == Later(rate=0.75)


def test_late_fields_are_checked_like_others():
    check(Later())
    with pytest.raises(InputError, match="count must be an integer ≥ 1, not 0"):
        check(Later(count=0))
    with pytest.raises(InputError, match="inner width must be an integer ≥ 1, not 0"):
        check(Later(inner=Inner(0)))


def test_late_fields_of_nested_settings():
    @dataclass(frozen=True)
    class Holder:
        later: Later = setting(factory=Later)

    assert to_dict(Holder()) == {"later": {"rate": 0.5}}
    assert to_dict(Holder(Later(count=5))) == {"later": {"rate": 0.5, "count": 5}}


@given(
    st.builds(Later, finite, st.integers(1, 5), st.builds(Inner, st.integers(7, 9)), st.sampled_from("ab"))
)
def test_any_settings_with_late_fields_come_back(settings):
    assert from_dict(Later, json.loads(json.dumps(to_dict(settings)))) == settings


def test_an_integer_may_have_a_largest_value():
    rule = integer(1, 10)
    rule.check("layers", 10)
    with pytest.raises(InputError, match="layers must be an integer ≥ 1 and ≤ 10, not 11"):
        rule.check("layers", 11)
