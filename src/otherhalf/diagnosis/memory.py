"""The memory that a diagnosis needs in addition to the graph: formulas with measured constants."""

from __future__ import annotations

import scipy.sparse as sp

from otherhalf.graph import Graph
from otherhalf.system.need import Need, Part, Stage

EDGE = 85
"""Bytes of an undirected edge: the adjacency matrix, and what making it or comparing labels takes."""

COMPARED = 40
"""Bytes of an edge in the sample whose cosines are computed."""

NODE = 120
"""Bytes of a node: norms, hashes, and the first of the nodes that are identical to it."""

BLOCKS = 20e6
"""Bytes of blocks and distributions, on any graph."""

FEWER_EDGES, FEWER_COLUMNS, FEWER_NODES = "take fewer edges", "take fewer feature columns", "take fewer nodes"


def diagnosis_need(graph: Graph, compared: int) -> Need:
    """Return what a diagnosis needs.

    Args:
        graph: The graph.
        compared: Number of edges whose cosines are computed.
    """
    n, edges = graph.num_nodes, graph.num_edges
    copies = 0 if sp.issparse(graph.x) else 4 * n * graph.num_features
    parts = (
        Part("the edges", edges * EDGE + compared * COMPARED, FEWER_EDGES),
        Part("the features without units", copies, FEWER_COLUMNS),
        Part("the nodes", n * NODE + BLOCKS, FEWER_NODES),
    )
    return Need((Stage("the comparison of nodes", parts),), "the diagnosis")
