r"""The kernels of a large graph in one pass over each tile of cosines, compiled.

Step by step, a tile is read and written eight times for

.. math:: w \exp(s\,(\cos - 1) - f\,(m_i - m_j)^2 - n\,(d_i - d_j)^2),

and after each step the threads wait for each other. In one pass they do not, and a number takes less than
half of the time. The exponential is a polynomial, within 3e-7 of its value, so the last digits differ from
those of the steps: smaller graphs keep the steps, and with them their results.
"""

import numpy as np
import numpy.typing as npt
from numba import boolean, f4, i4, i8, void

from otherhalf.nn.ops.compiled import compiled, over_rows

Floats = npt.NDArray[np.float32]
Factors = tuple[float, float, float, float]
"""w, s, f and n."""

OPERATIONS = 32
"""Operations for each number, as many threads are worth it for."""

ONE, HALF, LOG2_E = np.float32(1), np.float32(0.5), np.float32(1.4426950408889634)
LEAST = np.float32(-126)
"""Powers of two below are 0."""

P1, P2, P3, P4, P5, P6 = (
    np.float32(np.log(2) ** power / factorial)
    for power, factorial in zip(range(1, 7), (1, 2, 6, 24, 120, 720), strict=True)
)
"""Coefficients of the series of 2^r, which r between -1/2 and 1/2 need."""

BIAS, MANTISSA = np.int32(127), np.int32(23)
"""A number in single precision with only these bits is a power of two."""

COLUMN, TILE = f4[::1], f4[:, ::1]


@compiled(void(i4[::1], TILE, TILE, i8, COLUMN, COLUMN, COLUMN, COLUMN, f4, f4, f4, f4, boolean, i8, i8))
def add_tile(
    crow: npt.NDArray[np.int32],
    cosines: Floats,
    total: Floats,
    left: int,
    m: Floats,
    other_m: Floats,
    d: Floats,
    other_d: Floats,
    weight: np.float32,
    sharpness: np.float32,
    features: np.float32,
    neighbours: np.float32,
    first: bool,
    top: int,
    end: int,
) -> None:
    """Add a kernel to rows ``top`` … ``end`` − 1 of a tile, or write it there if it is the first."""
    for i in range(top, end):
        row, own_m, own_d = cosines[i], m[i], d[i]
        out = total[i, left : left + cosines.shape[1]]
        for j in range(cosines.shape[1]):
            by_m, by_d = own_m - other_m[j], own_d - other_d[j]
            x = sharpness * (row[j] - ONE) - features * by_m * by_m - neighbours * by_d * by_d
            x *= LOG2_E
            whole = np.floor(max(x, LEAST) + HALF)
            r = max(x, LEAST) - whole
            power = np.int32((np.int32(whole) + BIAS) << MANTISSA).view(np.float32)
            series = ONE + r * (P1 + r * (P2 + r * (P3 + r * (P4 + r * (P5 + r * P6)))))
            value = weight * series * power if x >= LEAST else np.float32(0)
            out[j] = value if first else out[j] + value


def add_kernel(
    cosines: Floats,
    total: Floats,
    left: int,
    own: tuple[Floats, Floats],
    others: tuple[Floats, Floats],
    factors: Factors,
    *,
    first: bool,
) -> None:
    """Add a kernel to a tile of a mixture.

    Args:
        cosines: ``[R, B]``.
        total: ``[R, M]`` sum of the kernels.
        left: Column of ``total`` that the tile begins at.
        own: ``[R]`` m and d of the rows.
        others: ``[B]`` m and d of the columns.
        factors: w, s, f and n.
        first: Whether it is the first kernel: what the tile had before is overwritten.
    """
    rows, columns = cosines.shape
    crow = np.arange(rows + 1, dtype=np.int32) * np.int32(columns)
    magnitudes = [
        np.require(each, np.float32, ("C", "W")) for pair in zip(own, others, strict=True) for each in pair
    ]
    over_rows(add_tile, crow, OPERATIONS, cosines, total, left, *magnitudes, *map(np.float32, factors), first)
