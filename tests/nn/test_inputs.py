"""Scaling by hand, and features as models read them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.inputs import SCALINGS, NodeInputs, Scaling, feature_matrix
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


def test_sparse_features_cannot_be_standardised_because_their_zeros_would_fill():
    with pytest.raises(InputError) as caught:
        Scaling.fit(sp.csr_matrix(DENSE), "standard")
    assert str(caught.value) == (
        "scaling='standard' would make the sparse features dense: "
        "choose none, row or auto, or give dense features"
    )


@pytest.mark.parametrize("kind", SCALINGS)
def test_what_was_learned_goes_to_tensors_and_back(kind):
    scaling = Scaling.fit(DENSE, kind)
    tensors = scaling.tensors()
    assert set(tensors) == ({"scaling/mean", "scaling/deviation"} if kind in ("standard", "auto") else set())
    again = Scaling.from_tensors(scaling.kind, {**tensors, "model/weight": torch.ones(1)})
    assert again.kind == scaling.kind
    np.testing.assert_array_equal(again.apply(DENSE), scaling.apply(DENSE))


# ---------------------------------------------------------------------- features as models read them


def test_dense_features_are_a_copy():
    x = np.ones((3, 2))
    features = feature_matrix(x)
    assert features.dtype == torch.float32
    features.zero_()
    assert (x == 1).all()


@pytest.mark.parametrize(("filled", "sparse"), [(1, True), (2, False), (6, False)])
def test_sparse_features_stay_sparse_while_they_are_less_than_a_fifth_full(filled, sparse):
    x = np.zeros((2, 5), dtype=np.float32)
    x.flat[:filled] = 1.0  # of ten entries
    features = feature_matrix(sp.csr_matrix(x))
    assert isinstance(features, SparseOperator) == sparse
    dense = features.matrix.to_dense() if sparse else features
    assert torch.equal(dense, torch.from_numpy(x))


# ---------------------------------------------------------------------- on a device


@pytest.mark.parametrize("x", [DENSE, sp.csr_matrix((4, 40), dtype=np.float32)], ids=["dense", "sparse"])
def test_inputs_move_with_their_rows(x):
    inputs = NodeInputs(feature_matrix(x), SparseOperator.from_scipy(sp.identity(x.shape[0])))
    assert inputs.to("cpu").neighbours is inputs.neighbours  # nothing is copied
    moved = inputs.to("meta")
    for part in (moved.features, moved.neighbours):
        assert (part.matrix if isinstance(part, SparseOperator) else part).device.type == "meta"
    assert NodeInputs(inputs.features).to("meta").neighbours is None


def test_labels_are_shown_and_hidden_by_node():
    labels = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    inputs = NodeInputs(torch.ones(3, 1)).showing(labels)
    hidden = inputs.hiding(torch.tensor([1]))
    assert hidden.labels.tolist() == [[1, 0], [0, 0], [0, 1]]
    assert inputs.labels.tolist() == labels.tolist()  # the inputs stay as they were
    assert hidden.to("cpu").labels.tolist() == hidden.labels.tolist()
    without = NodeInputs(torch.ones(3, 1))
    assert without.hiding(torch.tensor([1])) is without


def test_encoded_columns_keep_their_scale():
    cells = pd.DataFrame({"id": range(50), "rare": [True] + [False] * 49, "size": np.linspace(0, 1, 50)})
    graph = Graph.from_frames(cells, {"source": [0], "target": [1]}, notes=[])
    assert Scaling.of(graph, "auto").kind == "none"
    assert Scaling.of(graph, "standard").kind == "standard"
    numbers = Graph.from_frames(cells, {"source": [0], "target": [1]}, encode=False, notes=[])
    assert Scaling.of(numbers, "auto").kind == "standard"


def test_a_deviation_that_float32_cannot_hold():
    x = np.array([[0.0], [0.0], [1e-45]], dtype=np.float32)
    assert x.std(dtype=np.float64) > 0
    scaled = Scaling.fit(x, "standard").apply(x)
    assert np.isfinite(scaled).all()
    assert np.abs(scaled).max() < 1e-30


@pytest.mark.parametrize("dense", [False, True])
def test_the_inputs_of_some_nodes_are_their_rows(dense):
    rng = np.random.default_rng(0)
    x = sp.random(30, 12, 0.1, "csr", np.float32, rng)
    neighbours = SparseOperator.from_scipy(sp.random(30, 30, 0.2, "csr", np.float32, rng))
    labels = torch.eye(30)[:, :4]
    features = torch.from_numpy(x.toarray()) if dense else SparseOperator.from_scipy(x)
    nodes = torch.tensor([7, 0, 29, 7])
    chosen = NodeInputs(features, neighbours, labels).rows(nodes)
    found = chosen.features if dense else chosen.features.matrix.to_dense()
    assert torch.equal(found, torch.from_numpy(x.toarray())[nodes])
    assert torch.equal(chosen.neighbours.matrix.to_dense(), neighbours.matrix.to_dense()[nodes])
    assert torch.equal(chosen.labels, labels[nodes])
    alone = NodeInputs(features).rows(nodes)
    assert alone.neighbours is None
    assert alone.labels is None
