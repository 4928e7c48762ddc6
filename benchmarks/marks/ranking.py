"""Ranking lists of sparse features: the inverted index against products of sparse and dense blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import Mark, Measure, Missing, Setting, alternate
from otherhalf.complement import ranking
from otherhalf.data.catalog import load
from otherhalf.data.splits import split
from otherhalf.errors import InputError

K = 10
ROWS, COLUMNS, WORDS = 4_000, 3_000, 20
"""A synthetic text: each of its rows has about so many words, a third of them the same one: the worst
case of the index."""


def run(setting: Setting, name: str) -> dict[str, float]:
    """Return the seconds of both ways for the training nodes of a data set, or of a synthetic text."""
    if name:
        try:
            graph = load(name)
        except (InputError, OSError) as error:
            raise Missing(f"the data set {name} is not there: set OTHERHALF_DATA") from error
        x, y, nodes = graph.x, graph.y, split(graph, "uniform", seed=0).train
    else:
        draw = np.random.default_rng(0)
        words = np.minimum(draw.zipf(1.5, (ROWS, WORDS)) - 1, COLUMNS - 1)
        entries = np.ones(words.size, dtype=np.float32), (np.repeat(np.arange(ROWS), WORDS), words.ravel())
        x = sp.csr_matrix(entries, shape=(ROWS, COLUMNS))
        y, nodes = draw.integers(10, size=ROWS), np.arange(ROWS)

    def products() -> None:
        with _least_pairs(1 << 60):
            ranking.ranking_lists(x, y, nodes, K)

    return alternate({"index": lambda: ranking.ranking_lists(x, y, nodes, K), "products": products}, setting)


@contextmanager
def _least_pairs(number: int) -> Iterator[None]:
    before, ranking.LEAST_PAIRS = ranking.LEAST_PAIRS, number
    try:
        yield
    finally:
        ranking.LEAST_PAIRS = before


def measure(name: str, limit: float, *, quick: bool) -> Measure:
    """Return the measure of a data set; "" for the synthetic text."""
    title = f"ranking lists of {name or 'a synthetic text'}, inverted index / products"
    mark = Mark(title, "index", "products", limit)
    return Measure(f"ranking_{name or 'text'}", partial(run, name=name), (mark,), quick=quick)


MEASURES = (
    measure("", 1.0, quick=True),
    measure("coauthor_cs", 0.25, quick=False),
    measure("coauthor_physics", 0.3, quick=False),
)
