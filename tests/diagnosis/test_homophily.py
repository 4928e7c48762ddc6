"""Each measure on a graph small enough for pencil and paper, and against its formula over a dense matrix."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis import homophily
from otherhalf.diagnosis.homophily import (
    adjusted_homophily,
    class_insensitive_homophily,
    edge_homophily,
    intervals,
    label_informativeness,
    label_tendency,
    node_homophily,
)

MEASURES = [
    edge_homophily,
    node_homophily,
    class_insensitive_homophily,
    adjusted_homophily,
    label_informativeness,
]

# A path 0 – 1 – 2 – 3 – 4 – 5 with the classes a a b b b and one unknown: 4 labelled edges, 3 within a class.
PATH = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
LABELS = np.array([0, 0, 1, 1, 1, -1])


def test_edge_homophily_by_hand():
    assert edge_homophily(PATH, LABELS) == 3 / 4


def test_node_homophily_by_hand():
    # Nodes 0 … 4 have 1/1, 1/2, 1/2, 2/2 and 1/1 of their labelled neighbours in their class.
    assert node_homophily(PATH, LABELS) == pytest.approx((1 + 0.5 + 0.5 + 1 + 1) / 5)


def test_class_insensitive_homophily_by_hand():
    # Class a: 2 of 3 edge ends stay inside, 2 of 5 nodes. Class b: 4 of 5 ends, 3 of 5 nodes. C − 1 = 1.
    assert class_insensitive_homophily(PATH, LABELS) == pytest.approx((2 / 3 - 2 / 5) + (4 / 5 - 3 / 5))


def test_adjusted_homophily_by_hand():
    # Of the 8 edge ends 3 lie in a and 5 in b.
    chance = (3 / 8) ** 2 + (5 / 8) ** 2
    assert adjusted_homophily(PATH, LABELS) == pytest.approx((3 / 4 - chance) / (1 - chance))


def test_label_informativeness_by_hand():
    # Ordered pairs of classes: aa 2/8, ab 1/8, ba 1/8, bb 4/8.
    joint = sum(p * np.log(p) for p in (2 / 8, 1 / 8, 1 / 8, 4 / 8))
    single = sum(p * np.log(p) for p in (3 / 8, 5 / 8))
    assert label_informativeness(PATH, LABELS) == pytest.approx(2 - joint / single)


def test_bipartite_graph_is_informative_though_not_homophilous():
    """A neighbour of the other class tells the class as surely as one of the same class."""
    edges, y = np.array([[0, 0, 1, 1], [2, 3, 2, 3]]), np.array([0, 0, 1, 1])
    assert edge_homophily(edges, y) == 0
    assert node_homophily(edges, y) == 0
    assert class_insensitive_homophily(edges, y) == 0
    assert adjusted_homophily(edges, y) == pytest.approx(-1)
    assert label_informativeness(edges, y) == pytest.approx(1)


def test_a_class_without_edges_adds_nothing_to_the_class_insensitive_measure():
    # Node 3 is alone in its class: h = 1 − 3/4 from the class of the other three, C − 1 = 1.
    edges, y = np.array([[0, 1], [1, 2]]), np.array([0, 0, 0, 1])
    assert class_insensitive_homophily(edges, y) == pytest.approx(1 / 4)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("y", [[-1, -1, -1], [0, -1, 1]])
def test_undefined_without_labelled_edges(measure, y):
    edges, y = np.array([[0, 1], [1, 2]]), np.array(y)
    assert measure(edges, y) is None
    assert label_tendency(None, edges, y) is None
    assert set(intervals(edges, y).values()) == {None}


def test_one_class_only():
    edges, y = np.array([[0, 1], [1, 2]]), np.array([3, 3, 3])
    assert edge_homophily(edges, y) == 1
    assert node_homophily(edges, y) == 1
    assert class_insensitive_homophily(edges, y) is None
    assert adjusted_homophily(edges, y) is None
    assert label_informativeness(edges, y) is None
    assert intervals(edges, y) == {
        "edge_homophily": (1.0, 1.0),
        "adjusted_homophily": None,
        "label_informativeness": None,
    }


# ---------------------------------------------------------------------- against dense formulas


def dense_reference(edges, y):
    """Every formula written out over the adjacency matrix of the labelled nodes."""
    n = len(y)
    adjacency = np.zeros((n, n))
    adjacency[edges[0], edges[1]] = adjacency[edges[1], edges[0]] = 1
    known = y >= 0
    adjacency = adjacency[np.ix_(known, known)]
    one_hot = np.eye(y.max() + 1)[y[known]]
    one_hot = one_hot[:, one_hot.any(axis=0)]
    same = one_hot @ one_hot.T
    degree = adjacency.sum(axis=1)
    joined = degree > 0
    mixing = one_hot.T @ adjacency @ one_hot
    share = mixing / mixing.sum()
    ends = share.sum(axis=1)
    result = {
        edge_homophily: (adjacency * same).sum() / adjacency.sum(),
        node_homophily: ((adjacency * same).sum(axis=1)[joined] / degree[joined]).mean(),
    }
    if one_hot.shape[1] > 1:
        with np.errstate(invalid="ignore"):
            own = np.nan_to_num(np.diag(mixing) / mixing.sum(axis=1))
        result[class_insensitive_homophily] = np.maximum(own - one_hot.mean(axis=0), 0).sum() / (
            one_hot.shape[1] - 1
        )
    if (ends > 0).sum() > 1:
        result[adjusted_homophily] = (np.trace(share) - (ends**2).sum()) / (1 - (ends**2).sum())
        joint = sum(p * np.log(p) for p in share.ravel() if p > 0)
        result[label_informativeness] = 2 - joint / sum(p * np.log(p) for p in ends if p > 0)
    return result


@st.composite
def labelled_graphs(draw):
    """A simple graph of up to 9 nodes with at least one labelled edge; some labels may be unknown."""
    n = draw(st.integers(2, 9))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    y = draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    y[chosen[0][0]], y[chosen[0][1]] = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    return np.array(chosen).T, np.array(y)


@given(labelled_graphs())
def test_every_measure_equals_its_dense_formula_and_keeps_its_range(graph):
    edges, y = graph
    expected = dense_reference(edges, y)
    for measure in MEASURES:
        value = measure(edges, y)
        if measure in expected:
            assert value == pytest.approx(expected[measure], abs=1e-9)
            lowest = -1 if measure is adjusted_homophily else 0
            assert lowest - 1e-9 <= value <= 1 + 1e-9
        else:
            assert value is None


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_measures_known_by_other_names(share):
    """Adjusted homophily is assortativity; label informativeness is mutual information over entropy."""
    graph = contextual_sbm(200, num_classes=4, homophily=share)
    other = nx.Graph(graph.edges.T.tolist())
    nx.set_node_attributes(other, dict(enumerate(graph.y.tolist())), "class")
    expected = nx.attribute_assortativity_coefficient(other, "class")
    assert adjusted_homophily(graph.edges, graph.y) == pytest.approx(expected)
    first = graph.y[np.concatenate([graph.edges[0], graph.edges[1]])]
    second = graph.y[np.concatenate([graph.edges[1], graph.edges[0]])]
    expected = mutual_info_score(first, second) / mutual_info_score(first, first)
    assert label_informativeness(graph.edges, graph.y) == pytest.approx(expected)


@given(labelled_graphs(), st.randoms(use_true_random=False))
def test_numbering_of_nodes_and_classes_does_not_matter(graph, random):
    edges, y = graph
    nodes, classes = list(range(len(y))), list(range(4))
    random.shuffle(nodes)
    random.shuffle(classes)
    renamed = np.empty_like(y)
    renamed[nodes] = np.append(classes, -1)[y]
    for measure in MEASURES:
        first, second = measure(edges, y), measure(np.array(nodes)[edges][::-1], renamed)
        assert (first is None) == (second is None)
        if first is not None:
            assert second == pytest.approx(first, abs=1e-9)


# ---------------------------------------------------------------------- intervals


def matching(inside, between):
    """Disjoint edges: ``inside`` within class 0 or 1 in turn, then ``between`` from 0 to 1."""
    first = np.array([i % 2 for i in range(inside)] + [0] * between)
    second = np.array([i % 2 for i in range(inside)] + [1] * between)
    count = inside + between
    return np.stack([np.arange(count), count + np.arange(count)]), np.concatenate([first, second])


def test_interval_of_edge_homophily_is_that_of_a_binomial_share():
    edges, y = matching(inside=120, between=280)
    low, high = intervals(edges, y, seed=0)["edge_homophily"]
    spread = 1.96 * np.sqrt(0.3 * 0.7 / 400)
    assert low == pytest.approx(0.3 - spread, abs=0.007)
    assert high == pytest.approx(0.3 + spread, abs=0.007)


@given(inside=st.integers(5, 60), between=st.integers(5, 60))
@settings(max_examples=15)
def test_intervals_lie_around_the_measure(inside, between):
    edges, y = matching(inside, between)
    bounds = intervals(edges, y, seed=1)
    for measure in (edge_homophily, adjusted_homophily):
        low, high = bounds[measure.__name__]
        assert -1 <= low < measure(edges, y) < high <= 1
    low, high = bounds["label_informativeness"]
    assert 0 <= low + 1e-9 < high <= 1 + 1e-9


def test_intervals_depend_on_the_seed_alone(monkeypatch):
    edges, y = matching(20, 30)
    bounds = intervals(edges, y, seed=5)
    monkeypatch.setattr("otherhalf.diagnosis.homophily.BLOCK", 30)
    assert intervals(edges, y, seed=5) == bounds
    assert intervals(edges, y, seed=6) != bounds


# ---------------------------------------------------------------------- the verdict of the labels


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [
        ((0.21, 0.3), "homophily"),
        ((-0.1, 0.19), "heterophily"),
        ((0.1, 0.3), "undecided"),
        ((0.2, 0.3), "undecided"),
        ((0.1, 0.2), "undecided"),
        (None, None),
    ],
)
def test_label_tendency(bounds, verdict):
    edges, y = np.stack([np.arange(10), np.arange(1, 11)]), np.arange(11) % 2
    assert label_tendency(bounds, edges, y) == verdict
    y[10] = -1  # 9 labelled edges are too few
    assert label_tendency(bounds, edges, y) == (None if bounds is None else "undecided")


@given(st.integers(0, 400), st.integers(1, 60), st.integers(0, 100))
def test_keys_are_counted_alike_with_and_without_a_sort(count, bound, seed):
    keys = np.random.default_rng(seed).integers(bound, size=count)
    expected = np.unique(keys, return_counts=True)
    for least in (bound, 10**9):  # counted in cells, and sorted
        for found, true in zip(homophily._distinct(keys, least), expected, strict=True):
            np.testing.assert_array_equal(found, true)
