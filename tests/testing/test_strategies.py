"""Drawn graphs: what is asked for is there, everything else is sometimes there, and they shrink well."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from otherhalf import InputError
from otherhalf.testing import graphs, splits
from otherhalf.training.supervised import check_trainable

HAS = {
    "sparse": lambda graph: sp.issparse(graph.x),
    "directed": lambda graph: graph.directed,
    "unlabelled": lambda graph: bool((graph.y < 0).any()),
    "isolated": lambda graph: len(graph.isolated) > 0,
    "weights": lambda graph: graph.weights is not None,
    "ids": lambda graph: graph.ids is not None,
}
ODD = {
    "self loops": lambda graph: graph.dropped_self_loops > 0,
    "repeated edges": lambda graph: graph.dropped_repeats > 0,
    "classes in any order": lambda graph: graph.classes.tolist() != sorted(graph.classes.tolist()),
    "names beyond ASCII": lambda graph: graph.ids is not None and not "".join(map(str, graph.ids)).isascii(),
    "identical nodes": lambda graph: len(np.unique(dense(graph), axis=0)) < graph.num_nodes,
    "nodes of zeros": lambda graph: not dense(graph).any(axis=1).all(),
    "no features": lambda graph: (dense(graph) == 1).all(),
    "several relations": lambda graph: graph.relations is not None and len(graph.relations.names) > 1,
    "no relations": lambda graph: graph.relations is None,
}


def dense(graph):
    return sp.csr_matrix(graph.x).toarray()


DRAWS = {"phases": [Phase.generate], "derandomize": True, "database": None, "deadline": None}


def sample(strategy, count):
    """Return so many drawn values, without the time that shrinking takes."""
    drawn = []

    @settings(max_examples=count, **DRAWS)
    @given(strategy)
    def draw(value):
        drawn.append(value)

    draw()
    return drawn


@pytest.fixture(scope="module")
def drawn():
    return sample(graphs(), 150)


@pytest.mark.parametrize("option", HAS)
def test_a_choice_is_always_never_or_sometimes(option, drawn):
    assert all(HAS[option](graph) for graph in sample(graphs(**{option: True}), 12))
    assert not any(HAS[option](graph) for graph in sample(graphs(**{option: False}), 12))
    assert {HAS[option](graph) for graph in drawn} == {True, False}


@settings(max_examples=20)
@given(graphs(nodes=(7, 9), classes=3, per_class=2, features=(1, 2)))
def test_sizes(graph):
    assert 7 <= graph.num_nodes <= 9
    assert 1 <= graph.num_features <= 2
    assert graph.num_classes == 3
    assert np.bincount(graph.y[graph.labelled], minlength=3).min() >= 2


def test_graphs_without_features_and_labels():
    for graph in sample(graphs(classes=0, features=0), 5):
        assert graph.num_classes == 0
        assert (dense(graph) == 1).all()


@pytest.mark.parametrize("odd", ODD)
def test_odd_graphs_are_among_them(odd, drawn):
    assert any(ODD[odd](graph) for graph in drawn)


def test_they_shrink():
    few = settings(max_examples=200, deadline=None, database=None)
    graph = find(graphs(), lambda graph: graph.num_edges >= 2, settings=few)
    assert graph.num_nodes <= 4
    assert (graph.num_edges, graph.directed, graph.ids) == (2, False, None)
    assert (graph.weights, graph.relations, graph.classes.tolist()) == (None, None, [0, 1])


@settings(max_examples=20)
@given(st.data())
def test_splits_can_be_fitted_with(data):
    graph = data.draw(graphs(per_class=2))
    split = data.draw(splits(graph))
    check_trainable(graph, split)
    nodes = np.concatenate([split.train, split.val, split.test])
    assert sorted(nodes) == graph.labelled.tolist()


def test_every_part_can_hold_the_rest():
    (graph,) = sample(graphs(nodes=12, classes=2, unlabelled=False), 1)
    drawn = sample(splits(graph), 60)
    for part in ("train", "val", "test"):
        assert max(len(getattr(split, part)) for split in drawn) > 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": 1}, r"nodes must be a number ≥ 2, or a least and a most number, not 1"),
        ({"features": (3, 2)}, r"features must be a number ≥ 0, or a least and a most number, not \(3, 2\)"),
        ({"nodes": 3, "classes": 2, "per_class": 2}, "graphs of at most 3 nodes have no room"),
        ({"nodes": 2, "isolated": True}, "graphs of at most 2 nodes have no room"),
        ({"features": 0, "sparse": True}, "sparse features must be a number ≥ 1"),
    ],
)
def test_impossible_graphs(options, message):
    with pytest.raises(InputError, match=message):
        graphs(**options)


def test_impossible_splits():
    (graph,) = sample(graphs(nodes=2, classes=2), 1)
    with pytest.raises(InputError, match=r"three labelled nodes of two classes: draw graphs\(per_class=2\)"):
        splits(graph)


def test_without_hypothesis_one_sentence_says_what_to_install():
    code = """
import sys
sys.modules["hypothesis"] = None
from otherhalf.testing import check_estimator
try:
    from otherhalf.testing import graphs
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "otherhalf.testing draws graphs with hypothesis: run `pip install 'otherhalf[testing]'`"
    ]
