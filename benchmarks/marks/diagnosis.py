"""Cosines of node pairs: the diagnosis against the gather of the rows that it compares."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import Mark, Measure, Setting, alternate
from otherhalf.diagnosis.similarity import (
    VALUES_AT_ONCE,
    WORTH_COMPILING,
    Cosine,
    Features,
    blocks,
    cosine_counts,
    random_pairs,
)
from otherhalf.system.arrays import IntArray

ROUNDS = 3
"""One of connected pairs and two of random ones; a diagnosis has ten."""


def run(setting: Setting, nodes: int, edges: int, *, sparse: bool) -> dict[str, float]:
    """Return the seconds of the compiled and the plain way, and of the gather of their rows."""
    if setting.quick:
        nodes, edges = nodes // 10, edges // 10
    rng = np.random.default_rng(0)
    x: Features
    if sparse:
        x = sp.random(nodes, 1433, density=0.013, random_state=rng, format="csr", dtype=np.float32)
    else:
        x = rng.standard_normal((nodes, 64), dtype=np.float32)
    pairs = np.sort(rng.integers(nodes, size=(2, edges)), axis=0)
    pairs = pairs[:, np.lexsort(pairs[::-1])]
    drawn = [pairs, *(np.concatenate(list(random_pairs(nodes, edges, rng)), axis=1) for _ in range(2))]
    fast, plain = Cosine(x, WORTH_COMPILING), Cosine(x)
    return alternate(
        {
            "compiled": lambda: [cosine_counts(fast, blocks(each)) for each in drawn],
            "plain": lambda: [cosine_counts(plain, blocks(each)) for each in drawn],
            "gather": gather(x, drawn),
        },
        setting,
    )


def gather(x: Features, drawn: list[IntArray]) -> Callable[[], None]:
    """Return a function that copies both rows of all pairs, in blocks that stay in the cache."""
    width = x.nnz / x.shape[0] if sp.issparse(x) else x.shape[1]
    step = max(1, int(VALUES_AT_ONCE / width))

    def copy() -> None:
        for pairs in drawn:
            for start in range(0, pairs.shape[1], step):
                x[pairs[0, start : start + step]], x[pairs[1, start : start + step]]

    return copy


MEASURES = tuple(
    Measure(
        f"cosines_{name}",
        partial(run, nodes=169_000, edges=2_300_000, sparse=name == "sparse"),
        (
            Mark(f"cosines of pairs, {name} / the gather of their rows", "compiled", "gather", 1.2),
            Mark(f"cosines of pairs, {name} / the plain way", "compiled", "plain", 1.0),
        ),
    )
    for name in ("dense", "sparse")
)
