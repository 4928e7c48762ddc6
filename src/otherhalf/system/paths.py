"""Paths as users write them."""

from pathlib import Path

from otherhalf.errors import InputError


def user_path(text: str | Path) -> Path:
    """Return the path that a user wrote, with ``~`` and ``~name`` replaced by home folders."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        home = Path(text).parts[0]
        raise InputError(f"there is no home folder {home} for {text}: write the whole path") from error
