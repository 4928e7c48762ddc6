"""Attention with eight heads over the entries of a CSR matrix, row by row.

``h[i, v]`` is column v of all eight heads of node i. Operations on eight numbers are written out, so that the
compiler makes one vector instruction of each.
"""

from typing import Any

import numba
import numpy as np

from otherhalf.nn.ops.compiled import HEADS, NEGATIVE_SLOPE, compiled

SLOPE = np.float32(NEGATIVE_SLOPE)

ZEROS = (np.float32(0.0),) * HEADS
ONES = (np.float32(1.0),) * HEADS
LOWEST = (np.float32(-np.inf),) * HEADS

# Argument types of the compiled functions.
ROWS = "i4[::1], i4[::1]"  # start of each row, columns of the entries
EIGHTS = "f4[:, ::1]"
NODES = "f4[:, :, ::1]"

Eight = tuple[Any, ...]
inlined = numba.njit(inline="always")


# ---------------------------------------------------------------------- eight numbers at once


@inlined
def _load(x: Any) -> Eight:
    return x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]


@inlined
def _store(x: Any, a: Eight) -> None:
    x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] = a


@inlined
def _times_plus(a: Eight, b: Eight, c: Eight) -> Eight:
    """Return a b + c."""
    return (
        a[0] * b[0] + c[0],
        a[1] * b[1] + c[1],
        a[2] * b[2] + c[2],
        a[3] * b[3] + c[3],
        a[4] * b[4] + c[4],
        a[5] * b[5] + c[5],
        a[6] * b[6] + c[6],
        a[7] * b[7] + c[7],
    )


@inlined
def _minus(a: Eight, b: Eight) -> Eight:
    return (
        a[0] - b[0],
        a[1] - b[1],
        a[2] - b[2],
        a[3] - b[3],
        a[4] - b[4],
        a[5] - b[5],
        a[6] - b[6],
        a[7] - b[7],
    )


@inlined
def _over(a: Eight, b: Eight) -> Eight:
    return (
        a[0] / b[0],
        a[1] / b[1],
        a[2] / b[2],
        a[3] / b[3],
        a[4] / b[4],
        a[5] / b[5],
        a[6] / b[6],
        a[7] / b[7],
    )


@inlined
def _larger(a: Eight, b: Eight) -> Eight:
    return (
        max(a[0], b[0]),
        max(a[1], b[1]),
        max(a[2], b[2]),
        max(a[3], b[3]),
        max(a[4], b[4]),
        max(a[5], b[5]),
        max(a[6], b[6]),
        max(a[7], b[7]),
    )


@inlined
def _slope(z: Any) -> Any:
    return np.float32(1.0) if z > 0 else SLOPE


@inlined
def _slopes(z: Eight) -> Eight:
    """Return the derivatives of LeakyReLU, which are also its factors."""
    return (
        _slope(z[0]),
        _slope(z[1]),
        _slope(z[2]),
        _slope(z[3]),
        _slope(z[4]),
        _slope(z[5]),
        _slope(z[6]),
        _slope(z[7]),
    )


# ---------------------------------------------------------------------- row by row


@compiled(f"void({ROWS}, {EIGHTS}, {EIGHTS}, {EIGHTS}, i8, i8)")
def shifted_scores(crow: Any, col: Any, s: Any, t: Any, out: Any, first: int, last: int) -> None:
    """Compute LeakyReLU(s_j + t_i) − m_i with m_i the largest of row i, so that no exponential overflows."""
    for i in range(first, last):
        target, highest = _load(t[i]), LOWEST
        for e in range(crow[i], crow[i + 1]):
            z = _times_plus(_load(s[col[e]]), ONES, target)
            z = _times_plus(z, _slopes(z), ZEROS)
            highest = _larger(highest, z)
            _store(out[e], z)
        for e in range(crow[i], crow[i + 1]):
            _store(out[e], _minus(_load(out[e]), highest))


@compiled(f"void({ROWS}, {EIGHTS}, {NODES}, {NODES}, i8, i8)")
def weighted_means(crow: Any, col: Any, shares: Any, h: Any, out: Any, first: int, last: int) -> None:
    """Divide the shares of each row by their sum, in place, and compute the means weighted by them."""
    width = h.shape[1]
    for i in range(first, last):
        mean, total = out[i], ZEROS
        for v in range(width):
            _store(mean[v], ZEROS)
        for e in range(crow[i], crow[i + 1]):
            total = _times_plus(_load(shares[e]), ONES, total)
        part = _over(ONES, total)
        for e in range(crow[i], crow[i + 1]):
            share, other = _times_plus(_load(shares[e]), part, ZEROS), h[col[e]]
            _store(shares[e], share)
            for v in range(width):
                _store(mean[v], _times_plus(share, _load(other[v]), _load(mean[v])))


@compiled(
    f"void({ROWS}, {EIGHTS}, {EIGHTS}, {EIGHTS}, {NODES}, {NODES}, {NODES}, {EIGHTS}, {EIGHTS}, i8, i8)"
)
def gradient_of_scores(
    crow: Any,
    col: Any,
    s: Any,
    t: Any,
    shares: Any,
    h: Any,
    out: Any,
    g: Any,
    of_scores: Any,
    of_t: Any,
    first: int,
    last: int,
) -> None:
    """Compute the gradient of s_j + t_i for every entry, and its sum over each row, the gradient of t_i."""
    width = h.shape[1]
    for i in range(first, last):
        grad, mean, target = g[i], out[i], _load(t[i])
        along_mean, total = ZEROS, ZEROS
        for v in range(width):
            along_mean = _times_plus(_load(grad[v]), _load(mean[v]), along_mean)
        for e in range(crow[i], crow[i + 1]):
            other, along = h[col[e]], ZEROS
            for v in range(width):
                along = _times_plus(_load(grad[v]), _load(other[v]), along)
            slopes = _slopes(_times_plus(_load(s[col[e]]), ONES, target))
            of_score = _times_plus(_minus(along, along_mean), _load(shares[e]), ZEROS)
            of_score = _times_plus(of_score, slopes, ZEROS)
            total = _times_plus(of_score, ONES, total)
            _store(of_scores[e], of_score)
        _store(of_t[i], total)


@compiled(f"void({ROWS}, i8[::1], {EIGHTS}, {EIGHTS}, {NODES}, {NODES}, {EIGHTS}, i8, i8)")
def gradient_of_sources(
    crow: Any,
    col: Any,
    reverse: Any,
    shares: Any,
    of_scores: Any,
    g: Any,
    of_h: Any,
    of_s: Any,
    first: int,
    last: int,
) -> None:
    """Compute the gradients of h_j and s_j: sums over all i that attend to j, row j of the transpose."""
    width = g.shape[1]
    for j in range(first, last):
        state, total = of_h[j], ZEROS
        for v in range(width):
            _store(state[v], ZEROS)
        for e in range(crow[j], crow[j + 1]):
            mirror, grad = reverse[e], g[col[e]]
            share = _load(shares[mirror])
            total = _times_plus(_load(of_scores[mirror]), ONES, total)
            for v in range(width):
                _store(state[v], _times_plus(share, _load(grad[v]), _load(state[v])))
        _store(of_s[j], total)
