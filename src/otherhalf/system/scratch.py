"""Temporary folders that do not outlive their process for long, even if it is killed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path

from otherhalf.errors import InputError
from otherhalf.system.locks import LOCK_FILE, release_lock, take_lock

PREFIX = "otherhalf-"

LONGEST_OF_SOCKETS = 70
"""Most characters of the folder of temporary files for sockets: the path of a socket has 107 at most."""


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield a folder for temporary files, and remove it when the block ends.

    Folders that killed processes of this user have left are removed first. The folder is made in ``parent``;
    default: the system's folder for temporary files.
    """
    try:
        parent = parent or Path(tempfile.gettempdir())
        _remove_debris(parent)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        handle = take_lock(folder / LOCK_FILE)
    except OSError as error:
        raise InputError(
            f"no folder for temporary files can be made ({error.strerror}): free some space, or let TMPDIR "
            "name a folder that has some"
        ) from error
    maker = os.getpid()
    try:
        yield folder
    finally:
        if os.getpid() == maker:  # and not a process that was forked from it, and ends
            shutil.rmtree(folder, ignore_errors=True)
        if handle is not None:
            os.close(handle)


@cache
def folder_of_sockets(longest: int = LONGEST_OF_SOCKETS) -> Path:
    """Return a temporary folder whose path is short enough for sockets; the process removes it at its end.

    Args:
        longest: Most characters of the folder that it is made in.
    """
    usual, short = tempfile.gettempdir(), Path("/tmp")
    stack = ExitStack()
    long = len(os.fsencode(usual)) > longest and short.is_dir()
    folder = stack.enter_context(temporary_folder(short if long else Path(usual)))
    Finalize(None, stack.close, exitpriority=-100)
    return folder


def _remove_debris(parent: Path) -> None:
    with suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*"):
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
