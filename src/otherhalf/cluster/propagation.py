"""Products of a sparse matrix with node features on a cluster: each partition of rows is a task."""

from __future__ import annotations

from collections.abc import Iterable
from secrets import token_hex
from typing import Any

import numpy as np
import scipy.sparse as sp

from otherhalf.cluster.shared import Parts, Shared
from otherhalf.cluster.tasks import Tasks
from otherhalf.nn.propagation import Source, needed_columns, propagate_rows
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.row_blocks import BLOCK_ROWS, RowBlocks


def propagate_on(tasks: Tasks, matrix: sp.csr_matrix, x: Source, out: RowBlocks) -> RowBlocks:
    """Write M X to ``out``, and return it: the same bits as :func:`otherhalf.nn.propagation.propagate`.

    A partition is a block of rows of ``out``. A worker holds one, the rows of X that its entries name, and a
    block of X. This process holds the matrix, whose arrays may be memory-mapped, and one block.

    Args:
        tasks: The cluster.
        matrix: ``[R, N]``.
        x: ``[N, D]``, in memory or in row blocks.
        out: ``[R, D]`` row blocks without content.
    """
    step, name = x.block_rows if isinstance(x, RowBlocks) else BLOCK_ROWS, token_hex(8)

    def block(start: int) -> Shared:
        return tasks.share((name, start), lambda: rows_of(x, start, min(start + step, x.shape[0])))

    def arguments(rows: tuple[int, int]) -> tuple[Any, ...]:
        local, columns = needed_columns(matrix[rows[0] : rows[1]])
        blocks = np.unique(columns // step).tolist()
        starts = [block * step for block in blocks]
        shared = tuple(block(start) for start in starts)
        return local, columns, starts, x.shape[1], Parts(shared)

    try:
        for (start, _), product in tasks.map(propagate_partition, out.parts(), arguments):
            out.write(start, product)
    finally:
        tasks.forget(lambda key: isinstance(key, tuple) and key[0] == name)
    return out


def propagate_partition(
    local: sp.csr_matrix, columns: IntArray, starts: list[int], width: int, blocks: Iterable[FloatArray]
) -> FloatArray:
    """Return the product of some rows of M.

    Args:
        local: These rows, over the columns that they use.
        columns: The numbers of these columns, ascending.
        starts: The first rows of the blocks of X.
        width: Number of columns of X.
        blocks: The blocks of X that the columns are in.
    """
    x = np.empty((len(columns), width), dtype=np.float32)
    for start, block in zip(starts, blocks, strict=True):
        low, high = np.searchsorted(columns, [start, start + len(block)])
        x[low:high] = block[columns[low:high] - start]
    return propagate_rows(local, x)


def rows_of(source: Source, start: int, stop: int) -> FloatArray:
    """Return the rows ``start`` … ``stop`` − 1 in single precision."""
    if isinstance(source, RowBlocks):
        return source.rows(start, stop)
    return np.ascontiguousarray(source[start:stop], dtype=np.float32)
