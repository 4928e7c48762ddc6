"""The half by leave-one-out from ten thousand nodes to a million: growth of its stages; its bare product."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch

from benchmarks.measure import Mark, Measure, Setting, alternate
from otherhalf.complement.basis import Basis
from otherhalf.complement.choice import choose_kernels
from otherhalf.complement.descriptions import Descriptions
from otherhalf.complement.kernel_half import fit_kernels, spread_over
from otherhalf.complement.kernels import Kernel, Similarities
from otherhalf.complement.settings import KernelSettings
from otherhalf.complement.walks import ENDS, walk_rows
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.ops.dense import dense_product
from otherhalf.system.process import peak_memory_mb, reset_peak_memory
from otherhalf.training.supervised import Supervision

SIZES, QUICK_SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000), (4_000, 12_000)
DEGREE, FEATURES, CLASSES = 20, 64, 7
QUICK = KernelSettings(exact=1_000, landmarks=300, max_candidates=1_000, nodes=300, steps=5)
WALKED = 2_000
"""Nodes per 100,000 to walk from: to walk from all of them takes longer than anything else."""

NAMES = ("features", "smoothed_2", "two_steps", "pagerank")
KERNELS = tuple(Kernel(name, 0.25, 2.0, 0.3, 0.2) for name in NAMES)
"""The mixture of every size, so that the sizes can be compared: chosen ones differ."""

GROWTH = 1.1
"""Most slope of the logarithms of time or memory and nodes."""

STAGES = {
    "choice": "the choice of kernels",
    "walks": "walks from one node in fifty",
    "regression": "the regression",
    "half": "scores and half of all nodes",
    "memory": "memory of them all",
}


def graph_of(nodes: int) -> Graph:
    """Return a graph with ten edges for each node."""
    return contextual_sbm(
        nodes, num_classes=CLASSES, num_features=FEATURES, average_degree=DEGREE, homophily=0.3, seed=0
    )


def growth(setting: Setting) -> dict[str, float]:
    """Return the figures of every stage at every size, and their slopes."""
    sizes = QUICK_SIZES if setting.quick else SIZES
    measured = [_stages(nodes, setting) for nodes in sizes]
    figures = {f"{name}_{n}": each[name] for n, each in zip(sizes, measured, strict=True) for name in STAGES}
    for name in STAGES:
        values = [max(each[name], 1e-9) for each in measured]
        figures[f"slope_{name}"] = float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
    return figures


def _stages(nodes: int, setting: Setting) -> dict[str, float]:
    graph, chosen = graph_of(nodes), QUICK if setting.quick else KernelSettings()
    parts, figures = split(graph, "uniform", seed=0), {}
    graph.adjacency  # noqa: B018  # it belongs to the graph
    reset_peak_memory()
    start = peak_memory_mb()
    basis = Basis.of(graph, Scaling.of(graph, "auto"))
    with _seconds(figures, "choice", setting):
        choose_kernels(Descriptions(graph, basis), chosen, Supervision(parts))
    with _seconds(figures, "walks", setting):
        walk_rows(graph.adjacency, tuple(ENDS), only=np.arange(0, nodes, 100_000 // WALKED))
    descriptions = Descriptions(graph, basis, names=[kernel.description for kernel in KERNELS])
    with _seconds(figures, "regression", setting):
        spread = fit_kernels(descriptions, KERNELS, 0.3, chosen, parts.train, 0)
    with _seconds(figures, "half", setting):
        spread_over(spread, descriptions, "homophily", chosen.k)
    figures["memory"] = peak_memory_mb() - start
    return figures


@contextmanager
def _seconds(figures: dict[str, float], name: str, setting: Setting) -> Iterator[None]:
    clock = time.process_time if setting.threads == 1 else time.perf_counter
    start = clock()
    yield
    figures[name] = clock() - start


def product(setting: Setting) -> dict[str, float]:
    """Return the seconds of one kernel between 4,000 nodes and as many anchors, and of its bare product."""
    graph = graph_of(10_000)
    basis = Basis.of(graph, Scaling.of(graph, "auto"))
    anchors, nodes = np.arange(4_000), np.arange(4_000, 8_000)
    cases: dict[str, Callable[[], object]] = {}
    for name in ("smoothed_1", "two_steps"):
        descriptions = Descriptions(graph, basis, names=[name])
        fixed = Similarities((Kernel(name, 1.0, 2.0, 0.3, 0.2),), descriptions, anchors)
        cases[name] = lambda fixed=fixed: fixed.block(nodes)
    unit = torch.from_numpy(np.array(Descriptions(graph, basis).rows("smoothed_1")))
    cases["product"] = lambda: dense_product(unit[nodes], unit[anchors].T)
    return alternate(cases, setting)


MEASURES = (
    Measure(
        "spread",
        growth,
        tuple(
            Mark(f"growth of {words}, 5k → 20k or 10k → 1M nodes", f"slope_{name}", limit=GROWTH)
            for name, words in STAGES.items()
        ),
    ),
    Measure(
        "spread_kernel",
        product,
        (
            Mark("a kernel of dense rows, 4,000 × 4,000 / its bare product", "smoothed_1", "product", 3.0),
            Mark("a kernel of walks, 4,000 × 4,000 / the product of dense rows", "two_steps", "product", 8.0),
        ),
    ),
)
