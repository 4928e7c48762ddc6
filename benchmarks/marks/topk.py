"""Exact top-20 of all nodes against all, 64 columns: against the bare product and faiss, and its memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from benchmarks.measure import Mark, Measure, Setting, alternate
from otherhalf.complement.block_search import flight_bytes, inner_top_k
from otherhalf.complement.embedding import search_pairs
from otherhalf.complement.search import BLOCK_ENTRIES
from otherhalf.system.process import peak_memory_mb, reset_peak_memory

WIDTH, K = 64, 20


LARGE = 100_000
"""Nodes from which a search takes minutes: each case then runs once, and the product is left out."""


def run(setting: Setting, nodes: int) -> dict[str, float]:
    """Return the seconds of both searches, of the product alone, and of faiss if it is installed."""
    torch.manual_seed(0)
    z, everyone = torch.randn(nodes, WIDTH), torch.arange(nodes)
    cases: dict[str, Callable[[], object]] = {
        "most": lambda: search_pairs(z, everyone, everyone, K, "homophily"),
        "least": lambda: search_pairs(z, everyone, everyone, K, "heterophily"),
    }
    with suppress(ImportError):
        cases["faiss"] = faiss_search(z, setting.threads)
    if nodes >= LARGE:
        return alternate(cases, replace(setting, repeats=1), warm=0)
    return alternate(cases | {"product": bare_product(z)}, setting)


def memory(setting: Setting, nodes: int) -> dict[str, float]:
    """Return the bytes that the search takes at its peak, and those of its result and its blocks."""
    torch.manual_seed(0)
    z = torch.randn(nodes, WIDTH)
    inner_top_k(z[:1000], None, K, largest=True)  # the kernels and the buffers of the product
    reset_peak_memory()
    before = peak_memory_mb()
    found = inner_top_k(z, None, K, largest=True)
    assert found[0].shape == (nodes, K)
    return {
        "peak": (peak_memory_mb() - before) * (1 << 20),
        "stated": 12.0 * nodes * K + flight_bytes(K, WIDTH, nodes),
    }


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


def memory_measure(nodes: int, *, quick: bool) -> Measure:
    """Return the measure of the memory for a number of nodes."""
    title = f"exact top-{K} of {nodes:,} × {WIDTH}, memory / 12 bytes for each of N · K and the stated blocks"
    mark = Mark(title, "peak", "stated", 1.1)
    return Measure(f"topk_memory_{nodes // 1000}k", partial(memory, nodes=nodes), (mark,), quick=quick)


MEASURES = (
    measure(20_000, product=True, quick=True),
    measure(40_000, product=True, quick=False),
    measure(169_000, product=False, quick=False),
    memory_measure(20_000, quick=True),
    memory_measure(169_000, quick=False),
)
