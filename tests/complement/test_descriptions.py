"""Descriptions of nodes against dense formulas: small graphs, with and without direction, and grown ones."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement import descriptions as module
from otherhalf.complement.descriptions import DESCRIPTIONS, MAGNITUDE_WORDS, Basis, Descriptions
from otherhalf.complement.walks import walk_rows
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.magnitudes import MAGNITUDES

# 0 → 1 → 2, 0 → 2, 3 → 2; node 4 alone. All nodes but 4 have feature 0; 0 and 2 have feature 1, 3 has 2.
EDGES = np.array([[0, 1, 0, 3], [1, 2, 2, 2]])
X = np.array([[1, 1, 0], [2, 0, 0], [1, 3, 0], [1, 0, 1], [0, 0, 0]], dtype=np.float32)
N = len(X)
A = np.zeros((N, N))
A[EDGES[0], EDGES[1]] = 1
UNDIRECTED = A + A.T


def graph_of(*, sparse: bool = True, directed: bool = False, x=X, edges=EDGES) -> Graph:
    return Graph(edges=edges, x=sp.csr_matrix(x) if sparse else x, directed=directed)


def described(graph: Graph, kind: str = "none") -> Descriptions:
    return Descriptions(graph, Basis.of(graph, Scaling.fit(graph.x, kind)))


def unit(rows: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows, dtype=np.float64), where=norms > 0)


def dense(rows) -> np.ndarray:
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def rarity(counts) -> np.ndarray:
    """log((N + 1) / (n + 1)) with N = 5 nodes."""
    return np.log(6 / (np.asarray(counts) + 1))


# ---------------------------------------------------------------------- what is learned from the fitted graph


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


# ---------------------------------------------------------------------- every description


def expected_rows(x: np.ndarray, sparse: bool) -> dict[str, np.ndarray]:
    """Every description before its rows become unit rows, in float64."""
    weighted = x * rarity((x != 0).sum(axis=0)) if sparse else x
    looped = UNDIRECTED + np.eye(N)
    root = np.diag(looped.sum(axis=1) ** -0.5)
    s = root @ looped @ root
    mean = UNDIRECTED / np.maximum(UNDIRECTED.sum(axis=1, keepdims=True), 1)
    pagerank = sum(0.15 * 0.85**t * np.linalg.matrix_power(s, t) for t in range(11))
    return {
        "features": x,
        "rare_features": weighted,
        "neighbours_features": mean @ weighted,
        "smoothed_1": s @ weighted,
        "smoothed_2": s @ s @ weighted,
        "smoothed_4": np.linalg.matrix_power(s, 4) @ weighted,
        "contrast": weighted - mean @ weighted,
        "neighbours": UNDIRECTED,
        "rare_neighbours": UNDIRECTED * rarity([2, 2, 3, 1, 0]),
        "targets": A,
        "rare_targets": A * rarity([0, 1, 3, 0, 0]),
        "sources": A.T,
        "rare_sources": A.T * rarity([2, 1, 0, 1, 0]),
        "two_steps": s @ s,
        "four_steps": np.linalg.matrix_power(s, 4),
        "pagerank": pagerank,
    }


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_rows_equal_the_dense_formula(name, sparse):
    descriptions = described(graph_of(sparse=sparse, directed=True))
    if name not in descriptions.names:
        assert (name, sparse) == ("rare_features", False)
        return
    rows = dense(descriptions.rows(name))
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, unit(expected_rows(X.astype(np.float64), sparse)[name]), atol=1e-6)


def test_the_references_are_of_all_descriptions():
    assert list(expected_rows(X, True)) == list(DESCRIPTIONS)


def test_scaled_features_are_described():
    descriptions = described(graph_of(sparse=False), "standard")
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(descriptions.rows("features"), unit(scaled), atol=1e-6)
    np.testing.assert_allclose(
        descriptions.rows("smoothed_1"), unit(expected_rows(scaled, False)["smoothed_1"]), atol=1e-6
    )


@pytest.mark.parametrize(
    ("sparse", "directed", "absent"),
    [
        (True, True, set()),
        (True, False, {"targets", "rare_targets", "sources", "rare_sources"}),
        (False, True, {"rare_features"}),
        (False, False, {"rare_features", "targets", "rare_targets", "sources", "rare_sources"}),
    ],
)
def test_a_graph_has_the_descriptions_it_can_have(sparse, directed, absent):
    names = described(graph_of(sparse=sparse, directed=directed)).names
    assert names == [name for name in DESCRIPTIONS if name not in absent]


def test_the_features_of_the_graph_are_not_given_to_torch():
    # They are read-only, and torch warns that it could write to them.
    graph = graph_of(sparse=False)
    dense_features = described(graph).dense
    assert dense_features.flags.writeable
    assert not np.shares_memory(dense_features, graph.x)


def test_zero_rows_stay_zero():
    # Node 4 has neither features nor neighbours; only its own walk is not empty.
    descriptions = described(graph_of(directed=True))
    for name in descriptions.names:
        row = dense(descriptions.rows(name))[4]
        assert row.any() == (name in ("two_steps", "four_steps", "pagerank"))
        assert np.isfinite(dense(descriptions.rows(name))).all()


def test_a_feature_that_all_nodes_have_weighs_nothing():
    x = np.array([[1, 1], [1, 0], [1, 0]], dtype=np.float32)
    rows = dense(described(graph_of(x=x, edges=[[0], [1]])).rows("rare_features"))
    assert rows.tolist() == [[0, 1], [0, 0], [0, 0]]


def test_nodes_without_edges_are_their_own_surroundings():
    # One edge, 0 – 1: for nodes 2 to 4 smoothing changes nothing, and nothing is known of neighbours.
    descriptions = described(graph_of(edges=EDGES[:, :1], directed=True))
    own = dense(descriptions.rows("rare_features"))[2:]
    for name in ("smoothed_1", "smoothed_2", "smoothed_4", "contrast"):
        np.testing.assert_allclose(descriptions.rows(name)[2:], own, atol=1e-6)
    for name in ("neighbours", "rare_neighbours", "targets", "sources", "neighbours_features"):
        assert not dense(descriptions.rows(name))[2:].any()
    for name in ("two_steps", "four_steps", "pagerank"):
        np.testing.assert_allclose(dense(descriptions.rows(name))[2:], np.eye(N)[2:], rtol=1e-6)


def test_equal_features_have_no_contrast():
    # 0.1 · 7 / 7 is not 0.1 in single precision: the rounding was once made a unit row.
    edges = np.array([[0] * 7, range(1, 8)])
    graph = graph_of(x=np.full((8, 3), 0.1, dtype=np.float32), edges=edges, sparse=False)
    assert described(graph).neighbour_mean()[0].tolist() != graph.x[0].tolist()
    assert not described(graph).rows("contrast").any()


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), nodes=st.integers(2, 9), directed=st.booleans(), sparse=st.booleans())
def test_rows_have_length_one_or_zero(seed, nodes, directed, sparse):
    rng = np.random.default_rng(seed)
    x = (rng.integers(-2, 3, (nodes, 4)) * rng.random((nodes, 4))).astype(np.float32)
    edges = np.concatenate([[[0], [1]], rng.integers(0, nodes, (2, nodes))], axis=1)
    graph = graph_of(x=x, edges=edges, directed=directed, sparse=sparse)
    descriptions = described(graph)
    for name in descriptions.names:
        rows = dense(descriptions.rows(name)).astype(np.float64)
        assert rows.shape[0] == nodes
        norms = np.linalg.norm(rows, axis=1)
        np.testing.assert_allclose(norms, norms > 0.5, atol=1e-5)


def test_magnitudes_by_hand_in_the_order_that_kernels_read():
    found = described(graph_of()).magnitudes
    np.testing.assert_allclose(found["features"], np.log([3, 3, 5, 3, 1]), rtol=1e-6)
    np.testing.assert_allclose(found["neighbours"], np.log([3, 3, 4, 2, 1]), rtol=1e-6)
    assert tuple(found) == MAGNITUDES == tuple(MAGNITUDE_WORDS)


# ---------------------------------------------------------------------- computed once, and freed


def test_each_description_is_computed_once(monkeypatch):
    made = []
    real = DESCRIPTIONS["contrast"]
    monkeypatch.setitem(
        DESCRIPTIONS, "contrast", replace(real, make=lambda d: made.append(1) or real.make(d))
    )
    descriptions = described(graph_of())
    assert descriptions.rows("contrast") is descriptions.rows("contrast")
    assert made == [1]


def test_forgotten_descriptions_are_computed_again_and_the_same(monkeypatch):
    descriptions = described(graph_of())
    before = {name: descriptions.rows(name) for name in descriptions.names}
    descriptions.forget(["pagerank", "features"])
    walked = []
    monkeypatch.setattr(module, "walk_rows", lambda a, **how: walked.append(1) or walk_rows(a, **how))
    assert descriptions.rows("pagerank") is before["pagerank"]
    assert descriptions.rows("features") is before["features"]
    assert walked == []
    for name in descriptions.names:
        np.testing.assert_array_equal(dense(descriptions.rows(name)), dense(before[name]))
    assert descriptions.rows("two_steps") is not before["two_steps"]
    assert walked == [1]


# ---------------------------------------------------------------------- many features


def test_many_features_are_projected_and_keep_their_cosines(monkeypatch):
    rng = np.random.default_rng(0)
    x = (rng.random((30, 600)) < 0.2).astype(np.float32)
    graph = graph_of(x=x, edges=rng.integers(0, 30, (2, 60)))
    exact = described(graph).rows("smoothed_1")
    assert exact.shape == (30, 600)
    monkeypatch.setattr(module, "DENSE_ENTRIES", 30 * 600 - 1)
    projected = described(graph).rows("smoothed_1")
    assert projected.shape == (30, module.PROJECTED)
    # A cosine has the standard error 1/√512 = 0.044.
    assert abs(projected @ projected.T - exact @ exact.T).max() < 5 * 0.044
    np.testing.assert_array_equal(described(graph).rows("smoothed_1"), projected)  # no seed decides


def test_a_grown_graph_is_projected_if_the_fitted_one_was(monkeypatch):
    # The limit once looked at the grown graph, which then had other descriptions than the fitted one.
    rng = np.random.default_rng(0)
    x = (rng.random((30, 600)) < 0.2).astype(np.float32)
    monkeypatch.setattr(module, "DENSE_ENTRIES", 30 * 600)
    fitted = graph_of(x=x, edges=rng.integers(0, 30, (2, 60)))
    grown = graph_of(x=np.concatenate([x, x[:5]]), edges=fitted.edges)
    basis = Basis.of(fitted, Scaling("none"))
    for graph in (fitted, grown):
        assert Descriptions(graph, basis).dense.shape == (graph.num_nodes, 600)


# ---------------------------------------------------------------------- grown graphs


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_isolated_new_nodes_leave_the_rows_of_known_nodes_as_they_were(sparse):
    fitted = graph_of(sparse=sparse, directed=True)
    grown = graph_of(x=np.concatenate([X, X[:2] + 1]), sparse=sparse, directed=True)
    basis = Basis.of(fitted, Scaling("none"))
    before, after = Descriptions(fitted, basis), Descriptions(grown, basis)
    assert after.names == before.names
    for name in before.names:
        rows = dense(after.rows(name))
        np.testing.assert_allclose(rows[:N], dense(before.rows(name)), atol=1e-7)
        assert rows.shape == (N + 2, dense(before.rows(name)).shape[1])


def test_a_new_node_like_a_known_one_has_the_same_row():
    # Node 5 points to 1 and 2 like node 0, and has its features. The known nodes 1 and 2 have a new
    # neighbour, which rows towards known nodes do not name.
    fitted = graph_of(directed=True)
    edges = np.concatenate([EDGES, [[5, 5], [1, 2]]], axis=1)
    grown = graph_of(x=np.concatenate([X, X[:1]]), edges=edges, directed=True)
    basis = Basis.of(fitted, Scaling("none"))
    before, after = Descriptions(fitted, basis), Descriptions(grown, basis)
    for name in ("features", "rare_features", "neighbours", "rare_neighbours", "targets", "rare_targets"):
        rows = dense(after.rows(name))
        np.testing.assert_allclose(rows[5], dense(before.rows(name))[0], atol=1e-7)
        np.testing.assert_allclose(rows[:N], dense(before.rows(name)), atol=1e-7)
    assert not dense(after.rows("sources"))[5].any()
    assert dense(after.rows("two_steps")).shape == (6, 5)


@pytest.mark.parametrize("x", [np.ones((4, 2)), sp.csr_matrix(np.ones((4, 2))), sp.csr_matrix((4, 2))])
def test_features_that_are_all_the_same_describe_nothing(x):
    def names(x):
        graph = Graph(edges=[[0, 1, 2], [1, 2, 3]], x=x)
        return Descriptions(graph, Basis.of(graph, Scaling("none"))).names

    left = names(x)
    assert left == ["neighbours", "rare_neighbours", "two_steps", "four_steps", "pagerank"]
    changed = x.toarray() if sp.issparse(x) else x.copy()
    changed[3, 1] = 5.0
    assert {"features", "smoothed_1", "contrast"} <= set(names(changed))
    assert "rare_features" in names(sp.csr_matrix(changed))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_nodes_that_are_asked_for_are_those_of_all(sparse, directed):
    graph = graph_of(sparse=sparse, directed=directed)
    basis = Basis.of(graph, Scaling("none"))
    every, some = Descriptions(graph, basis), Descriptions(graph, basis, np.array([3, 0]))
    assert every.names == some.names
    for name in every.names:
        np.testing.assert_array_equal(dense(some.rows(name))[[0, 3]], dense(every.rows(name))[[0, 3]])
    assert not dense(some.rows("two_steps"))[[1, 2, 4]].any()
    assert not dense(some.rows("neighbours"))[[1, 2, 4]].any()
