"""A CSR matrix times a dense one, row by row."""

import numpy as np
import numpy.typing as npt

from otherhalf.nn.ops.compiled import Int32s, compiled
from otherhalf.system.prefetch import prefetch_row

Floats = npt.NDArray[np.float32]

CACHED = 1 << 22
"""Numbers of a dense matrix, 16 MB, from which its rows are asked for before their turn …"""

AHEAD = 16
"""… so many entries before. At the size of the arxiv graph, 64 wide, a product takes half of the time so, and
0.7 of it with a million nodes; where the matrix stays in the cache, the questions take time and save none."""


@compiled("void(i4[::1], i4[::1], f4[::1], f4[:, ::1], f4[:, ::1], b1, i8, i8)")
def add_rows(
    crow: Int32s, col: Int32s, values: Floats, dense: Floats, out: Floats, reset: bool, first: int, last: int
) -> None:
    """Add the rows ``first`` … ``last`` − 1 of M H to ``out``; with ``reset``, set them to 0 before.

    M is CSR: ``crow``, ``col`` and ``values``. Four entries of a row are added at a time, so that the row of
    ``out`` is read and written a quarter as often; the remaining entries follow one by one. The order of the
    sum is the same in every thread, so the result does not depend on the threads.
    """
    width, flat, ahead, final = dense.shape[1], dense.reshape(-1), dense.size > CACHED, len(col) - 1
    for i in range(first, last):
        row = out[i]
        if reset:
            for v in range(width):
                row[v] = np.float32(0.0)
        entry, end = crow[i], crow[i + 1]
        while entry + 4 <= end:
            if ahead:
                for later in range(entry + AHEAD, entry + AHEAD + 4):
                    prefetch_row(flat, np.int64(col[min(later, final)]) * width, width)
            a, b, c, d = values[entry], values[entry + 1], values[entry + 2], values[entry + 3]
            of_a, of_b = dense[col[entry]], dense[col[entry + 1]]
            of_c, of_d = dense[col[entry + 2]], dense[col[entry + 3]]
            for v in range(width):
                row[v] += a * of_a[v] + b * of_b[v] + c * of_c[v] + d * of_d[v]
            entry += 4
        while entry < end:
            if ahead:
                prefetch_row(flat, np.int64(col[min(entry + AHEAD, final)]) * width, width)
            a, of_a = values[entry], dense[col[entry]]
            for v in range(width):
                row[v] += a * of_a[v]
            entry += 1
