"""Files appear whole or not at all, so that a kill in mid-write never leaves half a file behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of ``path``; on success it takes the place of ``path``.

    The folder is made if it is missing. The temporary name keeps the suffix of ``path``, because
    writers such as ``numpy.savez`` append one of their own otherwise. If the block raises, the
    temporary file is removed and what stood at ``path`` before still stands there.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    aside = Path(name)
    try:
        # mkstemp makes files private; give this one the rights any new file of the user would have.
        aside.chmod(0o666 & ~_umask())
        yield aside
        _flush_to_disk(aside)
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # makes the new name itself durable; Windows cannot open a folder
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
