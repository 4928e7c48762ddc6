"""What the two errors are to programs that catch them, and what a terminal shows of sentences."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.errors import LONGEST, InputError, RunsFailed, printable, shortened


def test_wrong_input_is_a_value_error():
    with pytest.raises(ValueError, match="k must be an integer"):
        raise InputError("k must be an integer ≥ 1, not 0")


def test_a_sentence_has_an_end_whatever_names_are_in_it():
    message = f"there is no node {'x' * 10**7!r} in nodes.csv: correct the list"
    shown = str(InputError(message))
    assert len(shown) < LONGEST
    assert shown.startswith("there is no node 'xxx")
    assert shown.endswith("xxx' in nodes.csv: correct the list")
    assert shortened("x" * LONGEST) == "x" * LONGEST
    assert str(pickle.loads(pickle.dumps(InputError("a: b")))) == "a: b"  # as workers hand it over


def test_failed_runs_are_not_the_users_fault():
    assert not issubclass(RunsFailed, ValueError)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("größer – 日本語 😀 e\u0301 0 … N−1", "größer – 日本語 😀 e\u0301 0 … N−1"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u2028b\u202ec", r"a\u2028b\u202ec"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text, shown):
    assert printable(text) == shown


def test_own_ends_of_lines_stay():
    assert printable("a\nb\x1b", keep="\n") == "a\nb\\x1b"


@given(st.text(st.characters()))
def test_every_text_is_one_line_that_can_be_printed(text):
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown
    shown.encode()
