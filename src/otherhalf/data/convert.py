"""Graphs from matrices of scipy, and the names of all converters; each of the others has its own file."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from otherhalf.data.convert_networkx import from_networkx
from otherhalf.data.convert_pyg import from_pyg, to_pyg
from otherhalf.data.from_frames import from_frames
from otherhalf.data.two_directions import differing, without_reverses
from otherhalf.errors import InputError
from otherhalf.graph import Graph

__all__ = ["from_frames", "from_networkx", "from_pyg", "from_scipy", "to_pyg"]


def from_scipy(
    adjacency: Any,
    x: Any,
    y: Any = None,
    *,
    directed: bool | None = None,
    ids: Any = None,
    classes: Any = None,
    name: str = "",
    weight: bool = True,
) -> Graph:
    """Return the graph of an adjacency matrix, features and labels.

    Args:
        adjacency: ``[N, N]``, scipy sparse or dense; every entry other than 0 is an edge from its row to its
            column. If they differ, the entries are the weights of the edges.
        x: ``[N, D]`` features, dense or scipy sparse.
        y: ``[N]`` labels, as for :class:`~otherhalf.graph.Graph`.
        directed: Whether to keep the direction of the edges. ``None`` keeps it if some edge has no reverse,
            or one with another weight.
        ids: Names of the nodes.
        classes: Label that each code of ``y`` stands for.
        name: Name of the graph.
        weight: Whether entries that differ are weights.
    """
    matrix = adjacency if sp.issparse(adjacency) else np.asarray(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"the adjacency has the shape {tuple(matrix.shape)}: "
            "give a square matrix, with a row and a column per node"
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"the adjacency is {matrix.dtype}: give numbers or truth values")
    n = int(matrix.shape[0])
    rows = x.shape[0] if sp.issparse(x) else len(np.atleast_1d(x))
    if rows != n:
        raise InputError(f"the adjacency has {n} nodes and x has {rows} rows: give one row of x per node")
    entries = sp.coo_matrix(matrix)
    finite = np.isfinite(entries.data)
    if not finite.all():
        at = int(np.argmin(finite))
        raise InputError(
            f"the adjacency is {entries.data[at]} at ({entries.row[at]}, {entries.col[at]}): "
            "give a number, 0 for no edge"
        )
    nonzero = entries.data != 0
    weights = differing(entries.data[nonzero]) if weight else None
    if weights is not None and weights.min() < 0:
        at = int(np.argmax(entries.data < 0))
        raise InputError(
            f"the adjacency is {entries.data[at]} at ({entries.row[at]}, {entries.col[at]}): give positive "
            "weights, or ignore them with weight=False"
        )
    source, target = entries.row[nonzero], entries.col[nonzero]
    kept, directed = without_reverses(source, target, n, directed, weights=weights)
    return Graph(
        edges=np.stack([source, target])[:, kept],
        x=x,
        y=y,
        directed=directed,
        ids=ids,
        classes=classes,
        name=name,
        weights=weights if weights is None else weights[kept],
    )
