"""Write files so that a reader, or a kill at any time, finds the old file or the complete new one."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from otherhalf.errors import InputError

FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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
    ``path`` stays as it was. Raise InputError if the disk is full.
    """
    path = Path(path)
    try:
        with _temporary_file(path) as temporary:
            yield temporary
    except OSError as error:
        if error.errno in FULL_DISK:
            raise InputError(
                f"{path} cannot be written ({error.strerror}): free some space and start again"
            ) from error
        raise


@contextmanager
def _temporary_file(path: Path) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        # mkstemp makes private files; this one gets the permissions of any new file of the user.
        temporary.chmod(0o666 & ~_umask())
        yield temporary
        _flush_to_disk(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # makes the new name durable too; Windows cannot open a folder
        _flush_to_disk(path.parent)


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
