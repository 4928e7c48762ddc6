"""Read files that this package wrote, and refuse what cannot be one of them."""

import json
import stat
from pathlib import Path
from typing import Any

from otherhalf.errors import InputError


def read_own_file(path: Path, fix: str) -> bytes:
    """Return the content of a file of a folder that this package wrote.

    Raise InputError if it cannot be read, or is no file: a pipe or a device would never end, and a link out
    of the folder leads to a file of somebody else. ``fix`` ends the sentence.
    """
    try:
        status = path.stat()
        folder = path.parent.resolve()
        if not path.resolve().is_relative_to(folder):
            raise InputError(f"{path} is a link to a file outside its folder, and it is not followed: {fix}")
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} is not a file: {fix}")
        return path.read_bytes()
    except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read ({reason}): {fix}") from error


def parse_object(content: bytes, path: Path, fix: str) -> dict[str, Any]:
    """Return the JSON object that a file holds; raise InputError if it holds anything else."""
    try:
        value = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged or cut short ({reason_of(error)}): {fix}") from error
    if not isinstance(value, dict):
        raise InputError(f"{path} holds no JSON object: {fix}")
    return value


def reason_of(error: BaseException) -> str:
    """Return in a few words why a content could not be used."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"it has no {error}"
    return str(error).partition("\n")[0] or type(error).__name__
