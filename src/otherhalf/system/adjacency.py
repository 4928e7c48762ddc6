"""Adjacency matrices of edges."""

import numpy as np
import scipy.sparse as sp

from otherhalf.system.arrays import FloatArray, IntArray


def pattern(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Return the matrix with 1 in place of every entry."""
    ones = np.ones(len(matrix.data), dtype=np.float32)
    return sp.csr_matrix((ones, matrix.indices, matrix.indptr), shape=matrix.shape)


def symmetric_adjacency(pairs: IntArray, num_nodes: int) -> sp.csr_matrix:
    """Return the symmetric 0/1 matrix with entries (i, j) and (j, i) for every column (i, j) of ``pairs``.

    Repeated pairs, in either order, give one edge, and pairs (i, i) none: the graph is simple.
    """
    keep = pairs[0] != pairs[1]
    source, target = pairs[0][keep], pairs[1][keep]
    rows, cols = np.concatenate([source, target]), np.concatenate([target, source])
    ones = np.ones(len(rows), dtype=np.float32)
    matrix = sp.csr_matrix((ones, (rows, cols)), shape=(num_nodes, num_nodes))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def one_way_adjacency(edges: IntArray, values: FloatArray, num_nodes: int) -> sp.csr_matrix:
    """Return the matrix with these values at (source, target); an edge whose value is 0 is left out."""
    present = values != 0
    source, target = edges[:, present]
    return sp.csr_matrix((values[present], (source, target)), shape=(num_nodes, num_nodes))
