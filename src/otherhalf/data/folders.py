"""The folders on this computer where data sets are looked for and kept."""

import os
from pathlib import Path

from platformdirs import user_cache_path

from otherhalf.errors import InputError
from otherhalf.system.paths import user_path


def data_folder() -> Path | None:
    """Return the folder that ``OTHERHALF_DATA`` names, if any. It is read and never written to."""
    named = os.environ.get("OTHERHALF_DATA")
    return user_path(named) if named else None


def cache_folder() -> Path:
    """Return the folder where downloaded data sets are kept: ``OTHERHALF_CACHE``, or the user's cache."""
    named = os.environ.get("OTHERHALF_CACHE")
    try:
        return (Path(named) if named else user_cache_path("otherhalf", appauthor=False)).expanduser()
    except RuntimeError as error:  # as under some service accounts
        raise InputError("this user has no home folder to keep data sets in: set OTHERHALF_CACHE") from error


def search_folders() -> list[Path]:
    """Return the folders in the order in which data sets are looked for."""
    data = data_folder()
    return [cache_folder()] if data is None else [data, cache_folder()]


def where_to_place(name: str) -> str:
    """Return the end of a message: which file the user can place where, if it cannot be downloaded."""
    return f"place {name}.npz in the folder $OTHERHALF_DATA or in {cache_folder()}"
