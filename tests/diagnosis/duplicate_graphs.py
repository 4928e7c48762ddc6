"""Graphs with identical nodes, and the literal definition of identical."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from otherhalf.graph import Graph, Split

UNDIRECTED = ["neighbours", "features", "neighbours_and_features"]


def star(directed=False) -> Graph:
    """Node 0 points to 2, 3, 4 and 5, node 1 to 4; node 6 is alone.

    Without direction 2, 3 and 5 have the one neighbour 0, and 4 has 0 and 1. The features of 2, 3 and 4 are
    equal, those of 5 and 6 are all zero.
    """
    return Graph(
        edges=[[0, 0, 0, 0, 1], [2, 3, 4, 5, 4]],
        x=[[1, 0], [0, 1], [2, 5], [2, 5], [2, 5], [0, 0], [0, 0]],
        y=[0, 0, 1, 1, 0, 1, 0],
        directed=directed,
    )


def literal(graph: Graph, kind: str) -> list[int]:
    """Return the first identical node, node by node."""
    neighbours = [set() for _ in range(graph.num_nodes)]
    for source, target in graph.edges.T:
        neighbours[source].add(target)
        if kind != "out_neighbours":
            neighbours[target].add(source)
    x = graph.x.toarray() if sp.issparse(graph.x) else graph.x
    features = [tuple(row) if any(row) else () for row in x.tolist()]
    parts = {"features": [features], "neighbours_and_features": [neighbours, features]}.get(
        kind, [neighbours]
    )
    own = [tuple(part[node] for part in parts) for node in range(graph.num_nodes)]
    return [own.index(values) if all(values) else -1 for values in own]


@st.composite
def small_graphs(draw):
    """Few nodes, few different neighbours and feature values: many nodes are identical."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, classes = draw(st.integers(3, 14)), draw(st.integers(2, 3))
    edges = np.stack([rng.integers(0, 3, size=2 * n), rng.integers(0, n, size=2 * n)])
    edges = np.concatenate([edges[::-1], [[0], [1]]], axis=1)
    x = rng.choice(np.array([0.0, -0.0, 1.0, 2.0, -1.0]), size=(n, draw(st.integers(1, 3))))
    graph = Graph(
        edges=edges,
        x=sp.csr_matrix(x) if draw(st.booleans()) else x,
        y=rng.integers(-1, classes, size=n),
        classes=np.arange(classes),
        directed=draw(st.booleans()),
    )
    part = rng.integers(0, 3, size=n)
    return graph, Split(*(np.flatnonzero(part == p) for p in range(3)))
