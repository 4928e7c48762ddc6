"""Changes of a graph, by hand on a small one, and on drawn graphs of every kind."""

import numpy as np
from hypothesis import given, settings

from otherhalf import Graph, Split
from otherhalf.testing import (
    edges_given_again,
    graphs,
    labels_permuted,
    relabelled,
    renumbered,
    with_lone_node,
)
from otherhalf.testing.case import content

PATH = Graph(
    edges=[[0, 1], [1, 2]], x=[[1.0], [2.0], [3.0]], y=[0, 1, -1], classes=["sea", "air"], ids=["a", "b", "c"]
)


def parts(graph):
    """Everything but the numbers of edges that were dropped."""
    names = ("edges", "weights", "relations", "x", "y", "classes", "ids", "directed", "fixed_splits")
    return {name: content(getattr(graph, name)) for name in names}


def test_renumbered():
    graph = renumbered(PATH, [2, 0, 1])
    assert graph.ids.tolist() == ["c", "a", "b"]
    assert graph.x.ravel().tolist() == [3.0, 1.0, 2.0]
    assert graph.y.tolist() == [-1, 0, 1]
    assert graph.edges.tolist() == [[0, 1], [2, 2]]  # c – b and a – b
    split = renumbered(Split([0], [1], [2]), [2, 0, 1])
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([1], [2], [0])


def test_relabelled():
    graph = relabelled(PATH, [1, 0])
    assert graph.classes.tolist() == ["air", "sea"]
    assert graph.y.tolist() == [1, 0, -1]


def test_with_lone_node():
    graph = with_lone_node(PATH)
    assert (graph.num_nodes, graph.isolated.tolist(), graph.y[3]) == (4, [3], -1)
    assert graph.x.ravel().tolist() == [1.0, 2.0, 3.0, 1.0]
    assert len(set(graph.ids)) == 4


def test_labels_permuted():
    graph = Graph(edges=[[0], [1]], x=np.eye(8), y=[0, 0, 1, 0, 2, 1, -1, 2])
    found = labels_permuted(graph, np.array([1, 2, 3, 4, 5]))
    assert found.y[[0, 6, 7]].tolist() == [0, -1, 2]
    assert sorted(found.y[1:6]) == [0, 0, 1, 1, 2]
    assert (found.y[1:6] != graph.y[1:6]).all()
    assert labels_permuted(graph, graph.y[:0]).y.tolist() == graph.y.tolist()


@settings(max_examples=20)
@given(graphs())
def test_edges_given_again_make_the_same_graph(graph):
    again = edges_given_again(graph)
    assert again.dropped_self_loops == 1
    assert parts(again) == parts(graph)
    assert again.fingerprint == graph.fingerprint


@settings(max_examples=20)
@given(graphs())
def test_there_and_back_again(graph):
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    assert parts(renumbered(renumbered(graph, order), np.argsort(order))) == parts(graph)
    codes = np.arange(graph.num_classes)[::-1]
    assert parts(relabelled(relabelled(graph, codes), codes)) == parts(graph)
    grown = with_lone_node(graph)
    assert grown.num_edges == graph.num_edges
    assert set(grown.isolated) == {*graph.isolated, graph.num_nodes}
