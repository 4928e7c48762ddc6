"""A CSR matrix times another one, written to a dense array: no pattern of the product is built before."""

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.nn.ops.compiled import Int32s, compiled, over_rows
from otherhalf.system.arrays import FloatArray

INT32 = np.iinfo(np.int32)
Floats = npt.NDArray[np.float32]


def dense_rows(left: sp.csr_matrix, right: sp.csr_matrix, out: FloatArray) -> None:
    """Write the product to ``out``, in single precision.

    The terms of a number are added in the order of the left row, each product rounded before: the result has
    the bits of scipy's.

    Args:
        left: ``[n, m]``.
        right: ``[m, w]``.
        out: ``[n, w]``, with rows one after the other in memory.
    """
    if left.shape[1] != right.shape[0] or out.shape != (left.shape[0], right.shape[1]):
        raise ValueError(f"{left.shape} times {right.shape} has another shape than {out.shape}")
    if max(left.nnz, right.nnz) > INT32.max:
        (left @ right).toarray(out=out)
        return
    (crow, col, values), (starts, columns, entries) = (_arrays(each) for each in (left, right))
    width = 1 + len(entries) // max(1, right.shape[0])
    over_rows(_multiply_rows, crow, width, col, values, starts, columns, entries, out)


def _arrays(csr: sp.csr_matrix) -> tuple[Int32s, Int32s, Floats]:
    starts, columns = (part.astype(np.int32, copy=False) for part in (csr.indptr, csr.indices))
    return starts, columns, csr.data.astype(np.float32, copy=False)


@compiled("void(i4[::1], i4[::1], f4[::1], i4[::1], i4[::1], f4[::1], f4[:, ::1], i8, i8)", fused=False)
def _multiply_rows(
    crow: Int32s,
    col: Int32s,
    values: Floats,
    starts: Int32s,
    columns: Int32s,
    entries: Floats,
    out: Floats,
    first: int,
    last: int,
) -> None:
    """Write the rows ``first`` … ``last`` − 1 of the product of two CSR matrices."""
    for i in range(first, last):
        row = out[i]
        row[:] = np.float32(0.0)
        for e in range(crow[i], crow[i + 1]):
            value = values[e]
            for other in range(starts[col[e]], starts[col[e] + 1]):
                row[columns[other]] += value * entries[other]
