"""Estimate of the memory that a fit needs, so that a fit that needs too much does not begin."""

import numpy as np

from otherhalf.complement.choice import KEPT_KERNELS
from otherhalf.complement.descriptions import DENSE_ENTRIES, PROJECTED
from otherhalf.complement.search import BLOCK_ENTRIES
from otherhalf.complement.settings import AUTO, ComplementSettings, KernelSettings
from otherhalf.complement.walks import KEPT
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import DENSE_SHARE
from otherhalf.nn.models.registry import MODELS
from otherhalf.system.memory import available_bytes
from otherhalf.system.relations import RelationGroups

FLOAT = 4
STATES = 8
"""Matrices of the size of a hidden state that one layer keeps: activations, masks, gradients."""

COPIES = 5
"""Copies of a parameter: weight, gradient, two moments of Adam, weight of the best epoch."""

ENTRY = 24
"""Bytes of a sparse entry: value and column in the matrix and in its transpose, and its position there."""

SMOOTHED = 6
"""Dense copies of the features: as they are, and smoothed in five ways. Each relation has one more."""

PAIR = 150
"""Bytes of a pair in the ranking loss, measured: position in a list, two entries, scores, gradients."""


def fit_bytes(
    graph: Graph, num_train: int, settings: ComplementSettings, classifier: Architecture | None = None
) -> int:
    """Return about how many bytes a fit needs in addition to the graph.

    Args:
        graph: The graph.
        num_train: Number of training nodes.
        settings: Encoder, head and search.
        classifier: Architecture of the classifier over both halves, if there is one.
    """
    n, d = graph.num_nodes, graph.num_features
    encoder, head = settings.encoder, settings.head
    models = [encoder.architecture, *([] if classifier is None else [classifier])]
    hidden = max(model.hidden for model in models)
    layers = max(model.layers for model in models) + 1
    spec = MODELS.get(encoder.kind)
    rows = encoder.kind == AUTO or (spec is not None and spec.reads_adjacency_rows)
    rows = rows or any(model.trunk == "features+neighbours" for model in models)
    k = max(settings.k_homophily, settings.k_heterophily)
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


def kernel_bytes(graph: Graph, num_train: int, settings: KernelSettings) -> int:
    """Return about how many bytes the missing half by leave-one-out needs in addition to the graph."""
    n, d = graph.num_nodes, graph.num_features
    anchors = num_train if num_train <= settings.exact else settings.landmarks
    candidates = min(num_train, max(settings.max_candidates, anchors))
    # The kernel among the anchors, its factor and its inverse; landmarks: the kernel to all training nodes.
    solve = 4 * anchors**2 if num_train <= settings.exact else 3 * num_train * anchors
    sampled, apart = min(num_train, settings.nodes), len(RelationGroups.of(graph.relations).names)
    parts = {
        "descriptions": min(n * d, max(DENSE_ENTRIES, n * PROJECTED)) * FLOAT * (SMOOTHED + apart),
        "walks": (3 + apart) * n * KEPT * ENTRY,
        "choice": (3 * KEPT_KERNELS + 8) * sampled**2 * FLOAT,
        "regression": solve * FLOAT,
        "blocks": 4 * max(BLOCK_ENTRIES, candidates) * FLOAT,
        "edges": 2 * graph.undirected_edges.shape[1] * ENTRY * 4,
        "missing half": 2 * n * settings.k * ENTRY * 2,
    }
    return int(sum(parts.values()))


def check_memory(needed: int) -> None:
    """Raise InputError if a fit needs more memory than this process can still allocate."""
    available = available_bytes()
    if needed > available:
        raise InputError(
            f"the fit needs about {needed / 1e9:.1f} GB and {available / 1e9:.1f} GB are free: take fewer "
            "feature columns, a smaller k or hidden width, or encoder='gcn', which has no parameter per node"
        )


def _feature_bytes(graph: Graph) -> int:
    cells = int(np.prod(graph.x.shape, dtype=np.int64))
    if not isinstance(graph.x, np.ndarray) and graph.x.nnz < DENSE_SHARE * cells:
        return int(graph.x.nnz) * ENTRY
    return cells * FLOAT * 3  # the features, a dropped-out copy, and its mask
