"""Open a file for its bytes, whether it is compressed or not, if the memory can hold what it becomes."""

import bz2
import gzip
import io
import lzma
import stat
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from otherhalf.errors import InputError
from otherhalf.system.memory import Room, in_bytes, room


def _open_zstandard(path: Path) -> Any:
    if find_spec("pyarrow") is None:
        raise InputError(
            f"reading {path} needs pyarrow: run `pip install otherhalf[io]`, or unpack the file first"
        )
    import pyarrow as pa

    return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")


_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.GzipFile,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": _open_zstandard,
}
PACKINGS = tuple(_OPENERS)
"""The endings of compressed files."""

DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading a damaged file raises."""


_BLOCK = 2**20


def open_bytes(path: Path, copies: float = 0) -> IO[bytes]:
    """Open a file to read its bytes, unpacked if its name ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``.

    Raise InputError if the memory cannot hold what comes of it: for a file that is not compressed at once,
    for another one when too much of it is unpacked, because such a file does not say how large it is.

    Args:
        path: The file.
        copies: How many times the bytes of the file what comes of it takes; 0 if it is not kept.
    """
    opener = _OPENERS.get(path.suffix.lower())
    if opener is None:
        check_size(str(path), path.stat().st_size, copies)
        return path.open("rb")
    return io.BufferedReader(_Unpacked(path, opener(path), copies), _BLOCK)


def check_size(name: str, size: int, copies: float) -> None:
    """Raise InputError if the memory cannot hold ``copies`` times the bytes that a file or table has."""
    left = room()
    if copies * size > left.free:
        raise too_large(f"{name} has {in_bytes(size)}", copies, left)


def too_large(has: str, copies: float, left: Room) -> InputError:
    """Return the error for content that the memory cannot hold; ``has`` begins the sentence."""
    return InputError(
        f"{has}, which take about {copies:.0f} times as much memory, and {in_bytes(left.free)} are free, by "
        f"{left.limit}: take fewer rows or columns, or use a computer with more memory"
    )


class _Unpacked(io.RawIOBase):
    """The bytes of a compressed file, up to those that the memory can hold."""

    def __init__(self, path: Path, opened: Any, copies: float) -> None:
        self._path, self._opened, self._copies = path, opened, copies
        self._left, self._size = room(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, place: Any) -> int:
        count = int(self._opened.readinto(place))
        self._size += count
        if self._copies * self._size > self._left.free:
            raise too_large(
                f"{self._path} unpacks to more than {in_bytes(self._size)}", self._copies, self._left
            )
        return count

    def close(self) -> None:
        if not self.closed:
            self._opened.close()
        super().close()


def without_packing(name: str) -> str:
    """Return a file name in small letters, without the ending of a compressed file."""
    name = name.lower()
    return next((name.removesuffix(ending) for ending in PACKINGS if name.endswith(ending)), name)


def unreadable(path: Path, error: Exception) -> InputError:
    """Return the error for a file that cannot be read, in one sentence."""
    reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
    return InputError(f"{path} cannot be read ({reason}): check its permissions, or write it again")


def check_file(path: Path, kind: str) -> None:
    """Raise InputError if there is no file at this path; ``kind`` says what is expected.

    A pipe, a device or a socket is no file: it can keep a reader waiting for ever, or never end.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: check the path") from None
    except (OSError, ValueError) as error:  # a name that is too long, a loop of links, a zero byte
        raise unreadable(path, error) from error
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe, a device or a socket"
        raise InputError(f"{path} is {what} and not a file: give the path of {kind}")
