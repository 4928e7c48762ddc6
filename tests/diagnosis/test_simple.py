import time

import numpy as np
import pytest
import scipy.sparse as sp

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.simple import FEATURE_NODES, simple_scores
from otherhalf.diagnosis.units import UnitFree
from otherhalf.graph import Graph


def scores(graph, y=None, seed=0):
    y = graph.y if y is None else np.asarray(y)
    return simple_scores(graph, UnitFree.of(graph.x), y, np.random.default_rng(seed))


def star_graph(**options) -> Graph:
    """Four stars of 5 leaves each, and 4 nodes without an edge; classes a, b, b, b by star, then a."""
    hubs = np.repeat([0, 6, 12, 18], 5)
    leaves = hubs + np.tile(np.arange(1, 6), 4)
    y = np.append(np.repeat(["a", "b", "b", "b"], 6), ["a"] * 4)
    return Graph(edges=np.stack([hubs, leaves]), x=np.ones((28, 1)), y=y, **options)


def test_by_hand():
    """Every node of a star has the label of its neighbours; the four lonely ones get b, which is wrong."""
    assert scores(star_graph()) == {
        "majority": {"accuracy": 18 / 28, "nodes": 28, "class": "b"},
        "neighbours": {"accuracy": 24 / 28, "nodes": 28, "without": 4},
    }


def test_unknown_labels_neither_vote_nor_count():
    """Without the hub of the first star, its 5 leaves have no labelled neighbour and get b, wrongly."""
    graph = star_graph()
    y = graph.y.copy()
    y[0] = -1
    assert scores(graph, y)["neighbours"] == {"accuracy": 18 / 27, "nodes": 27, "without": 9}


def test_the_own_label_is_not_used():
    """A ring of alternating classes: the neighbours of a node never have its label."""
    ring = np.stack([np.arange(40), (np.arange(40) + 1) % 40])
    graph = Graph(edges=ring, x=np.ones((40, 1)), y=np.arange(40) % 2)
    assert scores(graph)["neighbours"]["accuracy"] == 0


def test_the_more_frequent_class_decides_a_tie():
    """Node 0 has one neighbour of each class; 0 is the less frequent class."""
    y = np.array([1, 0, 1] + [1] * 18 + [0] * 3)
    graph = Graph(edges=np.array([[0, 0], [1, 2]]), x=np.ones((24, 1)), y=y)
    # Node 0 is right, its neighbours vote 1: node 1 is wrong and 2 right. The others get 1: 18 of 21.
    assert scores(graph)["neighbours"]["accuracy"] == 20 / 24


def test_weights_of_edges_count():
    """Node 0 of class 0 has one neighbour of class 0 and two of class 1; its three neighbours see 0 alone."""
    edges, y = np.array([[0, 0, 0], [1, 2, 3]]), np.array([0, 0, 1, 1] + [1] * 20)
    plain = Graph(edges=edges, x=np.ones((24, 1)), y=y)
    assert scores(plain)["neighbours"]["accuracy"] == 21 / 24
    weighted = Graph(edges=edges, x=np.ones((24, 1)), y=y, weights=[5.0, 1.0, 1.0])
    assert scores(weighted)["neighbours"]["accuracy"] == 22 / 24


def test_features_alone():
    """Features that are the class tell it all; random ones no more than the majority."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    edges = rng.integers(600, size=(2, 1000))
    for x in (np.eye(3)[y], sp.csr_matrix(np.eye(3)[y]), 1000 * y[:, None] + rng.normal(size=(600, 1))):
        assert scores(Graph(edges=edges, x=x, y=y))["features"] == {"accuracy": 1, "nodes": 600}
    noise = scores(Graph(edges=edges, x=rng.normal(size=(600, 3)), y=y))
    assert noise["features"]["accuracy"] == pytest.approx(1 / 3, abs=0.08)


def test_a_sample_of_the_features_is_enough():
    graph = contextual_sbm(FEATURE_NODES + 500, homophily=0.9)
    found = scores(graph)
    assert found["majority"]["nodes"] == found["neighbours"]["nodes"] == FEATURE_NODES + 500
    assert found["features"]["nodes"] == FEATURE_NODES


def test_a_fold_without_a_second_class():
    """One node of 30 has the rare class: the fold that tests it trains on one class only."""
    y = np.array([0] + [1] * 29)
    x = np.arange(30.0)[:, None]
    graph = Graph(edges=np.array([[0], [1]]), x=x, y=y)
    assert scores(graph)["features"]["accuracy"] == 29 / 30


@pytest.mark.filterwarnings("error")
def test_many_classes_are_no_reason_for_a_warning():
    rng = np.random.default_rng(0)
    graph = Graph(edges=rng.integers(60, size=(2, 90)), x=rng.normal(size=(60, 3)), y=np.arange(60) % 40)
    assert scores(graph)["features"]["nodes"] == 60


@pytest.mark.parametrize("y", [np.full(28, -1), np.zeros(28, int), np.array([0, 1] * 5 + [-1] * 18)])
def test_nothing_to_say(y):
    assert scores(star_graph(), y) == {}


def test_constant_features_have_no_score():
    assert "features" not in scores(star_graph())


def test_a_million_edges_take_seconds():
    rng = np.random.default_rng(0)
    n = 100_000
    graph = Graph(
        edges=rng.integers(n, size=(2, 1_000_000)), x=rng.normal(size=(n, 5)), y=rng.integers(40, size=n)
    )
    _ = graph.adjacency
    started = time.process_time()
    scores(graph)
    assert time.process_time() - started < 10
