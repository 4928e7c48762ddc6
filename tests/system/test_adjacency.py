import numpy as np

from otherhalf.system.adjacency import one_way_adjacency, pattern


def test_edges_without_a_value_are_left_out():
    matrix = one_way_adjacency(np.array([[0, 1, 2], [1, 2, 0]]), np.array([2.0, 0.0, 3.0], np.float32), 3)
    assert matrix.nnz == 2
    assert matrix.toarray().tolist() == [[0, 2, 0], [0, 0, 0], [3, 0, 0]]
    assert pattern(matrix).toarray().tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
