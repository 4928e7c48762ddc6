r"""Products of a sparse matrix with node features, row partition by row partition, in bounded memory.

Training over precomputed propagation reads :math:`\hat{\mathbf{A}}_o\mathbf{X}`,
:math:`\hat{\mathbf{A}}_t\mathbf{X}`, :math:`\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o\mathbf{X}`, … and label
messages as matrices with one row per node (SIGN, https://arxiv.org/abs/2004.11198). Each row of a product
depends on the entries of that row alone, summed in their order. So any division into row partitions, column
chunks or threads gives the same bits, on one machine or on several.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.nn.ops.compiled import over_rows
from otherhalf.nn.ops.kernels import add_rows
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.row_blocks import RowBlocks

CHUNK = 64
"""Columns of the dense matrix that are in memory at a time, for all of its rows."""

MARKED = 16
"""Columns that are marked and counted in the time in which one entry is sorted (0.1 µs)."""

Source = RowBlocks | FloatArray


def propagate_rows(matrix_rows: sp.csr_matrix, x: Source, *, chunk: int = CHUNK) -> FloatArray:
    """Return M X for some rows of M: ``[R, D]`` in single precision.

    It is the function of one row partition: give ``M[start:stop]``, or any other selection of rows. The
    result is bit-equal to the same rows of the product of the whole matrix.

    Args:
        matrix_rows: ``[R, N]`` rows of M.
        x: ``[N, D]``, in memory or in row blocks.
        chunk: Columns of ``x`` that are read at a time: N · chunk · 4 bytes.
    """
    rows, columns = matrix_rows.shape
    if columns != x.shape[0]:
        raise ValueError(f"{columns} columns cannot be multiplied by {x.shape[0]} rows")
    out = np.empty((rows, x.shape[1]), dtype=np.float32)
    arrays = _arrays(matrix_rows)
    for first in range(0, x.shape[1], chunk):
        last = min(first + chunk, x.shape[1])
        part = np.empty((rows, last - first), dtype=np.float32)
        _multiply(arrays, _columns_of(x, first, last), part)
        out[:, first:last] = part
    return out


def propagate(matrix: sp.csr_matrix, x: Source, out: RowBlocks, *, chunk: int = CHUNK) -> RowBlocks:
    """Write M X to ``out``, and return it.

    Besides the matrix and a block of rows, ``chunk`` columns of ``x`` and of the product are in memory at a
    time. Where ``out`` has a folder and more columns than that, it holds the chunks until all are computed.
    """
    if x.shape[1] <= chunk:
        return out.write_all(propagate_rows(matrix, x, chunk=chunk))
    arrays, parts = _arrays(matrix), []
    for first in range(0, x.shape[1], chunk):
        columns = _columns_of(x, first, min(first + chunk, x.shape[1]))
        product = np.empty((matrix.shape[0], columns.shape[1]), dtype=np.float32)
        _multiply(arrays, columns, product)
        folder = None if out.folder is None else out.folder / f"columns-{first}"
        blocks = RowBlocks(len(product), product.shape[1], folder, dtype=out.dtype, block_rows=out.block_rows)
        parts.append(blocks.write_all(product))
    for start, _ in out.parts():
        out.write(start, np.concatenate([part.block(start) for part in parts], axis=1))
    for part in parts:
        part.remove()
    return out


def needed_columns(matrix_rows: sp.csr_matrix) -> tuple[sp.csr_matrix, IntArray]:
    """Return the rows over the columns that they use, and the numbers of these columns in ascending order.

    ``propagate_rows(local, x[columns])`` has the same bits as ``propagate_rows(matrix_rows, x)``: a few rows
    of a product need a few rows of its right side.
    """
    indices, width = matrix_rows.indices, matrix_rows.shape[1]
    if len(indices) * MARKED > width:
        used = np.zeros(width, dtype=bool)
        used[indices] = True
        columns = np.flatnonzero(used)
        place = np.cumsum(used, dtype=np.int32)
        places = place[indices] - 1
    else:  # a few rows are sorted sooner than all columns are marked
        columns, places = np.unique(indices, return_inverse=True)
    shape = (matrix_rows.shape[0], len(columns))
    local = sp.csr_matrix((matrix_rows.data, places.ravel(), matrix_rows.indptr), shape=shape)
    return local, columns.astype(np.int64)


def blocks_of(values: Source, folder: Path | None, name: str, dtype: npt.DTypeLike = np.float32) -> RowBlocks:
    """Return a matrix as row blocks, in a folder of its name inside ``folder`` or in memory."""
    if isinstance(values, RowBlocks):
        return values
    place = None if folder is None else folder / name
    return RowBlocks(len(values), values.shape[1], place, dtype=dtype).write_all(values)


def _columns_of(x: Source, first: int, last: int) -> FloatArray:
    if isinstance(x, RowBlocks):
        return x.columns(first, last)
    return np.ascontiguousarray(x[:, first:last], dtype=np.float32)


def _arrays(matrix: sp.csr_matrix) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], FloatArray]:
    """Return the arrays of the compiled product; it needs fewer than 2³¹ entries in a row partition."""
    if matrix.nnz >= 1 << 31:
        raise ValueError("a row partition has 2³¹ entries or more: divide it")
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    return (
        np.ascontiguousarray(matrix.indptr, np.int32),
        np.ascontiguousarray(matrix.indices, np.int32),
        np.ascontiguousarray(matrix.data, np.float32),
    )


def _multiply(
    arrays: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], FloatArray], x: FloatArray, out: FloatArray
) -> None:
    crow, col, values = arrays
    over_rows(add_rows, crow, x.shape[1], col, values, np.ascontiguousarray(x), out, True)
