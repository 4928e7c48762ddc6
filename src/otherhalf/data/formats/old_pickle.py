"""Pickles of Python 2, as Planetoid's authors published them, read in a way that cannot run code.

This is the only place that reads a pickle. No name in a file is imported: the six names that the originals
have stand for the harmless classes below, which only keep what the file says. numpy and scipy get bytes and
sizes that were checked.
"""

import io
import math
import pickle
import pickletools
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.data.files.compressed import check_file
from otherhalf.errors import InputError
from otherhalf.system.arrays import csr_of_parts

_PLAIN = re.compile("b1|[iu][1248]|f[248]")  # truth values, whole numbers and floats; no objects, no fields
_DAMAGED = (
    *(pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError),
    *(OverflowError, RecursionError),
)


def read_pickle(path: Path) -> Any:
    """Read the array, sparse matrix or dict of lists in one of Planetoid's files, and nothing else."""
    check_file(path, "one of Planetoid's files")
    content = path.read_bytes()
    try:
        _check_memo(content)
        return _converted(_Unpickler(io.BytesIO(content), encoding="latin1").load())
    except _DAMAGED as error:
        reason = " ".join(str(error).split()) or "cut short"
        raise InputError(
            f"{path.name} is not one of Planetoid's files ({reason}) and was not loaded: download the "
            "original"
        ) from error


class _Dtype:
    """A type of numbers, by its name."""

    def __init__(self, name: str, *options: Any) -> None:
        self.name, self.state = name, ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def convert(self) -> np.dtype[Any]:
        plain = isinstance(self.name, str) and _PLAIN.fullmatch(self.name) is not None
        if not plain or len(self.state) < 5 or any(part is not None for part in self.state[2:5]):
            raise ValueError("it has an array that is not of plain numbers")
        return np.dtype(self.name).newbyteorder(self.state[1])


class _Array:
    """An array: its shape, its type, the order of its numbers, and their bytes."""

    state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def convert(self) -> npt.NDArray[Any]:
        _, shape, kind, fortran, raw = self.state
        if not isinstance(kind, _Dtype) or not all(isinstance(size, int) and size >= 0 for size in shape):
            raise ValueError("it has an array without a type or a size")
        dtype = kind.convert()
        content = raw.encode("latin1") if isinstance(raw, str) else bytes(raw)
        if len(content) != math.prod(shape) * dtype.itemsize:
            raise ValueError("it has an array whose numbers do not fit its size")
        return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C").copy()


class _Matrix:
    """A sparse matrix: pickle sets its attributes."""

    def convert(self) -> sp.csr_matrix:
        parts = [vars(self)[name] for name in ("data", "indices", "indptr")]
        if not all(isinstance(part, _Array) for part in parts):
            raise ValueError("it has a matrix without arrays")
        data, indices, indptr = (part.convert() for part in parts)
        rows, columns = vars(self)["_shape"]
        return csr_of_parts(data, indices, indptr, (rows, columns))


def _reconstruct(*arguments: Any) -> _Array:
    return _Array()


_STAND_INS: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): _Matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}
"""Everything that the original files refer to, under the names of their time, and what stands for it."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _STAND_INS[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it refers to {module}.{name}") from None


def _converted(value: Any) -> Any:
    return value.convert() if isinstance(value, _Array | _Matrix) else value


def _check_memo(content: bytes) -> None:
    """Raise ValueError if the file numbers its objects beyond its own length: memory is taken for each."""
    for operation, number, _ in pickletools.genops(content):
        if operation.name in ("PUT", "BINPUT", "LONG_BINPUT") and (number or 0) > len(content):
            raise ValueError("it numbers more objects than it has")
