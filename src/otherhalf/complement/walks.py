r"""Where short random walks from every node end: rows of powers of the normalised adjacency matrix.

Full rows of :math:`\hat{\mathbf{S}}^4` would fill the memory on a graph with hubs. After each step only the
largest entries of a row are kept, so the memory grows with N times their number.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.nn.ops.compiled import Int32s, compiled, over_rows
from otherhalf.nn.ops.sparse import with_loops
from otherhalf.system.arrays import IntArray

Floats = npt.NDArray[np.float32]

KEPT = 64
"""Entries of a row that are kept after each step."""

STEPS = 10
"""Steps of personalised PageRank; its later steps together have the weight 0.85¹¹ = 0.17."""

RESTART = 0.15
"""Probability of personalised PageRank to return to the start at each step."""


@dataclass(frozen=True)
class Walks:
    r"""Rows of :math:`\hat{\mathbf{S}}^2`, :math:`\hat{\mathbf{S}}^4` and of personalised PageRank.

    :math:`\hat{\mathbf{S}} = \tilde{\mathbf{D}}^{-1/2}(\mathbf{A} + \mathbf{I})\tilde{\mathbf{D}}^{-1/2}`,
    and PageRank is :math:`r\sum_{t=0}^{10} (1 - r)^t\hat{\mathbf{S}}^t` with r = 0.15.
    """

    two_steps: sp.csr_matrix
    four_steps: sp.csr_matrix
    pagerank: sp.csr_matrix


def walk_rows(adjacency: sp.csr_matrix, *, kept: int = KEPT, only: IntArray | None = None) -> Walks:
    """Walk from every node over a symmetric matrix and keep the ``kept`` largest entries after each step.

    Args:
        adjacency: The matrix.
        kept: Most entries of a row.
        only: The only nodes to walk from; the rows of all others are empty. Default: all.
    """
    n = adjacency.shape[0]
    looped = with_loops(adjacency)
    scale = sp.diags(1 / np.sqrt(np.asarray(looped.sum(axis=1)).ravel()))
    s = sp.csr_matrix(scale @ looped @ scale, dtype=np.float32)
    kept = min(kept, n)
    columns = np.zeros((3, n, kept), dtype=np.int32)
    values = np.zeros((3, n, kept), dtype=np.float32)
    crow, col = s.indptr.astype(np.int32), s.indices.astype(np.int32)
    if only is None:
        over_rows(_walk, crow, kept * STEPS, col, s.data, columns, values)
    else:
        starts = np.unique(only)
        for run in np.split(starts, np.flatnonzero(np.diff(starts) > 1) + 1):
            if len(run):
                _walk(crow, col, s.data, columns, values, int(run[0]), int(run[-1]) + 1)
    return Walks(*(_matrix(c, v) for c, v in zip(columns, values, strict=True)))


def _matrix(columns: Int32s, values: Floats) -> sp.csr_matrix:
    n = len(columns)
    used = values > 0
    bounds = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    matrix = sp.csr_matrix((values[used], columns[used], bounds), shape=(n, n))
    matrix.sort_indices()
    return matrix


@compiled("i8(f4[::1], i4[::1], i8, i4[::1], f4[::1])")
def _keep_largest(here: Floats, reached: Int32s, size: int, now: Int32s, weight: Floats) -> int:
    """Move the largest entries of ``here`` to ``now`` and ``weight``; set ``here`` to 0; return their number.

    Among entries equal to the smallest that is kept, those reached first are kept.
    """
    kept = len(now)
    bound, ties = np.float32(0.0), size
    if size > kept:
        found = np.empty(size, np.float32)
        for position in range(size):
            found[position] = here[reached[position]]
        bound = np.partition(found, size - kept)[size - kept]
        above = 0
        for position in range(size):
            above += found[position] > bound
        ties = kept - above
    count = 0
    for position in range(size):
        node = reached[position]
        value = here[node]
        here[node] = np.float32(0.0)
        if value > bound or (value == bound and ties > 0):
            if value == bound:
                ties -= 1
            now[count], weight[count] = node, value
            count += 1
    return count


@compiled("void(i4[::1], i4[::1], f4[::1], i4[:, :, ::1], f4[:, :, ::1], i8, i8)")
def _walk(
    crow: Int32s, col: Int32s, entries: Floats, columns: Int32s, values: Floats, first: int, last: int
) -> None:
    """Fill the rows ``first`` … ``last`` − 1 of the three matrices."""
    n, kept = columns.shape[1], columns.shape[2]
    here, total = np.zeros(n, np.float32), np.zeros(n, np.float32)
    reached, visited = np.empty(n, np.int32), np.empty(n, np.int32)
    now, weight = np.empty(kept, np.int32), np.empty(kept, np.float32)
    for start in range(first, last):
        now[0], weight[0], count = start, np.float32(1.0), 1
        visited[0], seen = start, 1
        total[start] = np.float32(RESTART)
        share = np.float32(RESTART)
        for step in range(1, STEPS + 1):
            share *= np.float32(1.0 - RESTART)
            size = 0
            for position in range(count):
                node, w = now[position], weight[position]
                for entry in range(crow[node], crow[node + 1]):
                    other, part = col[entry], w * entries[entry]
                    # Too small for single precision, it reaches nothing: a node must be listed once only.
                    if here[other] == np.float32(0.0) and part > np.float32(0.0):
                        reached[size] = other
                        size += 1
                    here[other] += part
            count = _keep_largest(here, reached, size, now, weight)
            for position in range(count):
                node, part = now[position], share * weight[position]
                if total[node] == np.float32(0.0) and part > np.float32(0.0):
                    visited[seen] = node
                    seen += 1
                total[node] += part
            if step == 2 or step == 4:
                which = 0 if step == 2 else 1
                for position in range(count):
                    columns[which, start, position] = now[position]
                    values[which, start, position] = weight[position]
        count = _keep_largest(total, visited, seen, now, weight)
        for position in range(count):
            columns[2, start, position] = now[position]
            values[2, start, position] = weight[position]
