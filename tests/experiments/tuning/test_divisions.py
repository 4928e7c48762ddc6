"""The nodes of the fits of a trial: no test label among them, and every class as often as before."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.experiments.tuning.divisions import RANDOM_KINDS, division, seed_of, without_test_labels
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN

GRAPH = contextual_sbm(90, 3, 4, seed=4)


def parts_of(kind, seed=0):
    parts = split(GRAPH, "uniform", seed)
    return parts if kind in RANDOM_KINDS else replace(parts, kind=kind)


def test_the_first_fit_has_the_split():
    parts = split(GRAPH, "uniform", 5)
    found = division(GRAPH, parts, 0)
    assert np.array_equal(found.train, parts.train)
    assert np.array_equal(found.val, parts.val)
    assert len(found.test) == 0


@given(st.integers(0, 2**64 - 1), st.integers(1, 3), st.sampled_from(RANDOM_KINDS))
def test_later_fits_divide_the_same_nodes_anew(seed, fit, kind):
    parts = split(GRAPH, kind, seed)
    found, again = division(GRAPH, parts, fit), division(GRAPH, parts, fit)
    for part in ("train", "val"):
        assert np.array_equal(getattr(found, part), getattr(again, part))
        counts = [np.bincount(GRAPH.y[getattr(each, part)], minlength=3) for each in (found, parts)]
        assert np.array_equal(*counts)
    both = np.concatenate([parts.train, parts.val])
    assert np.array_equal(np.union1d(found.train, found.val), np.sort(both))
    assert not np.array_equal(found.val, parts.val)
    assert len(found.test) == 0


def test_divisions_differ_between_fits():
    parts = split(GRAPH, "uniform", 0)
    vals = {tuple(division(GRAPH, parts, fit).val) for fit in range(4)}
    assert len(vals) == 4


@pytest.mark.parametrize("kind", ["fixed", "public", "given", "time"])
def test_a_split_that_came_with_the_data_stays(kind):
    parts = parts_of(kind)
    for fit in range(4):
        found = division(GRAPH, parts, fit)
        assert np.array_equal(found.val, parts.val)
        assert len(found.test) == 0


def test_seeds_differ_and_the_first_is_that_of_the_model():
    assert seed_of(7, 0) == 7
    assert len({seed_of(seed, fit) for seed in (0, 7, 2**64 - 1) for fit in range(4)}) == 12
    assert all(0 <= seed_of(2**64 - 1, fit) < 2**64 for fit in range(4))


def test_no_label_but_those_of_train_and_val():
    parts = Split(train=np.arange(30), val=np.arange(30, 50), test=np.arange(60, 90))
    seen = without_test_labels(GRAPH, parts)
    assert np.array_equal(seen.y[:50], GRAPH.y[:50])
    assert (seen.y[50:] == UNKNOWN).all()
    assert np.array_equal(seen.classes, GRAPH.classes)
    assert np.array_equal(seen.edges, GRAPH.edges)
    assert np.array_equal(seen.x, GRAPH.x)


def test_a_class_that_only_test_nodes_have_stays_a_class():
    y = np.zeros(90, dtype=int)
    y[:40:2], y[80:] = 1, 2
    graph = replace(GRAPH, y=y, classes=np.array(["a", "b", "c"]))
    parts = Split(train=np.arange(30), val=np.arange(30, 50), test=np.arange(60, 90))
    assert without_test_labels(graph, parts).num_classes == 3


def test_everything_else_of_the_graph_stays():
    rng = np.random.default_rng(0)
    graph = Graph(
        edges=rng.integers(0, 40, (2, 150)),
        x=rng.normal(size=(40, 3)),
        y=rng.choice(["a", "b", ""], 40),
        directed=True,
        weights=rng.random(150) + 0.1,
        relations=rng.choice(["u", "v"], 150),
        ids=[f"n{number}" for number in range(40)],
        name="mine",
    )
    parts = split(graph, "stratified", 3)
    seen = without_test_labels(graph, parts)
    assert seen.unlabelled_fingerprint == graph.unlabelled_fingerprint
    assert (seen.name, list(seen.classes)) == ("mine", ["a", "b"])
    assert np.array_equal(seen.weights, graph.weights)
    assert GOALClassifier(fast=True).fit(seen, division(seen, parts, 1)).predict(seen).shape == (40,)
