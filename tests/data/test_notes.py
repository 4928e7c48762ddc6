import warnings

import pytest

from otherhalf.data.notes import by_column, counted, hand_over, listing


def test_a_list_is_filled_and_nothing_shown():
    given = ["Before."]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hand_over(["One.", "Two."], given)
    assert given == ["Before.", "One.", "Two."]


def test_warnings_name_the_line_of_the_user():
    with pytest.warns(UserWarning, match=r"One|Two") as caught:
        hand_over(["One.", "Two."])
    assert [str(warning.message) for warning in caught] == ["One.", "Two."]
    assert {warning.filename for warning in caught} == {__file__}


def test_counted():
    assert [counted(n, "edge") for n in (0, 1, 2000)] == ["0 edges", "1 edge", "2,000 edges"]


def test_long_lists_are_cut():
    assert listing("abc") == "a, b, c"
    assert listing(range(5), most=2) == "0, 1 and 3 more"


def test_columns_with_the_same_note_share_a_sentence():
    notes = by_column([("a", "left out"), ("b", "unclear"), ("c", "left out")])
    assert list(notes) == ["columns 'a', 'c': left out", "column 'b': unclear"]


def test_a_note_has_an_end():
    given: list[str] = []
    hand_over(["x" * 10**6], given)
    assert len(given[0]) < 2000
