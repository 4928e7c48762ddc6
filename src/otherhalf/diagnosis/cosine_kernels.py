"""Cosines of pairs of nodes, counted as they are computed: rows are read where they are, without a copy."""

import numpy as np
import numpy.typing as npt
from numba import f4, f8, i8, u4, void

from otherhalf.system.arrays import IntArray
from otherhalf.system.compiled import compiled, read_only
from otherhalf.system.prefetch import LINE, prefetch, prefetch_row

Floats = npt.NDArray[np.float32]
Unsigned = npt.NDArray[np.uint32]
Values = npt.NDArray[np.float64]

NODES = read_only(i8, layout="A")  # in any order: a part of the edges is not in that of their array

CACHED = 1 << 20
"""Feature values, 4 MB, from which rows are asked for before their turn …"""

FAR, AHEAD = 16, 8
"""… so many pairs before: first where a sparse row begins, then the row. A sparse pair takes a third of the
time so, at the size of the arxiv graph."""

ZERO, ONE, TWO = np.float32(0), np.uint32(1), np.uint32(2)


@compiled(void(NODES, NODES, read_only(f4, 2), f8[::1], i8, i8[::1]), reorder=True)
def count_dense(
    first: IntArray, second: IntArray, x: Floats, norm: Values, grid: int, counts: IntArray
) -> None:
    """Add the pairs of rows (first[p], second[p]) to ``counts``, by their cosines in steps of 1/grid."""
    width, flat, ahead, final = x.shape[1], x.reshape(-1), x.size > CACHED, len(first) - 1
    for p in range(len(first)):
        if ahead:
            later = min(p + AHEAD, final)
            prefetch_row(flat, first[later] * width, width)
            prefetch_row(flat, second[later] * width, width)
        i, j = first[p], second[p]
        left, right = x[i], x[j]
        dot = ZERO
        for v in range(width):
            dot += left[v] * right[v]
        norms = norm[i] * norm[j]
        cosine = np.float64(dot) / norms if norms > 0.0 else 0.0
        counts[np.int64(np.rint(min(1.0, max(-1.0, cosine)) * grid)) + grid] += 1


@compiled(
    void(NODES, NODES, read_only(u4), read_only(u4), read_only(f4), f8[::1], i8, i8, i8[::1]), reorder=True
)
def count_sparse(
    first: IntArray,
    second: IntArray,
    crow: Unsigned,
    col: Unsigned,
    values: Floats,
    norm: Values,
    columns: int,
    grid: int,
    counts: IntArray,
) -> None:
    """Do the same for rows of a CSR matrix of so many columns.

    The first row is spread over all columns, where the entries of the second find theirs: no search, and no
    branch that depends on the data. It stays for the pairs that follow with the same first row. Indices
    without a sign need no code for negative ones; two sums at a time do not wait for each other.
    """
    spread = np.zeros(columns, dtype=np.float32)
    now = np.int64(-1)
    ahead, final = len(values) > CACHED, len(first) - 1
    for p in range(len(first)):
        if ahead:
            later = min(p + FAR, final)
            prefetch(crow, first[later])
            prefetch(crow, second[later])
            later = min(p + AHEAD, final)
            for node in (first[later], second[later]):
                start = np.int64(crow[node])  # the rest of a longer row follows by itself
                prefetch_row(col, start, 2 * LINE)
                prefetch_row(values, start, 2 * LINE)
        i, j = first[p], second[p]
        if i != now:
            if now >= 0:
                for e in range(crow[now], crow[now + 1]):
                    spread[col[e]] = ZERO
            for e in range(crow[i], crow[i + 1]):
                spread[col[e]] = values[e]
            now = i
        one, other = ZERO, ZERO
        entry, end = np.uint32(crow[j]), np.uint32(crow[j + 1])
        while entry + ONE < end:
            one += spread[col[entry]] * values[entry]
            other += spread[col[entry + ONE]] * values[entry + ONE]
            entry += TWO
        if entry < end:
            one += spread[col[entry]] * values[entry]
        norms = norm[i] * norm[j]
        cosine = np.float64(one + other) / norms if norms > 0.0 else 0.0
        counts[np.int64(np.rint(min(1.0, max(-1.0, cosine)) * grid)) + grid] += 1
