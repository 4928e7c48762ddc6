"""One training step: the Complemented Graph Convolution, and an epoch, against their bare products."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp
import torch

from benchmarks.measure import Mark, Measure, Setting, alternate
from otherhalf.nn.conv import ComplementedGraphConv
from otherhalf.nn.ops.products import product
from otherhalf.nn.ops.sparse import SparseOperator, normalized_adjacency
from otherhalf.system.adjacency import symmetric_adjacency

NODES, EDGES, QUICK_NODES, QUICK_EDGES = 169_343, 1_157_799, 20_000, 140_000
"""Nodes and undirected edges of the arxiv graph, and of a small one."""


def random_half(nodes: int, edges: int, seed: int) -> SparseOperator:
    """Return the normalised adjacency of a random graph."""
    ends = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    adjacency: sp.csr_matrix = symmetric_adjacency(ends, nodes)
    return normalized_adjacency(adjacency)


def convolution(setting: Setting, width: int) -> dict[str, float]:
    """Return the seconds of a layer's propagation forwards and backwards, and of its four bare products."""
    torch.manual_seed(0)
    nodes, edges = (QUICK_NODES, QUICK_EDGES) if setting.quick else (NODES, EDGES)
    halves = random_half(nodes, edges, 0), random_half(nodes, edges, 1)
    h, g = torch.randn(nodes, width, requires_grad=True), torch.randn(nodes, width)

    def step(layer: ComplementedGraphConv) -> Callable[[], None]:
        def run() -> None:
            h.grad = None
            layer.propagate(h, *halves).backward(g)

        return run

    def products() -> None:
        a_o, a_t = (half.matrix for half in halves)
        for matrix in (a_o, a_t, a_t, a_o):
            product(matrix, g)

    layers = {name: ComplementedGraphConv(1, 1, learn_coefficients=name == "learned") for name in KINDS}
    return alternate({name: step(layer) for name, layer in layers.items()} | {"products": products}, setting)


KINDS = ("fixed", "learned")


def _convolution(width: int) -> Measure:
    marks = tuple(
        Mark(
            f"CGC with {kind} coefficients, {width} wide, forwards and backwards / its four bare products",
            kind,
            "products",
            1.2,
        )
        for kind in KINDS
    )
    return Measure(f"convolution_{width}", partial(convolution, width=width), marks)


MEASURES = (_convolution(64), _convolution(256))
