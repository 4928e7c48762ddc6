"""Open a file for its bytes, whether it is compressed or not."""

import bz2
import gzip
import lzma
import stat
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, cast

from otherhalf.errors import InputError


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


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file to read its bytes, unpacked if its name ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``."""
    opener = _OPENERS.get(path.suffix.lower())
    return path.open("rb") if opener is None else cast(IO[bytes], opener(path))


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
