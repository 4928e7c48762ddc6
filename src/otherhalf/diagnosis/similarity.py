"""Cosine similarity over pairs of nodes, counted on a fine grid, and the K-S statistic of two such counts."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.system.arrays import IntArray

Values = npt.NDArray[np.float64]
Features = Any
"""``[N, D]`` float32, a numpy array or a scipy CSR matrix, which has no types."""

GRID = 100_000
"""Cosines are rounded to multiples of 1/GRID.

Float arithmetic gives equal cosines that differ by about 1e-7: without rounding, the K-S statistic would
count that as a difference between the distributions.
"""

PAIRS_AT_ONCE = 1 << 18
"""Pairs whose cosines are in memory at once."""

VALUES_AT_ONCE = 1 << 18
"""Feature values gathered at once for each side of the pairs: 1 MB of float32, which stays in the cache."""

WORTH_COMPILING = 300_000_000
"""Feature values from which compiled loops win, though a process takes 0.3 s to load them …"""

SPARSE_VALUE, PAIR = 5, 16
"""… where a value of sparse features counts as so many, and a pair as so many more."""

DENSE_FROM = 0.1
"""Sparse features with a larger share of nonzeros are made dense, which is then faster …"""

DENSE_BYTES = 100_000_000
"""… unless the dense copy would be larger than this."""


class Cosine:
    r"""Cosine similarity of features (Section 4.1).

    .. math:: cos(v_i, v_j) = \frac{\mathbf{x}_i \cdot \mathbf{x}_j}{\|\mathbf{x}_i\| \|\mathbf{x}_j\|}

    **x**_i: the features of node i. A node whose features are all zero has cosine 0 with every node.

    Args:
        x: The features.
        pairs: About how many pairs will be counted. For many, loops are compiled; the cosines are the same up
            to rounding.
    """

    def __init__(self, x: Features, pairs: int = 0) -> None:
        n, d = x.shape
        if sp.issparse(x) and x.nnz > DENSE_FROM * n * d and 4 * n * d <= DENSE_BYTES:
            x = x.toarray()
        self._x = x
        self._norm = row_norms(x)
        positive = self._norm[self._norm > 0]
        # Products of float32 values beyond these would overflow or become 0; float64 holds them all.
        self._exact = bool(len(positive)) and (positive.max() > 1e15 or positive.min() < 1e-15)
        per_row = max(1.0, x.nnz / n) if sp.issparse(x) else d
        self._rows = max(1, int(VALUES_AT_ONCE / per_row))
        values = PAIR + per_row * (SPARSE_VALUE if sp.issparse(x) else 1)
        # Rows of a sparse matrix start at numbers of 32 bits, unless it has billions of entries.
        usual = x.indptr.dtype == np.int32 if sp.issparse(x) else x.flags.c_contiguous
        self._compiled = bool(pairs * values >= WORTH_COMPILING and usual and not self._exact)

    def __call__(self, pairs: IntArray) -> Values:
        """Return the cosine of every column (i, j) of ``pairs`` [2, P]."""
        dot = np.empty(pairs.shape[1])
        for start in range(0, len(dot), self._rows):
            i, j = pairs[:, start : start + self._rows]
            dot[start : start + self._rows] = self._products(i, j)
        norms = self._norm[pairs[0]] * self._norm[pairs[1]]
        result: Values = np.divide(dot, norms, out=np.zeros_like(dot), where=norms > 0)
        return result.clip(-1, 1)

    def add_counts(self, pairs: IntArray, counts: IntArray) -> None:
        """Add the pairs to ``counts``, [2·GRID + 1], by their cosines."""
        if not self._compiled:
            cells = np.rint(self(pairs) * GRID).astype(np.int64) + GRID
            counts += np.bincount(cells, minlength=len(counts))
            return
        from otherhalf.diagnosis.cosine_kernels import count_dense, count_sparse  # loaded where they pay

        x = self._x
        if sp.issparse(x):
            rows = x.indptr.view(np.uint32), x.indices.view(np.uint32), x.data
            count_sparse(pairs[0], pairs[1], *rows, self._norm, x.shape[1], GRID, counts)
        else:
            count_dense(pairs[0], pairs[1], x, self._norm, GRID, counts)

    def _products(self, i: IntArray, j: IntArray) -> npt.NDArray[np.floating]:
        left, right = self._x[i], self._x[j]
        if self._exact:
            left, right = left.astype(np.float64), right.astype(np.float64)
        if sp.issparse(left):
            return np.asarray(left.multiply(right).sum(axis=1)).ravel()
        return np.asarray(np.einsum("pd,pd->p", left, right))


def row_norms(x: Features) -> Values:
    """Return ‖x_i‖ in float64, computed block by block, without a float64 copy of all features."""
    n, d = x.shape
    squares = np.empty(n)
    width = max(1, x.nnz // max(1, n)) if sp.issparse(x) else d  # a row of a million columns has few entries
    rows = max(1, VALUES_AT_ONCE // width)
    for start in range(0, n, rows):
        block = x[start : start + rows].astype(np.float64)
        if sp.issparse(block):
            squares[start : start + rows] = np.asarray(block.multiply(block).sum(axis=1)).ravel()
        else:
            squares[start : start + rows] = np.einsum("nd,nd->n", block, block)
    return np.sqrt(squares)


def blocks(pairs: IntArray) -> Iterable[IntArray]:
    """Yield the columns of ``pairs`` in blocks of bounded size."""
    for start in range(0, pairs.shape[1], PAIRS_AT_ONCE):
        yield pairs[:, start : start + PAIRS_AT_ONCE]


def sampled_edges(edges: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """Return ``most`` of the edges, drawn uniformly without replacement, in their order; all if not more."""
    if edges.shape[1] <= most:
        return edges
    return edges[:, np.sort(rng.choice(edges.shape[1], most, replace=False, shuffle=False))]


def random_pairs(num_nodes: int, count: int, rng: np.random.Generator) -> Iterable[IntArray]:
    """Yield ``count`` uniform random pairs of two different nodes, in blocks of bounded size."""
    for start in range(0, count, PAIRS_AT_ONCE):
        size = min(PAIRS_AT_ONCE, count - start)
        i = rng.integers(num_nodes, size=size)
        j = rng.integers(num_nodes - 1, size=size)
        yield np.stack([i, j + (j >= i)])


def cosine_counts(cosine: Cosine, pair_blocks: Iterable[IntArray]) -> IntArray:
    """Count the pairs with the cosine −1, −1 + 1/GRID, …, 1: a distribution of cosines, [2·GRID + 1]."""
    counts = np.zeros(2 * GRID + 1, dtype=np.int64)
    for pairs in pair_blocks:
        cosine.add_counts(pairs, counts)
    return counts


def ks_statistic(first: IntArray, second: IntArray) -> float:
    r"""Return the Kolmogorov-Smirnov statistic of two distributions given as counts over the same values.

    .. math:: KS(\mathbf{d}_1, \mathbf{d}_2) = \max |F(\mathbf{d}_1) - F(\mathbf{d}_2)|

    F: the cumulative distribution function. Equal values share a cell of the counts, so that F is taken
    after all of them, as it must be.
    """
    difference = np.cumsum(first) / first.sum() - np.cumsum(second) / second.sum()
    return float(np.abs(difference).max())


def ks_error(connected: IntArray, random: IntArray, edges: int) -> float:
    r"""Return the standard error of D, the mean K-S statistic of draws of random pairs.

    .. math:: \sqrt{\frac{F_1 (1 - F_1)}{n} \left(1 - \frac{n}{E}\right) + \frac{F_2 (1 - F_2)}{m}}

    F₁, F₂: the shares of connected and of random pairs up to the cosine where the two differ most; n, m: how
    many there are; E: all edges. Pairs count as independent. The first term is 0 if all edges were compared.
    """
    n, m = int(connected.sum()), int(random.sum())
    first, second = np.cumsum(connected) / n, np.cumsum(random) / m
    cell = int(np.abs(first - second).argmax())
    of_edges = first[cell] * (1 - first[cell]) / n * (1 - n / edges)
    return float(np.sqrt(of_edges + second[cell] * (1 - second[cell]) / m))


def mean_cosine(counts: IntArray) -> float:
    """Return the mean of a distribution of cosines."""
    return float(np.average(np.arange(-GRID, GRID + 1) / GRID, weights=counts))


def densities(counts: IntArray, low: int, bins: int) -> Values:
    """Return the histogram of the cosines over [low, 1], low = −1 or 0, as densities (area 1)."""
    inside = counts[GRID * (1 + low) :]
    width = (len(inside) - 1) // bins
    heights = np.add.reduceat(inside, np.arange(bins) * width)  # the last bin includes the cosine 1
    return np.asarray(heights / heights.sum() * bins / (1 - low))
