"""The costs that docs/howto/cluster.md reckons with, measured again: what they are now, over what it says."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.measure import Mark, Measure, Setting
from otherhalf.complement.block_search import inner_top_k
from otherhalf.nn.propagation import needed_columns, propagate_rows
from otherhalf.training.adam import Adam

STATED = {"entry": 31e-9, "cut": 6e-9, "pair": 1 / 5.9e8, "row": 3.7e-6}
"""Seconds of one core for an entry of a product with 64 columns, for an entry of a partition that is cut, for
a pair of the exact top-K, and for a row of an epoch."""

NODES, DEGREE, COLUMNS, PARTITIONS = 500_000, 20, 64, 8
SEARCHED, K = 40_000, 20
ROWS, INPUTS, HIDDEN, CLASSES, BATCH = 65_536, 256, 256, 40, 4096

WORDS = {
    "entry": f"an entry of a product with {COLUMNS} columns",
    "cut": "an entry of a row partition that is cut",
    "pair": f"a pair of the exact top-{K} of {COLUMNS} columns",
    "row": f"a row of an epoch, {INPUTS} inputs, {HIDDEN} hidden units, {CLASSES} classes",
}


def run(setting: Setting) -> Mapping[str, float]:
    """Return the seconds of one of each."""
    rng, shrink = np.random.default_rng(0), 10 if setting.quick else 1
    nodes, rows = NODES // shrink, SEARCHED // (2 if setting.quick else 1)
    matrix = _random_rows(nodes, rng)
    x = rng.standard_normal((nodes, COLUMNS), dtype=np.float32)
    z = torch.from_numpy(rng.standard_normal((rows, COLUMNS), dtype=np.float32))
    step = nodes // PARTITIONS
    seconds = {
        "entry": _seconds(lambda: propagate_rows(matrix, x)) / matrix.nnz,
        "cut": _seconds(lambda: [needed_columns(matrix[t : t + step]) for t in range(0, nodes, step)])
        / matrix.nnz,
        "pair": _seconds(lambda: inner_top_k(z, None, K, largest=True)) / (rows * (rows - 1) / 2),
        "row": _seconds(_epoch(ROWS // shrink)) / (ROWS // shrink),
    }
    return seconds | {f"{name}, stated": value for name, value in STATED.items()}


def _random_rows(nodes: int, rng: np.random.Generator) -> sp.csr_matrix:
    columns = np.sort(rng.integers(nodes, size=(nodes, DEGREE), dtype=np.int32), axis=1)
    starts = np.arange(0, nodes * DEGREE + 1, DEGREE, dtype=np.int32)
    values = np.full(nodes * DEGREE, 1 / DEGREE, dtype=np.float32)
    return sp.csr_matrix((values, columns.ravel(), starts), shape=(nodes, nodes))


def _epoch(rows: int) -> Callable[[], None]:
    """Return an epoch of training a perceptron on rows in memory."""
    net = nn.Sequential(nn.Linear(INPUTS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES))
    x, y = torch.randn(rows, INPUTS), torch.randint(CLASSES, (rows,))
    optimizer = Adam([(list(net.parameters()), 0.0)], 0.003)

    def epoch() -> None:
        for part in torch.arange(rows).split(BATCH):
            optimizer.zero_grad()
            F.cross_entropy(net(x[part]), y[part]).backward()
            optimizer.step()

    return epoch


def _seconds(work: Callable[[], object]) -> float:
    """Return the fewest seconds of the processor in three runs after one that is not counted."""
    work()
    spent = []
    for _ in range(3):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


MEASURES = (
    Measure(
        "costs",
        run,
        tuple(
            Mark(f"{words} / its cost in docs/howto/cluster.md", name, f"{name}, stated", 1.5)
            for name, words in WORDS.items()
        ),
        quick=False,
    ),
)
