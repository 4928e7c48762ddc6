"""The memory of a model in training: bytes in addition to the graph, by formulas with measured constants.

``benchmarks/memory.py`` compares them with what fits take. They hold for the processes of the command line,
which keep small matrices for their next use (:func:`~otherhalf.system.process.keep_freed_memory`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from otherhalf.graph import Graph
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import DENSE_SHARE
from otherhalf.system.need import Part
from otherhalf.system.relations import RelationGroups

FLOAT = 4
"""Bytes of a number in single precision."""

BUFFERS = 30e6
"""Bytes that libraries take at their first use, on any graph."""

DENSE_COPIES = 4
"""Copies of dense features: scaled, as a tensor, with dropout, and the mask of the dropout."""

FEATURE_ENTRY = 40
"""Bytes of an entry of sparse features: value and column in the matrix and in its transpose, the position
there, and both values after dropout."""

EDGE_ENTRY = 55
"""Bytes of an entry of the adjacency matrix: the matrix, its rows as inputs with their transpose, one
normalised matrix, and what making them leaves."""

OPERATOR_ENTRY = {"mean": 25, "mean_with_loops": 25, "neighbourhoods": 10}
"""Bytes of an entry that operators take beyond a normalised matrix: a transpose, or reversed positions."""

COPIES = 7
"""Copies of a parameter: weight, gradient, two moments of Adam, the weights of the best epoch and those that
replace them, and the initial ones."""

FEWER_COLUMNS, FEWER_EDGES = "take fewer feature columns", "take fewer edges"
NARROWER = "give a smaller hidden or fewer layers"
FEWER_CLASSES = "merge rare classes"
FREE_SOME = "end other programs"


@dataclass(frozen=True)
class Sizes:
    """What the memory of a fit depends on.

    Attributes:
        nodes: N.
        edges: Undirected edges.
        features: D.
        classes: C.
        train: Training nodes.
        entries: Entries of features that models read as a sparse matrix; None for dense ones.
        relations: Relations with columns and descriptions of their own.
        directed: Whether edges have a direction.
    """

    nodes: int
    edges: int
    features: int
    classes: int
    train: int
    entries: int | None = None
    relations: int = 0
    directed: bool = False

    @classmethod
    def of(cls, graph: Graph, num_train: int) -> Sizes:
        """Return the sizes of a fit of this graph."""
        entries, cells = getattr(graph.x, "nnz", None), float(np.prod(graph.x.shape, dtype=float))
        if entries is not None and entries >= DENSE_SHARE * cells:
            entries = None
        return cls(
            graph.num_nodes,
            graph.undirected_edges.shape[1],
            graph.num_features,
            graph.num_classes,
            num_train,
            entries,
            len(RelationGroups.of(graph.relations).names),
            graph.directed,
        )

    @property
    def edge_entries(self) -> int:
        """Entries of the adjacency matrix."""
        return 2 * self.edges


@dataclass(frozen=True)
class Footprint:
    """What a model holds while it is trained; the numbers of matrices are measured.

    Attributes:
        first: Matrices ``[N, hidden]`` on top of those of each hidden state.
        each: Matrices ``[N, hidden]`` of each hidden state: activations, copies with dropout, gradients.
        logits: Matrices ``[N, C]``.
        maps: Linear maps of the input of a layer.
        edge_values: Numbers that a layer holds for every entry of the adjacency matrix.
        each_step: More of ``each`` for every step of the option ``steps``.
        maps_step: More maps for every step.
        logits_step: More of ``logits`` for every step.
    """

    first: float = 2
    each: float = 7.5
    logits: float = 4
    maps: int = 1
    edge_values: int = 0
    each_step: float = 0
    maps_step: int = 0
    logits_step: float = 0


def graph_bytes(graph: Graph) -> int:
    """Return how many bytes the features and edges of a graph take."""
    x = graph.x
    arrays = (x,) if isinstance(x, np.ndarray) else (x.data, x.indices, x.indptr)
    return int(sum(each.nbytes for each in (*arrays, graph.edges, graph.undirected_edges)))


def input_parts(sizes: Sizes, operators: Iterable[str] = ()) -> tuple[Part, ...]:
    """Return what every model of a graph holds: the features, the edges and the buffers of libraries."""
    entry = EDGE_ENTRY + sum(OPERATOR_ENTRY.get(name, 0) for name in operators)
    if sizes.entries is None:
        features = sizes.nodes * sizes.features * FLOAT * DENSE_COPIES
    else:
        features = sizes.entries * FEATURE_ENTRY
    return (
        Part("the features", features, FEWER_COLUMNS),
        Part("the edges", sizes.edge_entries * entry, FEWER_EDGES),
        Part("the buffers of libraries", BUFFERS, FREE_SOME),
    )


def model_parts(
    sizes: Sizes,
    footprint: Footprint,
    architecture: Architecture,
    options: Mapping[str, Any],
    *,
    row_maps: int = 0,
    fix: str = NARROWER,
) -> tuple[Part, ...]:
    """Return what one model holds in addition to its inputs.

    Args:
        sizes: The graph.
        footprint: The numbers of the model.
        architecture: Width and number of layers.
        options: Options of the model.
        row_maps: Number of maps with a parameter row for every node.
        fix: What makes hidden states and parameters smaller.
    """
    n, hidden, steps = sizes.nodes, architecture.hidden, int(options.get("steps", 0))
    trunk = architecture.trunk != "none"
    states = trunk + architecture.layers - (architecture.output == "layer")
    matrices = footprint.first + (footprint.each + steps * footprint.each_step) * states
    logits = footprint.logits + steps * footprint.logits_step
    attention = sizes.edge_entries * footprint.edge_values * FLOAT * (architecture.layers + 1)
    parameters = count_parameters(sizes, footprint, architecture, options, row_maps=row_maps)
    return (
        Part("the hidden states", n * hidden * FLOAT * matrices, fix),
        Part("the logits", n * sizes.classes * FLOAT * logits, FEWER_CLASSES),
        Part("the attention", attention, fix),
        Part("the parameters", parameters * FLOAT * COPIES, fix),
    )


def count_parameters(
    sizes: Sizes,
    footprint: Footprint,
    architecture: Architecture,
    options: Mapping[str, Any],
    *,
    row_maps: int = 0,
) -> int:
    """Return about how many parameters a model has; the arguments are those of :func:`model_parts`."""
    hidden, steps = architecture.hidden, int(options.get("steps", 0))
    maps = footprint.maps + steps * footprint.maps_step + architecture.residual
    if architecture.trunk == "none":
        widths = (architecture.layers - 1) * hidden + sizes.features  # the first layer reads the features
        return (maps * widths + row_maps * sizes.nodes) * hidden
    return (maps * architecture.layers * hidden + sizes.features + row_maps * sizes.nodes) * hidden
