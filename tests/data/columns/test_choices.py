"""Names and patterns of columns."""

import pytest

from otherhalf.data.columns.choices import chosen_columns, kinds_by_name, listing, said_kinds, split_names
from otherhalf.errors import InputError

COLUMNS = ["ast_a", "ast_b", "age", "c[1]"]
KINDS = ("number", "category")


@pytest.mark.parametrize(
    ("features", "exclude", "expected"),
    [
        (None, None, COLUMNS),
        ("age, ast_*", None, ["age", "ast_a", "ast_b"]),
        (["ast_*", "ast_a"], None, ["ast_a", "ast_b"]),
        (None, "ast_*", ["age", "c[1]"]),
        ("a*", ["*_b"], ["ast_a", "age"]),
        ("c[1]", None, ["c[1]"]),
        ("", None, []),
    ],
)
def test_chosen(features, exclude, expected):
    assert chosen_columns(COLUMNS, features, exclude) == expected


@pytest.mark.parametrize(("features", "exclude"), [("agee", None), (None, "x*"), ("a?e", None)])
def test_a_name_that_means_nothing_is_refused(features, exclude):
    with pytest.raises(
        InputError, match=r"no column matches '.*' in (features|exclude): the columns are ast_a"
    ):
        chosen_columns(COLUMNS, features, exclude)


def test_kinds_by_name_and_pattern():
    assert said_kinds(COLUMNS, {"ast_b": "category", "ast_*": "number"}, KINDS) == {
        "ast_a": "number",
        "ast_b": "category",
    }
    assert said_kinds(COLUMNS, "ast_*=number, age=category", KINDS)["age"] == "category"
    assert said_kinds(COLUMNS, None, KINDS) == {}


@pytest.mark.parametrize(
    ("kinds", "fragment"),
    [
        ({"x": "number"}, "no column matches 'x' in kinds"),
        ({"age": "colour"}, "the kind 'colour' of 'age' is not known: say one of number, category"),
        ("age", "'age' in kinds is not COLUMN=KIND"),
        ("=number", "'=number' in kinds is not COLUMN=KIND"),
    ],
)
def test_wrong_kinds_are_refused(kinds, fragment):
    with pytest.raises(InputError, match=fragment):
        said_kinds(COLUMNS, kinds, KINDS)


def test_a_long_listing_is_cut():
    assert listing(f"c{i}" for i in range(25)).endswith("c19 and 5 more")
    assert listing([]) == "none"


def test_a_name_with_a_comma_stands_in_quotes():
    assert split_names('"a,b", c') == ["a,b", "c"]
    assert said_kinds(["a,b", "c=d"], '"a,b=number",c=d=category', KINDS) == {
        "a,b": "number",
        "c=d": "category",
    }


def test_names_in_a_list_are_taken_as_they_are():
    assert split_names([" a ", "b,c"]) == [" a ", "b,c"]


def test_kinds_by_name():
    assert kinds_by_name(None) == {}
    assert kinds_by_name({"a": "text"}) == kinds_by_name("a=text") == {"a": "text"}


def test_a_line_end_outside_quotes_is_refused():
    with pytest.raises(InputError, match="is no list of columns"):
        split_names("a\nb")
    assert split_names('"a\nb",c') == ["a\nb", "c"]
