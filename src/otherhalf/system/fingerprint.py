"""The hash of a graph: two graphs with the same hash give the same results, but for their labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.system.arrays import sha256_of

if TYPE_CHECKING:
    from otherhalf.graph import Graph

HASHED_ROWS = 4096
"""Number of rows of the features that are hashed at a time, so that dense ones need no sparse copy. Another
number would give other hashes."""


def unlabelled_fingerprint(graph: Graph) -> str:
    """Return the hash of edges, direction and features, and of whether these are encoded columns.

    It depends on the values, not on their storage: dense and sparse features have the same hash. What most
    graphs do not have is hashed only where it is there, so that the others keep their hash.
    """
    return sha256_of(_parts(graph))


def _parts(graph: Graph) -> Iterator[npt.NDArray[Any]]:
    yield graph.edges
    yield np.array([graph.directed, *graph.x.shape])
    if graph.weights is not None:
        yield graph.weights
    if graph.relations is not None and len(graph.relations.names) > 1:
        yield from graph.relations.arrays().values()
    if graph.encoded:  # a fit does not scale them again
        yield np.array("encoded")
    for start in range(0, graph.num_nodes, HASHED_ROWS):
        rows = sp.csr_matrix(graph.x[start : start + HASHED_ROWS])
        yield from (rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64))
