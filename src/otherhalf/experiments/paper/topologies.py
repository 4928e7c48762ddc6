"""How homophilous found, kNN and random halves of equally many edges are (label ``fig:comp_homophily``)."""

from __future__ import annotations

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
from otherhalf.system.graph_checks import IntArray, distinct_keys
from otherhalf.system.seeds import generator

Similarities = Callable[[Tensor], Tensor]

KINDS = ("homophily", "heterophily")


def knn_half(graph: Graph, num_edges: int, kind: str, seed: int = 0) -> MissingHalf:
    """A half by the cosine of raw features alone, with exactly ``num_edges`` undirected edges.

    Every node is joined to its k most similar (``homophily``) or least similar (``heterophily``) nodes,
    itself left out, by an exact search. k is the smallest that gives ``num_edges`` undirected edges or
    more; of these the best are kept, those of the largest (or smallest) cosine.

    Cosines are compared as multiples of 1/GRID (:mod:`otherhalf.diagnosis.similarity`), so that equal ones
    tie; ties fall in an order drawn from the seed, for each node its own. Nothing else depends on the seed:
    without ties every seed gives the same half. With sparse features, the least similar nodes are mostly
    ties at cosine 0, and the half is then almost a random one among those pairs.

    Args:
        graph: Only its features are looked at.
        num_edges: E, 1 … N(N − 1)/2.
        kind: ``homophily`` or ``heterophily``.
        seed: Of the order among ties.
    """
    n = graph.num_nodes
    if kind not in KINDS:
        raise InputError(f"the kind {kind!r} is not known: choose one of {', '.join(KINDS)}")
    _check_edges(n, num_edges)
    order_rng, keep_rng = generator(seed).spawn(2)
    # An edge is found from at most two ends: 2⌈E/N⌉ neighbours of each node give E edges or more.
    width = min(2 * -(-num_edges // n), n - 1)
    everyone = torch.arange(n)
    similarities = _ties_in_random_order(cosines(unit_rows(graph.x), everyone), order_rng)
    found, values = top_k(similarities, everyone, n, width, largest=kind == "homophily")

    source = np.repeat(np.arange(n), width)
    target = found.numpy().ravel()
    rank = np.tile(np.arange(width), n)
    cosine = np.floor(values.numpy().ravel())  # takes off what broke the ties
    keys, edge = np.unique(_keys(source, target, n), return_inverse=True)
    first_rank = np.full(len(keys), width)
    np.minimum.at(first_rank, edge, rank)
    k = 1 + int(np.sort(first_rank)[num_edges - 1])
    # The two ends compute a cosine with different rounding errors, which may fall on two sides of a step.
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
    """GRID · cosine rounded, plus a random number in [0, 1): whole steps decide before it does."""
    draws = torch.Generator().manual_seed(int(rng.integers(2**63)))

    def disturbed(queries: Tensor) -> Tensor:
        block = similarities(queries).mul_(GRID).round_()
        # float32 has 128 values to each step near cosine 1; 0.99 keeps the sum from rounding up to the next.
        return block.add_(torch.rand(block.shape, generator=draws).mul_(0.99))

    return disturbed


def random_half(num_nodes: int, num_edges: int, seed: int = 0) -> IntArray:
    """``[2, E]``: an Erdős–Rényi graph G(N, E), uniform over all graphs of exactly E edges; i < j."""
    _check_edges(num_nodes, num_edges)
    first, stop = np.arange(1, num_nodes + 1), np.full(num_nodes, num_nodes)
    return draw_pairs(first, stop, num_edges, "in the graph", generator(seed))


def compare_topologies(
    graph: Graph, pairs: IntArray, kind: str, seed: int = 0, *, test: IntArray | None = None
) -> dict[str, Any]:
    r"""The homophily of a found half, and of a kNN and a random half with as many edges.

    .. math:: \mathcal{H} = \frac{|\{(i,j) \in \mathcal{E} : y_i = y_j\}|}{|\mathcal{E}|}

    over undirected edges with both labels known. A second number counts the edges that test nodes found:
    a half learned from training labels is purer around training nodes. For the found and the kNN half these
    are the pairs that a test node searched. A random half and the given graph have no searching node: there
    every end of an edge that is a test node counts.

    Repeats with other seeds vary the random half. They vary the kNN half only as far as cosines tie and as
    the number of edges varies with the found half.

    Args:
        graph: The graph; all its labels are read, to score only.
        pairs: ``[2, P]`` the found half as found, row 0 the node that searched.
        kind: The kind of the found half, which the kNN half takes too.
        seed: Of the random half and of ties in the kNN half.
        test: The test nodes; without them the second numbers are left out.

    Returns:
        ``kind``, ``edges``, ``k`` (of the kNN half) and the homophily of ``found``, ``knn``, ``random`` and
        ``given`` (the graph itself, with its own number of edges); with ``test`` also ``found_test`` and so
        on. None where no counted edge has both labels.
    """
    n = graph.num_nodes
    found = MissingHalf(np.asarray(pairs, dtype=np.int64), n, kind, 0, n)
    knn = knn_half(graph, found.num_edges, kind, seed)
    drawn = random_half(n, found.num_edges, seed)
    topologies = {
        "found": found,
        "knn": knn,
        "random": MissingHalf(_both_ways(drawn), n, kind, 0, n),
        "given": MissingHalf(_both_ways(graph.undirected_edges), n, kind, 0, n),
    }
    result: dict[str, Any] = {"kind": kind, "edges": found.num_edges, "k": knn.k}
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
    """One number for an edge, whichever end comes first."""
    return np.asarray(np.minimum(source, target) * np.int64(num_nodes) + np.maximum(source, target))


def _undirected(pairs: IntArray, num_nodes: int) -> IntArray:
    keys = distinct_keys(_keys(pairs[0], pairs[1], num_nodes))
    return np.stack([keys // num_nodes, keys % num_nodes])
