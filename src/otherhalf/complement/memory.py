"""Before an expensive step: will it fit into memory? If not, say so and stop, before anything is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from otherhalf.complement.search import BLOCK_ENTRIES
from otherhalf.errors import InputError
from otherhalf.estimators.presets import WITH_ROWS
from otherhalf.estimators.settings import Settings
from otherhalf.graph import Graph
from otherhalf.nn.inputs import DENSE_SHARE

FLOAT = 4
STATES = 8
"""Matrices of a hidden state's size that one layer keeps at once: activations, masks, gradients."""

COPIES = 5
"""Copies of a parameter: weight, gradient, Adam's two moments, the best epoch's weight."""

ENTRY = 24
"""Bytes of a sparse entry: value and column, of the matrix and its transpose, and where each came from."""

PAIR = 150
"""Bytes of a pair in the ranking loss, measured: place in a list, entries both ways, scores, gradients."""


def fit_bytes(graph: Graph, num_train: int, settings: Settings) -> int:
    """About how many bytes a fit needs beside the graph itself."""
    n, d = graph.num_nodes, graph.num_features
    encoder, goal, head = settings.complement.encoder, settings.goal, settings.complement.head
    hidden = max(encoder.shape.hidden, goal.shape.hidden)
    layers = max(encoder.shape.layers, goal.shape.layers) + 1
    rows = encoder.kind in (*WITH_ROWS, "auto") or goal.shape.trunk == "features+neighbours"
    k = max(settings.complement.k_homophily, settings.complement.k_heterophily)
    parts = {
        "features": _feature_bytes(graph),
        "edges": 2 * graph.undirected_edges.shape[1] * ENTRY * 2,
        "hidden states": n * hidden * FLOAT * layers * STATES,
        "parameters": (d + (n if rows else 0)) * hidden * FLOAT * COPIES,
        "missing half": 2 * n * k * ENTRY * 2,
        "search": 4 * BLOCK_ENTRIES * FLOAT,
        "ranking": num_train * 2 * head.ranking_k * PAIR,
    }
    return int(sum(parts.values()))


def require_memory_for_fit(graph: Graph, num_train: int, settings: Settings) -> None:
    """Refuse a fit that needs more memory than the machine has to give."""
    needed, available = fit_bytes(graph, num_train, settings), available_bytes()
    if available is not None and needed > available:
        raise InputError(
            f"the fit needs about {needed / 1e9:.1f} GB and {available / 1e9:.1f} GB are free: take fewer "
            "feature columns, a smaller k or hidden width, or encoder='gcn', which has no parameter per node"
        )


def available_bytes() -> int | None:
    """The memory that can still be had without swapping; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return None


def _feature_bytes(graph: Graph) -> int:
    cells = int(np.prod(graph.x.shape, dtype=np.int64))
    if not isinstance(graph.x, np.ndarray) and graph.x.nnz < DENSE_SHARE * cells:
        return int(graph.x.nnz) * ENTRY
    return cells * FLOAT * 3  # the features, a dropped-out copy, and its mask
