r"""Features smoothed over the graph: rows of :math:`\hat{\mathbf{S}}^t\mathbf{X}`, of all nodes or of a few.

The rows of a few nodes need the features of the nodes within t steps alone. They are the same to the last bit
as the rows of all nodes: every row is summed in the same order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import torch

from otherhalf.nn.ops.products import product, to_torch
from otherhalf.nn.ops.sparse import normalized_matrix, with_loops
from otherhalf.system.arrays import FloatArray, IntArray

MOST_AROUND = 0.25
"""Share of all nodes within reach from which the rows of all nodes are computed instead."""


def smoothed_once(adjacency: sp.csr_matrix, x: FloatArray) -> FloatArray:
    r"""Return :math:`\hat{\mathbf{S}}\mathbf{X}`, with S of A with self loops."""
    matrix = to_torch(normalized_matrix(adjacency, self_loops=True))
    smoothed: FloatArray = product(matrix, torch.from_numpy(x)).numpy()
    return smoothed


def surroundings(adjacency: sp.csr_matrix, nodes: IntArray, steps: int) -> list[IntArray] | None:
    """Return the nodes within 0, 1, … ``steps`` steps, each in order; None if they are a large share."""
    reached, most = [np.unique(nodes)], MOST_AROUND * adjacency.shape[0]
    for _ in range(steps):
        reached.append(np.union1d(reached[-1], adjacency[reached[-1]].indices))
        if len(reached[-1]) > most:
            return None
    return reached


def smoothed_around(
    adjacency: sp.csr_matrix, features: Callable[[IntArray], FloatArray], reached: list[IntArray]
) -> FloatArray:
    r"""Return the rows of :math:`\hat{\mathbf{S}}^t\mathbf{X}` of the first of these sets of nodes, in order.

    Args:
        adjacency: A.
        features: Returns the rows of X of some nodes.
        reached: :func:`surroundings` within t steps.
    """
    outer, h = reached[-1], features(reached[-1])
    if len(reached) == 1:
        return h
    looped = with_loops(adjacency[outer], outer)
    root = _inverse_root(np.asarray(looped.sum(axis=1)).ravel())
    scale = np.zeros(adjacency.shape[0], dtype=np.float32)
    scale[outer] = root
    for inner, around in zip(reached[-2::-1], reached[:0:-1], strict=True):
        rows = looped[np.searchsorted(outer, inner)]
        values = np.repeat(scale[inner], np.diff(rows.indptr)) * rows.data * scale[rows.indices]
        columns = np.searchsorted(around, rows.indices)
        matrix = sp.csr_matrix((values, columns, rows.indptr), shape=(len(inner), len(around)))
        h = product(to_torch(matrix), torch.from_numpy(h)).numpy()
    return h


def _inverse_root(degree: FloatArray) -> FloatArray:
    root = np.sqrt(degree)
    return np.divide(1.0, root, out=np.zeros_like(root), where=root > 0).astype(np.float32)
