"""How far features tell classes apart: the cosines of pairs within a class against those of two classes."""

import numpy as np

from otherhalf.diagnosis.similarity import Cosine, cosine_counts, ks_statistic
from otherhalf.system.arrays import UNKNOWN, IntArray

PAIRS, PAIRS_PER_NODE = 20_000, 20
"""At most so many random pairs of each kind. With 20,000, S is about 0.01 for features that say nothing."""

MIN_NODES = 20
"""With fewer labelled nodes, the pairs are too few to tell anything."""


def class_separation(cosine: Cosine, y: IntArray, rng: np.random.Generator) -> float | None:
    r"""Return the K-S statistic S between the cosines of pairs within a class and of pairs of two classes.

    It is 0 where the cosine of two nodes says nothing about whether they have the same class, and 1 where it
    tells. If the features of connected nodes are alike through their classes alone,

    .. math:: D = |h - p| \, S \le S

    h: edge homophily; p: the share of random pairs within a class. So where S is small, edges within classes
    do not raise D. A model may still tell the classes by the features: it chooses columns, a cosine does not.

    Args:
        cosine: Cosines of the features.
        y: ``[N]`` class codes, −1 for unknown.
        rng: Generator of the pairs.

    Returns:
        S; None with fewer than :data:`MIN_NODES` labels, one class, or no class of two nodes.
    """
    known = np.flatnonzero(y != UNKNOWN)
    order = known[np.argsort(y[known], kind="stable")]
    _, starts, sizes = np.unique(y[order], return_index=True, return_counts=True)
    if len(known) < MIN_NODES or len(sizes) < 2 or sizes.max() < 2:
        return None
    n = len(order)
    start, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)  # of the class at each place of `order`
    pairs = min(PAIRS, PAIRS_PER_NODE * n)
    paired = np.flatnonzero(size > 1)
    first = paired[rng.integers(len(paired), size=pairs)]
    step = rng.integers(1, size[first])
    within = np.stack([first, start[first] + (first - start[first] + step) % size[first]])
    first = rng.integers(n, size=pairs)
    # The places after a class, counted on from the end to the beginning, are those of all other classes.
    between = np.stack([first, (start[first] + size[first] + rng.integers(n - size[first])) % n])
    return ks_statistic(cosine_counts(cosine, [order[within]]), cosine_counts(cosine, [order[between]]))
