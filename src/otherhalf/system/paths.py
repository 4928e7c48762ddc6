"""Paths as users write them."""

import os
from pathlib import Path

from otherhalf.errors import InputError


def user_path(text: str | Path) -> Path:
    """Return the path that a user wrote, with ``~`` and ``~name`` replaced by home folders."""
    if str(text) == "":
        raise InputError("an empty path names nothing: give a file or folder, or . for the present folder")
    if "\0" in str(text):
        raise InputError(f"{str(text)!r} has a null character, which no path has: leave it out")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        home = Path(text).parts[0]
        raise InputError(f"there is no home folder {home} for {text}: write the whole path") from error


def check_present_folder() -> None:
    """Raise InputError if the present folder was removed: some libraries end the process there."""
    try:
        os.getcwd()
    except OSError as error:
        raise InputError("the present folder was removed: change to another one, as with `cd ~`") from error
