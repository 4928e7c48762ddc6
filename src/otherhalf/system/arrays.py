"""The array types that all packages use, and dataclasses with read-only arrays."""

import hashlib
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]

_T = TypeVar("_T")

UNKNOWN = -1
"""The class code of a node whose label is not known."""


def frozen(value: _T) -> _T:
    """Return a read-only view of an array, or the value itself; a CSR matrix becomes read-only."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.setflags(write=False)
        return view
    if isinstance(value, sp.csr_matrix):
        for part in (value.data, value.indices, value.indptr):
            part.setflags(write=False)
    return value


class Frozen:
    """Base of dataclasses whose arrays stay read-only after pickle and copy, which drop numpy's flag."""

    def __getstate__(self) -> dict[str, Any]:
        # Only the fields: cached properties can be computed again.
        return {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for key, value in state.items():
            object.__setattr__(self, key, frozen(value))


def csr_of_parts(
    data: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
    shape: tuple[int, int],
    dtype: npt.DTypeLike | None = None,
) -> sp.csr_matrix:
    """Return the CSR matrix of three arrays; raise ValueError or TypeError if they do not fit together."""
    return checked_csr(sp.csr_matrix((data, indices, indptr), shape=shape, dtype=dtype))


def checked_csr(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Return the matrix; raise ValueError if scipy would read or write beyond its arrays."""
    # scipy's own check leaves out the ends of rows where the last of them is 0.
    if len(matrix.indptr) and np.diff(matrix.indptr, prepend=0).min() < 0:
        raise ValueError("the ends of its rows go down")
    matrix.check_format(full_check=True)
    return matrix


def distinct_keys(keys: IntArray) -> IntArray:
    """Return the distinct integers ≥ 0 of ``keys``, sorted. This is ten times as fast as np.unique here."""
    ordered = np.sort(keys)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def sha256_of(parts: Iterable[npt.NDArray[Any]]) -> str:
    """Return a hash of arrays: their values, types and shapes."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def column_moments(x: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return mean and standard deviation of every column, and 1 as the deviation of a constant one."""
    deviation = x.std(axis=0, dtype=np.float64)
    deviation[deviation == 0] = 1.0
    return x.mean(axis=0, dtype=np.float64), deviation
