"""Descriptions of nodes against dense formulas: small graphs, with and without direction, and grown ones."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement import descriptions as module
from otherhalf.complement import smoothing
from otherhalf.complement.basis import Basis
from otherhalf.complement.descriptions import DESCRIPTIONS, MAGNITUDE_WORDS, Descriptions
from otherhalf.complement.walks import walk_parts
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
    assert described(graph).neighbour_mean(np.arange(8))[0].tolist() != graph.x[0].tolist()
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
        DESCRIPTIONS, "contrast", replace(real, make=lambda d, nodes: made.append(1) or real.make(d, nodes))
    )
    descriptions = described(graph_of())
    assert descriptions.rows("contrast") is descriptions.rows("contrast")
    assert made == [1]


def test_only_the_wanted_walks_are_walked(monkeypatch):
    walked = []
    monkeypatch.setattr(
        module, "walk_parts", lambda a, names, **how: walked.append(names) or walk_parts(a, names, **how)
    )
    graph = graph_of()
    basis, every = Basis.of(graph, Scaling("none")), described(graph)
    some = Descriptions(graph, basis, names=["pagerank", "two_steps", "smoothed_4"])
    for name in some.names:
        np.testing.assert_array_equal(dense(some.rows(name)), dense(every.rows(name)))
    # The one that wants some walks for these together, and for another one when it is asked for.
    assert walked == [["two_steps", "pagerank"], ["two_steps", "four_steps", "pagerank"], ["four_steps"]]


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


def random_graph(seed: int, nodes: int, *, sparse: bool, directed: bool, degree: float = 1.0) -> Graph:
    """Some nodes have no edge, some no feature."""
    rng = np.random.default_rng(seed)
    x = (rng.random((nodes, 5)) * (rng.random((nodes, 5)) < 0.4)).astype(np.float32)
    return graph_of(
        x=x, edges=rng.integers(0, nodes, (2, int(degree * nodes))), sparse=sparse, directed=directed
    )


def same_rows(found, expected) -> None:
    assert sp.issparse(found) == sp.issparse(expected)
    np.testing.assert_array_equal(dense(found), dense(expected))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("reach", [0.0, 1.0], ids=["all are smoothed", "those around are smoothed"])
def test_rows_of_nodes_that_are_asked_for_are_those_of_all(sparse, directed, reach, monkeypatch):
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(smoothing, "MOST_AROUND", reach)
    graph = random_graph(0, 50, sparse=sparse, directed=directed)
    basis, asked = Basis.of(graph, Scaling.fit(graph.x, "auto")), np.array([30, 4, 17, 4])
    every, some = Descriptions(graph, basis), Descriptions(graph, basis, asked)
    assert every.names == some.names
    for name in every.names:
        expected = every.rows(name)
        same_rows(every.rows(name, asked), expected[asked])
        same_rows(some.rows(name, asked), expected[asked])
        same_rows(some.rows(name), expected[[4, 17, 30]])
        same_rows(every.only(asked).rows(name, asked[:1]), expected[asked[:1]])
    for name in MAGNITUDES:
        np.testing.assert_array_equal(every.magnitude(name, asked), every.magnitudes[name][asked])
        np.testing.assert_array_equal(some.magnitude(name, asked), every.magnitudes[name][asked])


def test_what_is_far_away_is_not_touched(monkeypatch):
    monkeypatch.setattr(module, "SMALL", 0)
    path = np.stack([np.arange(99), np.arange(1, 100)])
    graph = graph_of(x=np.random.default_rng(0).random((100, 3)), edges=path, sparse=False)
    basis, touched = Basis.of(graph, Scaling("none")), set()
    scaled = Scaling.apply
    some = Descriptions(graph, basis, np.array([50]))
    known = {row.tobytes(): node for node, row in enumerate(graph.x)}
    assert len(known) == 100

    def seen(scaling, x):
        touched.update(known[row.tobytes()] for row in x)
        return scaled(scaling, x)

    monkeypatch.setattr(Scaling, "apply", seen)
    for name in ("features", "smoothed_1", "neighbours_features", "contrast"):
        some.rows(name)
    assert some.magnitude("features", np.array([50])).shape == (1,)
    assert touched <= set(range(46, 55))


@pytest.mark.parametrize("sparse", [False, True])
def test_a_large_graph_has_the_same_rows_in_blocks(sparse, monkeypatch):
    graph = random_graph(1, 40, sparse=sparse, directed=True)
    monkeypatch.setattr(module, "SMALL", 0)
    every, nodes = described(graph), np.random.default_rng(0).permutation(40)
    expected = {name: every.rows(name) for name in every.names}
    monkeypatch.setattr(module, "KEPT_NODES", 0)
    monkeypatch.setattr(module, "MAGNITUDES_AT_ONCE", 7)
    large = described(graph)
    for name in every.names:
        for step in (1, 7, 40):
            for top in range(0, 40, step):
                part = nodes[top : top + step]
                same_rows(large.rows(name, part), expected[name][part])
    for name in MAGNITUDES:
        np.testing.assert_array_equal(large.magnitudes[name], every.magnitudes[name])
