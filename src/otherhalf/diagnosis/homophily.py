"""How similar the labels at the two ends of edges are: the usual measures, each as its paper defines it.

Every function takes ``edges`` [2, E], each undirected pair once, and ``y`` [N] class codes with −1 for
unknown, and uses only edges with both labels known. It returns None where its measure is undefined. Classes
that no node has do not count.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy

from otherhalf.system.arrays import UNKNOWN, IntArray

Values = npt.NDArray[np.float64]

Interval = tuple[float, float]

LABEL_THRESHOLD = 0.2
"""Adjusted homophily above this means homophily.

Adjusted homophily is an assortativity: 0 is chance, whatever the sizes of the classes. A graph only a
little above chance still lacks the homophilic half, so the threshold is above 0. It is the number that the
paper uses for the K-S statistic, another measure that is 0 at chance and at most 1.
"""

MIN_LABELLED_EDGES = 10
"""With fewer labelled edges the labels have no verdict: the bootstrap interval of so few is too narrow."""

BLOCK = 2_000_000
"""How many bootstrap counts are in memory at once (16 MB)."""


def edge_homophily(edges: IntArray, y: IntArray) -> float | None:
    r"""Return the share of edges within a class (the homophily ratio, as Section 6 of the paper defines it).

    .. math:: \mathcal{H} = \frac{|\{(i,j) \in \mathcal{E} : y_i = y_j\}|}{|\mathcal{E}|}
    """
    return _value(_edge_homophily, edges, y)


def node_homophily(edges: IntArray, y: IntArray) -> float | None:
    r"""Return the mean share of a node's neighbours that have its class (Pei et al. 2020, Geom-GCN).

    .. math:: \frac{1}{|\mathcal{V}|} \sum_{v \in \mathcal{V}}
              \frac{|\{u \in \mathcal{N}(v) : y_u = y_v\}|}{|\mathcal{N}(v)|}

    𝒱: the labelled nodes with at least one labelled neighbour; 𝒩(v): the labelled neighbours of v.
    """
    edges = _labelled(edges, y)
    if edges.shape[1] == 0:
        return None
    same = (y[edges[0]] == y[edges[1]]).astype(np.float64)
    degree = np.bincount(edges.ravel(), minlength=len(y))
    alike = np.bincount(edges.ravel(), weights=np.tile(same, 2), minlength=len(y))
    connected = degree > 0
    return float(np.mean(alike[connected] / degree[connected]))


def class_insensitive_homophily(edges: IntArray, y: IntArray) -> float | None:
    r"""Return the mean excess of each class's homophily over chance (Lim et al. 2021, LINKX).

    .. math:: \hat{h} = \frac{1}{C - 1} \sum_k \max\Bigl(0, h_k - \frac{|\mathcal{C}_k|}{n}\Bigr), \quad
              h_k = \frac{\sum_{v \in \mathcal{C}_k} |\{u \in \mathcal{N}(v) : y_u = k\}|}
                         {\sum_{v \in \mathcal{C}_k} |\mathcal{N}(v)|}

    𝒞_k: the labelled nodes of class k, n of them in all C classes. A class without edges adds nothing.
    """
    edges = _labelled(edges, y)
    classes, codes, sizes = np.unique(y[y != UNKNOWN], return_inverse=True, return_counts=True)
    if edges.shape[1] == 0 or len(classes) < 2:
        return None
    first, second = np.searchsorted(classes, y[edges[0]]), np.searchsorted(classes, y[edges[1]])
    degree = np.bincount(first, minlength=len(classes)) + np.bincount(second, minlength=len(classes))
    inside = 2 * np.bincount(first[first == second], minlength=len(classes))
    excess = inside / np.maximum(degree, 1) - sizes / len(codes)
    return float(np.maximum(excess, 0).sum() / (len(classes) - 1))


def adjusted_homophily(edges: IntArray, y: IntArray) -> float | None:
    r"""Return edge homophily adjusted for what the degrees of the classes give (Platonov et al. 2023).

    .. math:: h_{adj} = \frac{h_{edge} - \sum_k D_k^2 / (2|\mathcal{E}|)^2}
                             {1 - \sum_k D_k^2 / (2|\mathcal{E}|)^2}

    D_k: the sum of the degrees of the nodes of class k. 0 is chance and 1 perfect homophily; it is
    Newman's assortativity coefficient for classes.
    """
    return _value(_adjusted_homophily, edges, y)


def label_informativeness(edges: IntArray, y: IntArray) -> float | None:
    r"""Return how much a neighbour's class tells about a node's, 0 … 1 (Platonov et al. 2023, LI_edge).

    .. math:: LI = 2 - \frac{\sum_{c,c'} p(c,c') \log p(c,c')}{\sum_c \bar{p}(c) \log \bar{p}(c)}

    p(c, c'): the probability that a random edge, in random order, connects class c to c';
    p̄(c) = D_c / 2|ℰ|: the probability that a random end of an edge has class c.
    """
    return _value(_label_informativeness, edges, y)


def intervals(
    edges: IntArray, y: IntArray, seed: Any = 0, *, replicates: int = 1000, level: float = 0.95
) -> dict[str, Interval | None]:
    """Return bootstrap percentile intervals of edge and adjusted homophily and label informativeness.

    A replicate draws the class-mixing counts of the labelled edges from a multinomial with the observed
    shares. That treats edges as independent of each other. They are not where few nodes have many edges; the
    intervals are then too narrow.

    Args:
        edges: ``[2, E]``, each undirected pair once.
        y: ``[N]`` class codes, −1 for unknown.
        seed: A seed or a numpy ``Generator``.
        replicates: Number of times the counts are drawn.
        level: Probability that an interval covers.

    Returns:
        The lower and the upper bound of each measure, None where the measure is undefined.
    """
    mixing = _mix(edges, y)
    measures = {
        "edge_homophily": _edge_homophily,
        "adjusted_homophily": _adjusted_homophily,
        "label_informativeness": _label_informativeness,
    }
    if mixing is None:
        return dict.fromkeys(measures)
    rng = np.random.default_rng(seed)
    total = int(mixing.counts.sum())
    samples: dict[str, list[Values]] = {name: [] for name in measures}
    block = max(1, BLOCK // len(mixing.counts))
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        counts = rng.multinomial(total, mixing.counts / total, size=size).astype(np.float64)
        for name, measure in measures.items():
            samples[name].append(measure(mixing, counts))
    tail = (1 - level) / 2
    result: dict[str, Interval | None] = {}
    for name, measure in measures.items():
        # A replicate of few edges may have one class only, where the last two are undefined.
        defined = np.concatenate(samples[name])
        defined = defined[~np.isnan(defined)]
        if len(defined) == 0 or np.isnan(measure(mixing, mixing.counts)):
            result[name] = None
        else:
            low, high = np.quantile(defined, [tail, 1 - tail])
            result[name] = float(low), float(high)
    return result


def label_tendency(adjusted: Interval | None, edges: IntArray, y: IntArray) -> str | None:
    """Return the verdict of the labels: ``homophily``, ``heterophily`` or ``undecided``.

    It is decided where the interval of adjusted homophily is on one side of :data:`LABEL_THRESHOLD`. It is
    None where that measure is undefined.
    """
    if adjusted is None:
        return None
    if _labelled(edges, y).shape[1] < MIN_LABELLED_EDGES:
        return "undecided"
    if adjusted[0] > LABEL_THRESHOLD:
        return "homophily"
    return "heterophily" if adjusted[1] < LABEL_THRESHOLD else "undecided"


# ---------------------------------------------------------------------- class-mixing counts


@dataclass(frozen=True)
class _Mixing:
    """How many edges connect each pair of classes; only the pairs that occur, each in one order."""

    counts: Values  # [P]
    inside: npt.NDArray[np.bool_]  # [P] whether the pair is a class with itself
    ends: sp.csr_matrix  # [P, C] how many ends of such an edge lie in each class: 0, 1 or 2


def _labelled(edges: IntArray, y: IntArray) -> IntArray:
    if (y != UNKNOWN).all():
        return edges
    return edges[:, (y[edges[0]] != UNKNOWN) & (y[edges[1]] != UNKNOWN)]


def _mix(edges: IntArray, y: IntArray) -> _Mixing | None:
    edges = _labelled(edges, y)
    if edges.shape[1] == 0:
        return None
    classes = int(y.max()) + 1
    low, high = np.minimum(y[edges[0]], y[edges[1]]), np.maximum(y[edges[0]], y[edges[1]])
    pairs, counts = _distinct(low * np.int64(classes) + high, classes * classes)
    low, high = pairs // classes, pairs % classes
    cells = np.arange(len(pairs))
    ends = sp.csr_matrix(
        (np.ones(2 * len(pairs)), (np.tile(cells, 2), np.concatenate([low, high]))),
        shape=(len(pairs), classes),
    )
    return _Mixing(counts.astype(np.float64), low == high, ends)


def _distinct(keys: IntArray, bound: int) -> tuple[IntArray, IntArray]:
    """Return the distinct keys below ``bound``, sorted, and how often each occurs."""
    if bound > max(len(keys), 1000):  # more cells than keys: sort them
        return np.unique(keys, return_counts=True)
    counts = np.bincount(keys, minlength=bound)
    present = np.flatnonzero(counts)
    return present, counts[present]


def _value(measure: Callable[[_Mixing, Values], Values], edges: IntArray, y: IntArray) -> float | None:
    mixing = _mix(edges, y)
    if mixing is None:
        return None
    value = float(measure(mixing, mixing.counts))
    return None if np.isnan(value) else value


# The three measures below take counts [..., P], so that they work for the data and for the bootstrap.


def _edge_homophily(mixing: _Mixing, counts: Values) -> Values:
    return np.asarray(counts[..., mixing.inside].sum(axis=-1) / counts.sum(axis=-1))


def _end_shares(mixing: _Mixing, counts: Values) -> Values:
    """Return D_k / 2|ℰ|, [..., C]."""
    return np.asarray(counts @ mixing.ends / (2 * counts.sum(axis=-1, keepdims=True)))


def _adjusted_homophily(mixing: _Mixing, counts: Values) -> Values:
    chance = (_end_shares(mixing, counts) ** 2).sum(axis=-1)
    with np.errstate(invalid="ignore"):  # all edges within one class: 0/0, undefined
        return np.asarray((_edge_homophily(mixing, counts) - chance) / (1 - chance))


def _label_informativeness(mixing: _Mixing, counts: Values) -> Values:
    shares = counts / counts.sum(axis=-1, keepdims=True)
    # Between two classes the share of a pair is split over its two orders, p(c, c') = p(c', c) = share/2.
    joint = xlogy(shares, np.where(mixing.inside, shares, shares / 2)).sum(axis=-1)
    ends = _end_shares(mixing, counts)
    with np.errstate(invalid="ignore"):
        return np.asarray(2 - joint / xlogy(ends, ends).sum(axis=-1))
