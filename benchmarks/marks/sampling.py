"""Neighbour sampling of 1,024 nodes, ten neighbours and ten of each: against numpy and against slices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import Mark, Measure, Setting, alternate
from otherhalf.nn.sampling import NeighbourSampling
from otherhalf.system.adjacency import symmetric_adjacency
from otherhalf.system.arrays import IntArray

FANOUT, SEEDS = (10, 10), 1024


def run(setting: Setting) -> Mapping[str, float]:
    """Return the seconds of a batch, of a numpy sampler, and of the slices of all neighbours."""
    nodes, edges = (20_000, 140_000) if setting.quick else (169_000, 1_160_000)
    rng = np.random.default_rng(0)
    adjacency = symmetric_adjacency(rng.integers(nodes, size=(2, edges)), nodes)
    seeds = rng.permutation(nodes)[:SEEDS]
    ours = NeighbourSampling(adjacency, FANOUT)
    return alternate(
        {
            "ours": lambda: ours.sample(seeds, 0),
            "numpy": lambda: in_numpy(adjacency, seeds, rng),
            "slices": lambda: slices(adjacency, seeds),
        },
        setting,
    )


def in_numpy(adjacency: sp.csr_matrix, seeds: IntArray, rng: np.random.Generator) -> IntArray:
    """Sample by random keys: every neighbour of the frontier has one, and the smallest of a row stay."""
    nodes, frontier = seeds, seeds
    for fanout in FANOUT:
        degree = np.diff(adjacency.indptr)[frontier]
        row = np.repeat(np.arange(len(frontier)), degree)
        start = np.cumsum(degree) - degree
        place = np.arange(len(row)) - start[row]
        order = np.lexsort((rng.random(len(row)), row))
        chosen = order[place < fanout]
        reached = adjacency.indices[adjacency.indptr[frontier][row[chosen]] + place[chosen]]
        known = np.unique(np.concatenate([nodes, reached]))
        frontier = np.setdiff1d(known, nodes, assume_unique=True)
        nodes = np.concatenate([nodes, frontier])
    return nodes


def slices(adjacency: sp.csr_matrix, seeds: IntArray) -> sp.csr_matrix:
    """Return the part of the graph within two hops, by scipy: no sampling at all."""
    nodes = seeds
    for _ in FANOUT:
        nodes = np.unique(np.concatenate([nodes, adjacency[nodes].indices]))
    return adjacency[nodes][:, nodes]


MEASURES = (
    Measure(
        "sampling",
        run,
        (
            Mark("neighbour sampling, 1,024 nodes, 10 and 10 / numpy", "ours", "numpy", 0.3),
            Mark("neighbour sampling / scipy's part of the graph within two hops", "ours", "slices", 1.0),
        ),
    ),
)
