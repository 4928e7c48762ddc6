"""Exact top-20 of all nodes against all, 64 columns: against the bare product and faiss."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import torch
from torch import Tensor

from benchmarks.measure import Mark, Measure, Setting, alternate
from otherhalf.complement.embedding import search_pairs
from otherhalf.complement.search import BLOCK_ENTRIES

WIDTH, K = 64, 20


def run(setting: Setting, nodes: int) -> dict[str, float]:
    """Return the seconds of both searches, of the product alone, and of faiss if it is installed."""
    torch.manual_seed(0)
    z, everyone = torch.randn(nodes, WIDTH), torch.arange(nodes)
    cases = {
        "most": lambda: search_pairs(z, everyone, everyone, K, "homophily"),
        "least": lambda: search_pairs(z, everyone, everyone, K, "heterophily"),
        "product": bare_product(z),
    }
    with suppress(ImportError):
        cases["faiss"] = faiss_search(z, setting.threads)
    return alternate(cases, setting)


def bare_product(z: Tensor) -> Callable[[], None]:
    """Return a function that computes Z Zᵀ in row blocks, into the same memory."""
    step = max(1, BLOCK_ENTRIES // len(z))
    block = torch.empty(step, len(z))

    def product() -> None:
        for start in range(0, len(z), step):
            rows = z[start : start + step]
            torch.mm(rows, z.t(), out=block[: len(rows)])

    return product


def faiss_search(z: Tensor, threads: int) -> Callable[[], object]:
    """Return a search of the most similar by ``IndexFlatIP``; the node itself is one of K + 1."""
    import faiss

    faiss.omp_set_num_threads(threads)
    rows = z.numpy()

    def search() -> object:
        index = faiss.IndexFlatIP(WIDTH)
        index.add(rows)
        return index.search(rows, K + 1)

    return search


def measure(nodes: int, *, product: bool, quick: bool) -> Measure:
    """Return the measure of a number of nodes; ``product``: whether the product is a limit too."""
    size = f"exact top-{K} of {nodes:,} × {WIDTH}"
    marks = [Mark(f"{size}, {kind} similar / faiss-Flat", kind, "faiss", 1.0) for kind in ("most", "least")]
    if product:
        marks += [
            Mark(f"{size}, {kind} similar / the bare full product", kind, "product", 0.8)
            for kind in ("most", "least")
        ]
    return Measure(f"topk_{nodes // 1000}k", partial(run, nodes=nodes), tuple(marks), quick=quick)


MEASURES = (
    measure(20_000, product=True, quick=True),
    measure(40_000, product=True, quick=False),
    measure(169_000, product=False, quick=False),
)
