"""Homophily of learned, kNN and random halves with the same number of edges (``fig:comp_homophily``)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from otherhalf.complement.missing_half import MissingHalf
from otherhalf.complement.search import cosines, top_k, unit_rows
from otherhalf.data.synthetic import draw_pairs
from otherhalf.diagnosis.homophily import edge_homophily
from otherhalf.diagnosis.similarity import GRID
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import IntArray, distinct_keys
from otherhalf.system.seeds import generator

Similarities = Callable[[Tensor], Tensor]

KINDS = ("homophily", "heterophily")


def knn_half(graph: Graph, num_edges: int, kind: str, seed: int = 0) -> MissingHalf:
    """Return a half from the cosine of raw features only, with exactly ``num_edges`` undirected edges.

    Every node is joined to its k most similar (``homophily``) or least similar (``heterophily``) other nodes,
    by an exact search. k is the smallest number that gives at least ``num_edges`` undirected edges; of these
    the ones with the largest (or smallest) cosine are kept.

    Cosines are compared as multiples of 1/GRID (:mod:`otherhalf.diagnosis.similarity`), so that equal ones
    tie; the seed decides the order of ties, separately for each node. Nothing else depends on the seed:
    without ties every seed gives the same half. With sparse features, the least similar nodes are mostly ties
    at cosine 0, and the half is then almost random among those pairs.

    Args:
        graph: Graph whose features are used.
        num_edges: E, 1 … N(N − 1)/2.
        kind: ``homophily`` or ``heterophily``.
        seed: Seed of the order of ties.
    """
    n = graph.num_nodes
    if kind not in KINDS:
        raise InputError(f"the kind {kind!r} is not known: choose one of {', '.join(KINDS)}")
    _check_edges(n, num_edges)
    order_rng, keep_rng = generator(seed).spawn(2)
    # An edge comes from at most two nodes: 2⌈E/N⌉ neighbours of each node give E edges or more.
    width = min(2 * -(-num_edges // n), n - 1)
    everyone = torch.arange(n)
    similarities = _ties_in_random_order(cosines(unit_rows(graph.x), everyone), order_rng)
    neighbours, values = top_k(similarities, everyone, n, width, largest=kind == "homophily")

    source = np.repeat(np.arange(n), width)
    target = neighbours.numpy().ravel()
    rank = np.tile(np.arange(width), n)
    cosine = np.floor(values.numpy().ravel())  # without the part that orders ties
    keys, edge = np.unique(_keys(source, target, n), return_inverse=True)
    first_rank = np.full(len(keys), width)
    np.minimum.at(first_rank, edge, rank)
    k = 1 + int(np.sort(first_rank)[num_edges - 1])
    # The cosine differs between the two nodes by a rounding error, which may cross a step of the grid.
    edge_cosine = np.full(len(keys), -np.inf)
    np.maximum.at(edge_cosine, edge, cosine)
    badness = -edge_cosine if kind == "homophily" else edge_cosine
    candidates = keep_rng.permutation(np.flatnonzero(first_rank < k))
    best = candidates[np.argsort(badness[candidates], kind="stable")[:num_edges]]
    kept = np.zeros(len(keys), dtype=bool)
    kept[best] = True
    chosen = kept[edge] & (rank < k)
    return MissingHalf(np.stack([source[chosen], target[chosen]]), n, kind, k, n, "knn")


def _ties_in_random_order(similarities: Similarities, rng: np.random.Generator) -> Similarities:
    """Add a random number in [0, 1) to GRID · cosine rounded, so that it decides between ties only."""
    draws = torch.Generator().manual_seed(int(rng.integers(2**63)))

    def disturbed(queries: Tensor) -> Tensor:
        block = similarities(queries).mul_(GRID).round_()
        # float32 has 128 values to each step near cosine 1; 0.99 keeps the sum from rounding up to the next.
        return block.add_(torch.rand(block.shape, generator=draws).mul_(0.99))

    return disturbed


def random_half(num_nodes: int, num_edges: int, seed: int = 0) -> IntArray:
    """Return the edges ``[2, E]``, i < j, of an Erdős–Rényi graph: uniform over all graphs of E edges."""
    _check_edges(num_nodes, num_edges)
    first, stop = np.arange(1, num_nodes + 1), np.full(num_nodes, num_nodes)
    return draw_pairs(first, stop, num_edges, "in the graph", generator(seed))


def compare_topologies(
    graph: Graph, pairs: IntArray, kind: str, seed: int = 0, *, test: IntArray | None = None
) -> dict[str, Any]:
    r"""Return the homophily of a learned half, and of a kNN and a random half with as many edges.

    .. math:: \mathcal{H} = \frac{|\{(i,j) \in \mathcal{E} : y_i = y_j\}|}{|\mathcal{E}|}

    over undirected edges with both labels known. A second number is over the edges of test nodes only,
    because a half that is learned from training labels is purer around training nodes. In the learned and the
    kNN half these are the pairs that the search of a test node gave. In a random half and in the given graph
    no node searched: there every end of an edge that is a test node counts.

    Another seed gives another random half. The kNN half changes only where cosines tie, and with the number
    of edges of the learned half.

    Args:
        graph: The graph; all its labels are read, for scoring only.
        pairs: ``[2, P]`` pairs of the learned half; row 0 is the node that searched.
        kind: Kind of the learned half, and of the kNN half.
        seed: Seed of the random half and of ties in the kNN half.
        test: Test nodes; without them the second numbers are left out.

    Returns:
        ``kind``, ``edges``, ``k`` (of the kNN half) and the homophily of ``found``, ``knn``, ``random`` and
        ``given`` (the graph itself, with its own number of edges); with ``test`` also ``found_test`` and so
        on. A number is None if no counted edge has both labels.
    """
    n = graph.num_nodes
    learned = MissingHalf(np.asarray(pairs, dtype=np.int64), n, kind, 0, n)
    knn = knn_half(graph, learned.num_edges, kind, seed)
    drawn = random_half(n, learned.num_edges, seed)
    topologies = {
        "found": learned,
        "knn": knn,
        "random": MissingHalf(_both_ways(drawn), n, kind, 0, n),
        "given": MissingHalf(_both_ways(graph.undirected_edges), n, kind, 0, n),
    }
    result: dict[str, Any] = {"kind": kind, "edges": learned.num_edges, "k": knn.k}
    for name, half in topologies.items():
        result[name] = edge_homophily(_undirected(half.pairs, n), graph.y)
        if test is not None:
            result[f"{name}_test"] = half.homophily(graph.y, test)
    return result


def _check_edges(num_nodes: int, num_edges: int) -> None:
    most = num_nodes * (num_nodes - 1) // 2
    if not 1 <= num_edges <= most:
        raise InputError(f"{num_nodes} nodes cannot have {num_edges} edges: give 1 to {most}")


def _both_ways(edges: IntArray) -> IntArray:
    return np.concatenate([edges, edges[::-1]], axis=1)


def _keys(source: IntArray, target: IntArray, num_nodes: int) -> IntArray:
    """Return one number for each edge, the same for both orders of its ends."""
    return np.asarray(np.minimum(source, target) * np.int64(num_nodes) + np.maximum(source, target))


def _undirected(pairs: IntArray, num_nodes: int) -> IntArray:
    keys = distinct_keys(_keys(pairs[0], pairs[1], num_nodes))
    return np.stack([keys // num_nodes, keys % num_nodes])
