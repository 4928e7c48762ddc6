"""The arrays of an npz file: numbers and text only, and nothing that the file or the memory cannot hold."""

import lzma
import math
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from otherhalf.data.files.compressed import check_file
from otherhalf.errors import InputError
from otherhalf.system.memory import available_bytes

Arrays = Mapping[str, npt.NDArray[Any]]

ENDING = ".npy"
_PLAIN = "biufcSUMm"  # the kinds of dtypes without Python objects and without fields
_HEADERS = {  # by version: how many bytes have the length of the header, and what reads it
    (1, 0): (2, np.lib.format.read_array_header_1_0),
    (2, 0): (4, np.lib.format.read_array_header_2_0),
}
_LONGEST_HEADER = 10_000
_SURROGATES = (0xD800, 0xE000)
_COPIES = 2  # an array as it is in the file, and as a graph keeps it
_BLOCK = 2**20

# What zipfile and its unpackers raise. NotImplementedError: an unknown packing; RuntimeError: a password.
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, KeyError, struct.error, UnicodeError)
_LOCKED = (NotImplementedError, RuntimeError)
# What the header of an array raises, which numpy reads as a Python literal.
_WRONG_HEADER = (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError)


def read_arrays(
    path: Path, names: Sequence[str] | None = None, *, optional: Sequence[str] = ()
) -> dict[str, npt.NDArray[Any]]:
    """Read the named arrays of an npz file (default: all), and those of ``optional`` that it has.

    Every array says its size before its numbers come. That size is compared with the file, and all sizes with
    the free memory, before anything is allocated. Raise InputError if something does not fit, or the file is
    damaged. Pickles are never loaded.
    """
    check_file(path, "an .npz file")
    with _one_sentence(path), path.open("rb") as opened, zipfile.ZipFile(opened) as archive:
        members = _members(path, archive)
        wanted = list(members) if names is None else [*names, *optional]
        missing = [name for name in names or () if name not in members]
        if missing:
            raise InputError(f"{path} lacks the array(s) {', '.join(missing)}: download or write it again")
        needed = [members[name] for name in wanted if name in members]
        size = sum(member.file_size for member in needed)
        _check_memory(path, size)
        return {_name(member): _read(path, archive, member, size) for member in needed}


def _name(member: zipfile.ZipInfo) -> str:
    return member.filename.removesuffix(ENDING)


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        if not member.filename.endswith(ENDING):
            continue
        if _name(member) in members:
            raise InputError(f"{path} has the array {_name(member)} twice: write it again")
        members[_name(member)] = member
    return members


def _check_memory(path: Path, size: int) -> None:
    free = available_bytes()
    if _COPIES * size > free:
        raise InputError(
            f"the arrays of {path} have {size / 1e9:,.1f} GB, and of the memory {free / 1e9:,.1f} GB are "
            "free: use a computer with more memory, or save sparse features as x_data, x_indices, x_indptr "
            "and x_shape"
        )


def _read(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, size: int) -> npt.NDArray[Any]:
    """Return one array; ``size`` is the number of bytes of all arrays."""
    name = _name(member)
    with archive.open(member) as opened:
        shape, fortran, dtype = _header(path, name, opened)
        count, rest = math.prod(shape), member.file_size - opened.tell()
        if count * dtype.itemsize != rest:
            raise InputError(
                f"{path}: the array {name} says that it has {count * dtype.itemsize:,} bytes, and the file "
                f"has {rest:,} for it: download or write it again"
            )
        # Nothing times a trillion is nothing: an array without bytes can claim any number of rows.
        if rest == 0 and max(shape, default=0) > size:
            raise InputError(
                f"{path}: the array {name} has the shape {shape} and no bytes: download or write it again"
            )
        array: npt.NDArray[Any] = np.empty(count, dtype)
        place = array.view(np.uint8) if rest else np.empty(0, np.uint8)
        filled = 0
        while filled < rest:
            block = opened.read(min(_BLOCK, rest - filled))
            if not block:
                raise EOFError
            place[filled : filled + len(block)] = np.frombuffer(block, np.uint8)
            filled += len(block)
        opened.read(1)  # at the end, zipfile compares the checksum
    array = _values(path, name, array)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def _header(path: Path, name: str, opened: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type of an array; raise InputError if these are not plain ones."""
    try:
        width, read_header = _HEADERS[np.lib.format.read_magic(opened)]
        start = opened.tell()
        if int.from_bytes(opened.read(width), "little") > _LONGEST_HEADER:
            raise ValueError("the header is too long")
        opened.seek(start)
        shape, fortran, dtype = read_header(opened)
    except (KeyError, *_WRONG_HEADER) as error:
        raise InputError(f"{path}: {name} is not an array of numpy: download or write it again") from error
    if dtype.kind not in _PLAIN:
        raise InputError(
            f"{path}: the array {name} holds Python objects or records, which are never loaded: save numbers "
            "or text"
        )
    if any(size < 0 for size in shape):
        raise InputError(f"{path}: the array {name} has the shape {shape}: download or write it again")
    return shape, fortran, dtype


def _values(path: Path, name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array whose truth values are 0 and 1 and whose text is Unicode, as all code expects it."""
    if array.dtype.kind == "b":
        return np.asarray(array.view(np.uint8) != 0)
    if array.dtype.kind not in "SU" or array.dtype.itemsize == 0:
        return array
    try:
        text: npt.NDArray[Any] = np.strings.decode(array, "utf-8") if array.dtype.kind == "S" else array
        signs = text.view(np.dtype(np.uint32).newbyteorder(text.dtype.byteorder))
        if (signs > sys.maxunicode).any() or ((signs >= _SURROGATES[0]) & (signs < _SURROGATES[1])).any():
            raise ValueError("no such characters")
    except ValueError as error:  # a UnicodeDecodeError is one
        raise InputError(f"{path}: the text in the array {name} is not Unicode: write it again") from error
    return text


@contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    """Turn the errors of a damaged or locked file into one sentence."""
    try:
        yield
    except _DAMAGED as error:
        raise InputError(
            f"{path} is not a complete .npz file (damaged or cut short): download or write it again"
        ) from error
    except _LOCKED as error:
        raise InputError(
            f"{path} has a password or a compression that is not supported: save it with numpy.savez"
        ) from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror or error}): check its permissions"
        ) from error
