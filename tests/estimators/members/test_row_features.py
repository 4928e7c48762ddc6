"""Features of rows: as models read them, or projected where there are many columns."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from otherhalf import Graph
from otherhalf.estimators.members import row_features
from otherhalf.estimators.members.row_features import RowFeatures
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.magnitudes import MagnitudeScaling
from otherhalf.nn.prepared import PreparedGraph

DRAW = np.random.default_rng(0)
SPARSE = sp.random(30, 20, 0.2, "csr", np.float32, random_state=0)
EDGES = DRAW.integers(0, 30, (2, 60))


@pytest.mark.parametrize("x", [SPARSE, SPARSE.toarray()], ids=["sparse", "dense"])
def test_few_columns_are_the_inputs_of_other_models(x):
    graph = Graph(EDGES, x)
    scaling = Scaling.of(graph, "auto")
    magnitudes = MagnitudeScaling.fit(scaling.apply(graph.x), graph.adjacency)
    features = RowFeatures.fit(graph, scaling, magnitudes, 0)
    inputs = PreparedGraph(graph, scaling, magnitudes=magnitudes).inputs.features
    expected = inputs if isinstance(inputs, torch.Tensor) else inputs.matrix.to_dense()
    assert np.array_equal(features.of(graph), expected.numpy())
    assert features.width(20) == 22
    assert features.tensors() == {}


def test_many_columns_are_projected_and_any_rows_are_the_same(monkeypatch):
    monkeypatch.setattr(row_features, "WIDEST", 10)
    monkeypatch.setattr(row_features, "PROJECTED", 6)
    graph = Graph(EDGES, SPARSE)
    features = RowFeatures.fit(graph, Scaling.of(graph, "none"), None, 0)
    rows, nodes = features.of(graph), np.array([5, 29, 0])
    assert rows.shape == (30, 6)
    assert features.width(20) == 6
    assert np.array_equal(features.of(graph, nodes), rows[nodes])
    # The best plane of six dimensions: no other keeps more of the features.
    kept = np.linalg.svd(SPARSE.toarray(), compute_uv=False)[:6]
    assert np.allclose((rows**2).sum(), (kept**2).sum(), rtol=1e-3)
    again = RowFeatures.from_tensors(Scaling("none"), None, features.tensors())
    assert np.array_equal(again.of(graph), rows)


def test_a_damaged_projection_is_refused():
    with pytest.raises(ValueError, match="no matrix"):
        RowFeatures.from_tensors(Scaling("none"), None, {"rows/projection": torch.zeros(3)})
