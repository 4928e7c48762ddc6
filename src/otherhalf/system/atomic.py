"""Write files so that a reader, or a kill at any time, finds the old file or the complete new one."""

import errno
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from otherhalf.errors import InputError
from otherhalf.system.locks import remove_if_dead, take_lock

FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

MARK = ".otherhalf-"
TEMPORARY = re.compile(r"\..*" + re.escape(MARK) + r"[0-9a-f]{8}(\.[^.]*)?", re.DOTALL)
"""Names of temporary files: nobody else has files with such names."""

LONGEST_STEM = 40
"""Most characters of a file's name in that of its temporary file: a name has 255 bytes at most."""


def check_place(path: str | Path, endings: tuple[str, ...] = ()) -> None:
    """Raise InputError if the file could not be written; call it before long work, not after it.

    The folder is created if it is missing. ``endings`` are those that the file may have; default: any.
    """
    path = Path(path)
    if endings and path.suffix not in endings:
        raise InputError(
            f"{path} does not end in {' or '.join(endings)}: give a name such as {path.stem}{endings[0]}"
        )
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file")
    if path.exists() and not os.access(path, os.W_OK):  # renaming would replace it all the same
        raise InputError(f"{path} is write-protected: give another name, or allow writing")
    check_folder(path.parent)


def check_folder(folder: str | Path) -> None:
    """Create the folder if it is missing. Raise InputError if it cannot be created or written to."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"{folder} is no folder that can be written to ({error.strerror}): choose another folder"
        ) from error


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of ``path``, and rename it to ``path`` when the block ends.

    The folder is created if it is missing. The temporary name has the suffix of ``path``, because writers
    such as ``numpy.savez`` otherwise append their own. If the block raises, the temporary file is removed and
    ``path`` stays as it was. If the process is killed, the next write to the folder removes it. An older file
    hands on its permissions. Raise InputError if the disk is full.
    """
    path = Path(path)
    with full_disk_refused(path), _temporary_file(path) as temporary:
        yield temporary


@contextmanager
def full_disk_refused(path: str | Path) -> Iterator[None]:
    """Raise InputError if the disk becomes full while ``path`` is written."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL_DISK:
            raise InputError(
                f"{path} cannot be written ({error.strerror}): free some space and start again"
            ) from error
        raise


@contextmanager
def _temporary_file(path: Path) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_debris(path.parent)
    temporary, handle = _new_file(path)
    try:
        yield temporary
        _flush_to_disk(temporary)
        with suppress(FileNotFoundError):  # a private file stays private
            temporary.chmod(path.stat().st_mode & 0o777)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        if handle is not None:
            os.close(handle)
    if os.name == "posix":  # makes the new name durable too; Windows cannot open a folder
        _flush_to_disk(path.parent)


def _new_file(path: Path) -> tuple[Path, int | None]:
    """Make a locked file beside ``path``, with the permissions of any new file; return it and its handle."""
    while True:
        random = secrets.token_hex(4)
        temporary = path.with_name(f".{path.stem[:LONGEST_STEM]}{MARK}{random}{path.suffix[:LONGEST_STEM]}")
        handle = None if temporary.exists() else take_lock(temporary)
        if handle is None:
            continue
        if os.name == "posix":
            return temporary, handle
        os.close(handle)  # Windows does not rename open files
        return temporary, None


def _remove_debris(folder: Path) -> None:
    """Remove the temporary files of processes that were killed; those of living ones are locked."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if MARK in entry.name]
    for name in names:
        if TEMPORARY.fullmatch(name):
            remove_if_dead(folder / name)


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
