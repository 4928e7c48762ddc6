"""Paths as users write them."""

from pathlib import Path

import pytest

from otherhalf.errors import InputError
from otherhalf.system.paths import user_path


def test_the_home_folder_is_put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert user_path("~/a.csv") == Path("/home/ada/a.csv")
    assert user_path("data/~a.csv") == Path("data/~a.csv")


def test_a_home_folder_that_does_not_exist_is_said() -> None:
    with pytest.raises(InputError, match=r"no home folder ~nouser for ~nouser/a\.csv: write the whole path"):
        user_path("~nouser/a.csv")


@pytest.mark.parametrize(
    ("text", "sentence"), [("", "an empty path names nothing"), ("a\0b", "null character, which no path has")]
)
def test_texts_that_are_no_path(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        user_path(text)
