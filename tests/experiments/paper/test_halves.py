"""Halves with the same number of edges: by hand, against a full sort, and the uniform draw."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.paper.halves import compare_topologies, knn_half, random_half
from otherhalf.graph import Graph


def on_a_quarter_circle(degrees, y=None):
    angles = np.radians(degrees)
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return Graph(edges=np.array([[0], [1]]), x=x, y=y)


def edges_of(half):
    return {tuple(sorted(pair)) for pair in half.pairs.T.tolist()}


# ---------------------------------------------------------------------- kNN by hand


def test_nearest_by_hand():
    # Nearest of 0°, 10°, 30°, 90° is 10°, 0°, 10°, 30°: k = 1 gives three edges, of 10°, 20° and 60°.
    graph = on_a_quarter_circle([0, 10, 30, 90])
    assert edges_of(knn_half(graph, 3, "homophily")) == {(0, 1), (1, 2), (2, 3)}
    assert edges_of(knn_half(graph, 2, "homophily")) == {(0, 1), (1, 2)}
    # A fourth edge needs k = 2, which adds 0 – 2 (30°) and 1 – 3 (80°); the edge 2 – 3 of k = 1 is farther
    # than the first, and the last is left out.
    fourth = knn_half(graph, 4, "homophily")
    assert edges_of(fourth) == {(0, 1), (1, 2), (0, 2), (2, 3)}
    assert (fourth.k, fourth.num_edges, fourth.kind) == (2, 4, "homophily")


def test_farthest_by_hand():
    # Farthest of 0°, 10°, 30°, 90° is 90°, 90°, 90°, 0°.
    graph = on_a_quarter_circle([0, 10, 30, 90])
    half = knn_half(graph, 2, "heterophily")
    assert edges_of(half) == {(0, 3), (1, 3)}
    assert half.k == 1
    # As found: row 0 searched, and 3 searched 0 too.
    assert sorted(half.pairs.T.tolist()) == [[0, 3], [1, 3], [3, 0]]


def test_all_pairs():
    assert edges_of(knn_half(on_a_quarter_circle([0, 10, 30, 90]), 6, "homophily")) == set(
        combinations(range(4), 2)
    )


def test_ties_depend_on_the_seed_and_favour_no_node():
    # All cosines are 0, as among most nodes with sparse features.
    graph = Graph(edges=np.array([[0], [1]]), x=np.eye(30))
    halves = [knn_half(graph, 60, "heterophily", seed) for seed in range(40)]
    assert edges_of(halves[0]) == edges_of(knn_half(graph, 60, "heterophily", 0))
    assert edges_of(halves[0]) != edges_of(halves[1])
    degrees = sum(np.bincount(half.adjacency.indices, minlength=30) for half in halves)
    assert degrees.sum() == 40 * 120
    assert degrees.min() > 120
    assert degrees.max() < 205


def test_without_ties_no_seed_matters():
    graph = contextual_sbm(50, 3, 5, seed=1)
    assert edges_of(knn_half(graph, 120, "homophily", 0)) == edges_of(knn_half(graph, 120, "homophily", 7))


# ---------------------------------------------------------------------- kNN against a full sort


@settings(deadline=None, max_examples=40)
@given(st.integers(4, 25), st.integers(0, 2**20), st.data())
def test_knn_equals_a_full_sort(nodes, seed, data):
    count = data.draw(st.integers(1, nodes * (nodes - 1) // 2))
    kind = data.draw(st.sampled_from(["homophily", "heterophily"]))
    x = np.random.default_rng(seed).standard_normal((nodes, 4)).astype(np.float32)
    half = knn_half(Graph(edges=np.array([[0], [1]]), x=x), count, kind, seed)
    assert half.num_edges == count
    assert (half.pairs[0] != half.pairs[1]).all()

    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    goodness = (unit.astype(float) @ unit.T.astype(float)) * (1 if kind == "homophily" else -1)
    np.fill_diagonal(goodness, -np.inf)
    order = np.argsort(-goodness, axis=1)

    def joined(k):
        return {tuple(sorted((i, j))) for i in range(nodes) for j in order[i, :k]}

    k = next(k for k in range(1, nodes) if len(joined(k)) >= count)
    assert half.k == k
    worst_kept = sorted((goodness[e] for e in joined(k)), reverse=True)[count - 1]
    step = 2e-5  # cosines closer than the grid are taken as equal
    assert {e for e in joined(k) if goodness[e] > worst_kept + step} <= edges_of(half)
    assert edges_of(half) <= {e for e in joined(k) if goodness[e] > worst_kept - step}


# ---------------------------------------------------------------------- Erdős–Rényi


@settings(max_examples=40)
@given(st.integers(2, 30), st.integers(0, 2**20), st.data())
def test_a_random_half_has_exactly_this_many_distinct_edges(nodes, seed, data):
    count = data.draw(st.integers(1, nodes * (nodes - 1) // 2))
    edges = random_half(nodes, count, seed)
    assert edges.shape == (2, count)
    assert (edges[0] < edges[1]).all()
    assert edges.max() < nodes
    assert len({tuple(e) for e in edges.T.tolist()}) == count
    assert np.array_equal(edges, random_half(nodes, count, seed))


def test_every_pair_is_equally_likely():
    drawn = np.concatenate([random_half(5, 3, seed) for seed in range(2000)], axis=1)
    _, counts = np.unique(drawn[0] * 5 + drawn[1], return_counts=True)
    assert len(counts) == 10  # 600 expected of each, with a deviation of about 20
    assert counts.min() > 510
    assert counts.max() < 690


def test_a_large_graph_needs_no_list_of_all_pairs():
    edges = random_half(1_000_000, 50_000, 0)
    assert len(np.unique(edges[0] * 1_000_000 + edges[1])) == 50_000


@pytest.mark.parametrize("count", [0, 11])
def test_impossible_numbers_of_edges(count):
    with pytest.raises(InputError, match=f"5 nodes cannot have {count} edges: give 1 to 10"):
        random_half(5, count)
    with pytest.raises(InputError, match=f"5 nodes cannot have {count} edges: give 1 to 10"):
        knn_half(on_a_quarter_circle([0, 1, 2, 3, 4]), count, "homophily")


# ---------------------------------------------------------------------- the comparison


def test_compare_by_hand():
    # Given: 0 – 1, of one class. Learned: 0 → 2, 2 → 0 and 3 → 0, of two classes: two edges.
    graph = on_a_quarter_circle([0, 10, 30, 90], y=[0, 0, 1, 1])
    pairs = np.array([[0, 2, 3], [2, 0, 0]])
    found = compare_topologies(graph, pairs, "heterophily", test=np.array([0, 3]))
    assert (found["edges"], found["kind"], found["k"]) == (2, "heterophily", 1)
    assert (found["found"], found["found_test"]) == (0.0, 0.0)
    assert (found["given"], found["given_test"]) == (1.0, 1.0)
    # kNN: 0 – 3 and 1 – 3, of two classes.
    assert (found["knn"], found["knn_test"]) == (0.0, 0.0)
    drawn = random_half(4, 2, 0)
    assert found["random"] == np.mean(graph.y[drawn[0]] == graph.y[drawn[1]])


def test_test_nodes_count_by_what_they_searched():
    # The test node 2 searched 3 (its class); the pair that node 0 searched (not its class) does not count.
    graph = on_a_quarter_circle([0, 10, 30, 90], y=[0, 0, 1, 1])
    found = compare_topologies(graph, np.array([[0, 2], [2, 3]]), "homophily", test=np.array([2]))
    assert found["found"] == 0.5
    assert found["found_test"] == 1.0
    assert found["given_test"] is None  # node 2 has no edge in the given graph


def test_without_test_nodes_there_is_one_number_each():
    graph = contextual_sbm(60, 2, 4, average_degree=6, seed=0)
    found = compare_topologies(graph, graph.edges, "homophily", seed=3)
    assert found.keys() == {"kind", "edges", "k", "found", "knn", "random", "given"}
    assert found["found"] == found["given"] == pytest.approx(0.8)
    assert found["knn"] > found["random"]


def test_an_unknown_kind():
    with pytest.raises(InputError, match="choose one of homophily, heterophily"):
        knn_half(on_a_quarter_circle([0, 1, 2]), 1, "both")
