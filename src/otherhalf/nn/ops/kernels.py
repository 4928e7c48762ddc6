"""A CSR matrix times a dense one, row by row."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from otherhalf.nn.ops.compiled import Int32s, compiled
from otherhalf.nn.ops.lanes import LANES, everywhere, load, plus, store, times, zeros
from otherhalf.system.prefetch import prefetch_row

Floats = npt.NDArray[np.float32]

BLOCK = 4 * LANES
"""Columns whose sums stay in registers together."""

CACHED = 1 << 22
"""Numbers of a dense matrix, 16 MB, from which its rows are asked for before their turn …"""

AHEAD = 16
"""… so many entries before. At the size of the arxiv graph, 64 wide, a product takes half of the time so, and
0.7 of it with a million nodes; where the matrix stays in the cache, the questions take time and save none."""


@register_jitable
def _four(a: Any, b: Any, c: Any, d: Any, h: Floats, p: Any, q: Any, s: Any, t: Any) -> Any:
    """Return the sum of four entries times the lanes at their places in H."""
    two = plus(times(a, load(h, p)), times(b, load(h, q)))
    return plus(plus(two, times(c, load(h, s))), times(d, load(h, t)))


@register_jitable
def _add_blocks(
    crow: Int32s, col: Int32s, values: Floats, dense: Floats, out: Floats, reset: bool, first: int, last: int
) -> None:
    """Do what :func:`add_rows` does, for H of a multiple of :data:`BLOCK` columns: sums stay in registers."""
    width, h, result = dense.shape[1], dense.reshape(-1), out.reshape(-1)
    ahead, final = dense.size > CACHED, len(col) - 1
    for i in range(first, last):
        for left in range(0, width, BLOCK):
            at = np.int64(i) * width + left
            if reset:
                r0 = r1 = r2 = r3 = zeros()
            else:
                r0, r1 = load(result, at), load(result, at + 16)
                r2, r3 = load(result, at + 32), load(result, at + 48)
            entry, end = crow[i], crow[i + 1]
            while entry + 4 <= end:
                if ahead:
                    for later in range(entry + AHEAD, entry + AHEAD + 4):
                        prefetch_row(h, np.int64(col[min(later, final)]) * width, width)
                a, b = everywhere(values[entry]), everywhere(values[entry + 1])
                c, d = everywhere(values[entry + 2]), everywhere(values[entry + 3])
                p, q = np.int64(col[entry]) * width + left, np.int64(col[entry + 1]) * width + left
                s, t = np.int64(col[entry + 2]) * width + left, np.int64(col[entry + 3]) * width + left
                r0 = plus(r0, _four(a, b, c, d, h, p, q, s, t))
                r1 = plus(r1, _four(a, b, c, d, h, p + 16, q + 16, s + 16, t + 16))
                r2 = plus(r2, _four(a, b, c, d, h, p + 32, q + 32, s + 32, t + 32))
                r3 = plus(r3, _four(a, b, c, d, h, p + 48, q + 48, s + 48, t + 48))
                entry += 4
            while entry < end:
                if ahead:
                    prefetch_row(h, np.int64(col[min(entry + AHEAD, final)]) * width, width)
                a, p = everywhere(values[entry]), np.int64(col[entry]) * width + left
                r0, r1 = plus(r0, times(a, load(h, p))), plus(r1, times(a, load(h, p + 16)))
                r2, r3 = plus(r2, times(a, load(h, p + 32))), plus(r3, times(a, load(h, p + 48)))
                entry += 1
            store(result, at, r0)
            store(result, at + 16, r1)
            store(result, at + 32, r2)
            store(result, at + 48, r3)


@register_jitable
def _add_any(
    crow: Int32s, col: Int32s, values: Floats, dense: Floats, out: Floats, reset: bool, first: int, last: int
) -> None:
    """Do what :func:`add_rows` does, for H of any width."""
    width, h, ahead, final = dense.shape[1], dense.reshape(-1), dense.size > CACHED, len(col) - 1
    for i in range(first, last):
        row = out[i]
        if reset:
            for v in range(width):
                row[v] = np.float32(0.0)
        entry, end = crow[i], crow[i + 1]
        while entry + 4 <= end:
            if ahead:
                for later in range(entry + AHEAD, entry + AHEAD + 4):
                    prefetch_row(h, np.int64(col[min(later, final)]) * width, width)
            a, b, c, d = values[entry], values[entry + 1], values[entry + 2], values[entry + 3]
            of_a, of_b = dense[col[entry]], dense[col[entry + 1]]
            of_c, of_d = dense[col[entry + 2]], dense[col[entry + 3]]
            for v in range(width):
                row[v] += a * of_a[v] + b * of_b[v] + c * of_c[v] + d * of_d[v]
            entry += 4
        while entry < end:
            if ahead:
                prefetch_row(h, np.int64(col[min(entry + AHEAD, final)]) * width, width)
            a, of_a = values[entry], dense[col[entry]]
            for v in range(width):
                row[v] += a * of_a[v]
            entry += 1


@compiled("void(i4[::1], i4[::1], f4[::1], f4[:, ::1], f4[:, ::1], b1, i8, i8)")
def add_rows(
    crow: Int32s, col: Int32s, values: Floats, dense: Floats, out: Floats, reset: bool, first: int, last: int
) -> None:
    """Add the rows ``first`` … ``last`` − 1 of M H to ``out``; with ``reset``, set them to 0 before.

    M is CSR: ``crow``, ``col`` and ``values``. Four entries of a row are added to each other and then to the
    row of ``out``; the remaining entries follow one by one. The order of the sum is the same for every width
    and in every thread, so the result depends on neither.
    """
    width = dense.shape[1]
    # Wide rows that are not in the cache arrive sooner if each is read from its beginning to its end.
    if width == BLOCK or (width and width % BLOCK == 0 and dense.size <= CACHED):
        _add_blocks(crow, col, values, dense, out, reset, first, last)
    else:
        _add_any(crow, col, values, dense, out, reset, first, last)
