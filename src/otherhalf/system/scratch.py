"""Temporary folders that do not outlive their process for long, even if it is killed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from otherhalf.errors import InputError
from otherhalf.system.locks import LOCK_FILE, release_lock, take_lock

PREFIX = "otherhalf-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder for temporary files, and remove it when the block ends.

    Folders that killed processes of this user have left are removed first.
    """
    _remove_debris()
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        handle = take_lock(folder / LOCK_FILE)
    except OSError as error:
        raise InputError(
            f"no folder for temporary files can be made ({error.strerror}): free some space, or let TMPDIR "
            "name a folder that has some"
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _remove_debris() -> None:
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                _remove_if_dead(folder)


def _remove_if_dead(folder: Path) -> None:
    lock = folder / LOCK_FILE
    # A folder without a lock was made a moment ago, or by somebody else.
    if folder.is_symlink() or not lock.is_file() or not _is_own(folder):
        return
    handle = take_lock(lock, where_unsupported=False)
    if handle is not None:
        shutil.rmtree(folder, ignore_errors=True)
        release_lock(lock, handle)


def _is_own(folder: Path) -> bool:
    return os.name != "posix" or folder.stat().st_uid == os.geteuid()
