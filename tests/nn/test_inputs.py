"""Scaling by hand, and what of a graph the models are given."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling, node_inputs, usable_device
from otherhalf.nn.ops.sparse import SparseOperator

# Column means 2 and 10; deviations 1 and 0 (a constant column).
DENSE = np.array([[1.0, 10.0], [3.0, 10.0]], dtype=np.float32)


def test_standard_scaling_by_hand():
    scaling = Scaling.fit(DENSE, "standard")
    np.testing.assert_allclose(scaling.apply(DENSE), [[-1, 0], [1, 0]])
    # A later graph is scaled by what the fitted one had.
    np.testing.assert_allclose(scaling.apply(np.array([[5.0, 12.0]], dtype=np.float32)), [[3, 2]])


def test_standard_scaling_of_a_column_far_from_zero_is_not_lost_to_rounding():
    x = np.float32(1e4) + np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
    scaled = Scaling.fit(x, "standard").apply(x)
    np.testing.assert_allclose(scaled.ravel(), (np.arange(4) - 1.5) / np.sqrt(1.25), rtol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_row_scaling_by_hand(kind):
    # The absolute values of row 0 sum to 4; row 1 is zero and stays zero.
    x = kind(np.array([[1.0, -3.0], [0.0, 0.0]], dtype=np.float32))
    scaled = Scaling.fit(x, "row").apply(x)
    assert sp.issparse(scaled) == sp.issparse(x)
    assert scaled.dtype == np.float32
    dense = scaled.toarray() if sp.issparse(scaled) else scaled
    np.testing.assert_allclose(dense, [[0.25, -0.75], [0, 0]])


def test_none_leaves_the_features_as_they_are():
    assert Scaling.fit(DENSE, "none").apply(DENSE) is DENSE


def test_auto_standardises_dense_features_and_leaves_sparse_ones():
    assert Scaling.fit(DENSE, "auto").kind == "standard"
    assert Scaling.fit(sp.csr_matrix(DENSE), "auto").kind == "none"


def test_sparse_features_are_never_standardised_because_their_zeros_would_fill():
    scaling = Scaling.fit(sp.csr_matrix(DENSE), "standard")
    assert scaling.kind == "none"
    assert scaling.mean is None


def graph_of(x) -> Graph:
    # A path 0 – 1 – … – n−1.
    n = x.shape[0]
    return Graph(edges=np.stack([np.arange(n - 1), np.arange(1, n)]), x=x, y=np.arange(n) % 2)


def test_dense_features_and_adjacency_rows():
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=np.float32)
    inputs = node_inputs(graph_of(x), Scaling("none"))
    assert torch.equal(inputs.features, torch.from_numpy(x))
    assert inputs.neighbours.matrix.to_dense().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_dense_features_are_a_copy_of_the_graphs():
    graph = graph_of(np.ones((3, 2), dtype=np.float32))
    inputs = node_inputs(graph, Scaling("none"))
    inputs.features.zero_()
    assert (graph.x == 1).all()


def test_features_are_scaled():
    inputs = node_inputs(graph_of(DENSE), Scaling.fit(DENSE, "standard"))
    assert inputs.features.tolist() == [[-1, 0], [1, 0]]


@pytest.mark.parametrize(("filled", "sparse"), [(1, True), (2, False), (6, False)])
def test_sparse_features_stay_sparse_while_they_are_less_than_a_fifth_full(filled, sparse):
    x = np.zeros((2, 5), dtype=np.float32)
    x.flat[:filled] = 1.0  # of ten entries
    features = node_inputs(graph_of(sp.csr_matrix(x)), Scaling("none")).features
    assert isinstance(features, SparseOperator) == sparse
    dense = features.matrix.to_dense() if sparse else features
    assert torch.equal(dense, torch.from_numpy(x))


def test_adjacency_rows_of_a_grown_graph_name_the_known_nodes_alone():
    graph = graph_of(np.ones((4, 1), dtype=np.float32))
    rows = node_inputs(graph, Scaling("none"), num_known=2).neighbours
    assert rows.shape == (4, 2)
    assert rows.matrix.to_dense().tolist() == [[0, 1], [1, 0], [0, 1], [0, 0]]


def test_a_device_that_is_here():
    assert usable_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["meta", "nonsense", "cuda:99"])
def test_a_device_that_cannot_be_used_is_refused(name):
    with pytest.raises(InputError, match=f"the device '{name}' cannot be used here"):
        usable_device(name)
