"""What descriptions learn from the fitted graph, by hand, and its way through a file."""

import numpy as np
import pytest
import scipy.sparse as sp

from otherhalf.complement.basis import Basis
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling

# 0 → 1 → 2, 0 → 2, 3 → 2; node 4 alone. All nodes but 4 have feature 0; 0 and 2 have feature 1, 3 has 2.
EDGES = np.array([[0, 1, 0, 3], [1, 2, 2, 2]])
X = np.array([[1, 1, 0], [2, 0, 0], [1, 3, 0], [1, 0, 1], [0, 0, 0]], dtype=np.float32)


def graph_of(*, sparse: bool = True, directed: bool = False) -> Graph:
    return Graph(edges=EDGES, x=sp.csr_matrix(X) if sparse else X, directed=directed)


def rarity(counts) -> np.ndarray:
    """log((N + 1) / (n + 1)) with N = 5 nodes."""
    return np.log(6 / (np.asarray(counts) + 1))


def test_rarities_by_hand():
    basis = Basis.of(graph_of(), Scaling("none"))
    assert basis.num_known == 5
    np.testing.assert_allclose(basis.feature_rarity, rarity([4, 2, 1]), rtol=1e-6)
    np.testing.assert_allclose(basis.node_rarity, [rarity([2, 2, 3, 1, 0])], rtol=1e-6)


def test_rarities_of_a_directed_graph_by_hand():
    basis = Basis.of(graph_of(directed=True), Scaling("none"))
    # As a target a node is as rare as it has few edges into it, as a source as it has few out of it.
    expected = [rarity([2, 2, 3, 1, 0]), rarity([0, 1, 3, 0, 0]), rarity([2, 1, 0, 1, 0])]
    np.testing.assert_allclose(basis.node_rarity, expected, rtol=1e-6)


def test_dense_features_have_no_rarity():
    assert Basis.of(graph_of(sparse=False), Scaling("none")).feature_rarity.shape == (0,)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_basis_comes_back_from_its_tensors(sparse, directed):
    basis = Basis.of(graph_of(sparse=sparse, directed=directed), Scaling("row"))
    tensors = {"another": None, **basis.tensors()}
    again = Basis.from_tensors(5, Scaling("row"), tensors)
    assert (again.num_known, again.scaling) == (5, Scaling("row"))
    for name in ("feature_rarity", "node_rarity"):
        np.testing.assert_array_equal(getattr(again, name), getattr(basis, name))
        assert getattr(again, name).dtype == np.float32
