"""Locks between processes. A lock lapses when its process ends, however it ends.

A lock is held on an open file (``flock``), so the system itself ends it with the process: no process number
has to be compared, and none can be mistaken for a later one. Where the system or the file system has no such
locks, everything works as without them.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from otherhalf.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_FILE = ".otherhalf.lock"
SECONDS_TO_WAIT = 5.0
"""How long a folder that another process uses is waited for: longer than a save, shorter than a fit."""

_held = threading.local()


def take_lock(path: Path, *, where_unsupported: bool = True) -> int | None:
    """Make the file if it is missing, and lock it; return its handle, or None if another one holds it.

    ``where_unsupported`` says whether the lock counts as taken where there are no locks.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            taken = _lock(handle)
            if (where_unsupported if taken is None else taken) is False:
                os.close(handle)
                return None
            if is_at(handle, path):
                return handle
        except BaseException:
            with suppress(OSError):
                os.close(handle)
            raise
        os.close(handle)  # its last holder removed the file before it gave up the lock


def release_lock(path: Path, handle: int) -> None:
    """Remove the file of a lock, and give up the lock."""
    with suppress(OSError):
        path.unlink()
    os.close(handle)


def remove_if_dead(path: Path) -> None:
    """Remove a file that its maker keeps locked (:func:`take_lock`) while it lives, if the maker is dead."""
    try:
        handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:  # gone meanwhile, or not ours
        return
    with suppress(OSError):
        if _lock(handle) and is_at(handle, path):
            path.unlink()
    os.close(handle)


def is_at(handle: int, path: Path) -> bool:
    """Return whether the open file is the one that has this path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


@contextmanager
def folder_lock(folder: Path, wait: float = SECONDS_TO_WAIT) -> Iterator[None]:
    """Hold the lock of a folder; raise InputError if another process or thread keeps it for ``wait`` seconds.

    A thread that holds the lock may take it again.
    """
    name = os.path.realpath(folder)
    held: set[str] = _held.__dict__.setdefault("folders", set())
    if name in held:
        yield
        return
    path = Path(name) / LOCK_FILE
    handle = _wait_for(path, wait)
    held.add(name)
    try:
        with suppress(OSError):  # a full disk: it is only said to those who wait
            os.truncate(handle, 0)
            os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        held.discard(name)
        release_lock(path, handle)


def _wait_for(path: Path, wait: float) -> int:
    deadline = time.monotonic() + wait
    while (handle := take_lock(path)) is None:
        if time.monotonic() >= deadline:
            raise InputError(
                f"{path.parent} is in use by {_holder(path)}: wait until that has ended, or choose another "
                "folder"
            )
        time.sleep(0.05)
    return handle


def _holder(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace") or "another process"
    return "another process"


def _lock(handle: int) -> bool | None:
    """Lock an open file; return False if another one holds the lock, and None if there are no locks here."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the second is what some network file systems answer
        return False
    except OSError:
        return None
    return True
