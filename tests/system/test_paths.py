"""Paths as users write them."""

import os
from pathlib import Path

import pytest

from otherhalf.errors import InputError
from otherhalf.system.paths import check_present_folder, user_path


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


@pytest.mark.skipif(os.name != "posix", reason="a folder in use cannot be removed")
def test_a_present_folder_that_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    check_present_folder()
    folder.rmdir()
    with pytest.raises(InputError, match="the present folder was removed: change to another one"):
        check_present_folder()
    os.chdir(tmp_path)
