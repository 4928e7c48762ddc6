"""Where data sets are looked for and kept on this computer."""

from __future__ import annotations

import os
from pathlib import Path

from otherhalf.errors import InputError


def data_folder() -> Path | None:
    """The folder named by ``OTHERHALF_DATA``, where the user keeps data sets; read, never written."""
    named = os.environ.get("OTHERHALF_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """The folder where downloaded data sets are kept: ``OTHERHALF_CACHE``, or the XDG cache."""
    named = os.environ.get("OTHERHALF_CACHE")
    if named:
        return Path(named).expanduser()
    xdg = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(xdg) if xdg else Path.home() / ".cache") / "otherhalf"
    except RuntimeError as error:  # no home folder, as under some service accounts
        raise InputError("there is no home folder to keep data sets in: set OTHERHALF_CACHE") from error


def search_folders() -> list[Path]:
    """The folders in the order in which data sets are looked for."""
    data = data_folder()
    return [cache_folder()] if data is None else [data, cache_folder()]


def where_to_place(name: str) -> str:
    """The end of a message: which file to place where, when it cannot be had from the network."""
    return f"place {name}.npz in the folder $OTHERHALF_DATA or in {cache_folder()}"
