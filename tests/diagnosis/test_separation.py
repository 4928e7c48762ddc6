import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.separation import MIN_NODES, class_separation
from otherhalf.diagnosis.similarity import Cosine
from otherhalf.diagnosis.verdict import diagnose


def separation(x, y, seed=0):
    cosine = Cosine(np.asarray(x, dtype=np.float32))
    return class_separation(cosine, np.asarray(y), np.random.default_rng(seed))


def test_features_that_are_the_class():
    """Within a class every cosine is 1, between two every cosine is 0."""
    y = np.repeat([0, 1, 2], 10)
    assert separation(np.eye(3)[y], y) == 1


def test_features_that_say_nothing():
    rng = np.random.default_rng(0)
    assert separation(rng.normal(size=(2000, 5)), rng.integers(4, size=2000)) < 0.05


def test_by_hand_with_one_odd_node():
    """Class 0 has 9 nodes (1, 0) and one (0, 1); all 10 of class 1 are (0, 1).

    Within a class a pair has cosine 0 where exactly one of the two is the odd node: the first of a pair is of
    class 0 with probability 1/2, and then the pair holds the odd node with probability 1/5. Between classes a
    pair has cosine 1 where the odd node is in it: 1/10.
    """
    x = np.repeat([[1, 0], [0, 1]], 10, axis=0)
    x[0] = [0, 1]
    # F within at 0 is 1/2 · 1/5 = 0.1, F between at 0 is 0.9; with 400 pairs each is known to √(0.09/400).
    assert separation(x, np.repeat([0, 1], 10)) == pytest.approx(0.8, abs=4 * 2**0.5 * 0.015)


@pytest.mark.parametrize(
    "y",
    [
        np.full(50, -1),
        np.zeros(50, dtype=int),
        np.arange(50),
        np.where(np.arange(50) < MIN_NODES - 1, np.arange(50) % 2, -1),
    ],
    ids=["no label", "one class", "a class each", "too few"],
)
def test_undefined(y):
    assert separation(np.ones((50, 2)), y) is None


def test_a_class_of_one_node_is_in_pairs_of_two_classes_only():
    """Node 0 alone differs from all; within the class of the others every cosine is 1."""
    x, y = np.tile([[1, 0]], (30, 1)), np.ones(30, dtype=int)
    x[0], y[0] = [0, 1], 0
    assert separation(x, y) == 1


@given(seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_unknown_labels_and_their_features_are_not_used(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(-1, 3, size=200)
    x = rng.normal(size=(200, 3))
    before = separation(x, y, seed)
    x[y == -1] = rng.normal(size=((y == -1).sum(), 3))
    assert separation(x, y, seed) == before


@pytest.mark.parametrize("homophily", [0.95, 0.5, 0.05])
def test_where_edges_follow_labels_alone_d_is_the_excess_of_homophily_times_the_separation(homophily):
    graph = contextual_sbm(3000, num_classes=4, num_features=4, homophily=homophily, signal=3)
    diagnosis = diagnose(graph, simple=False)
    assert diagnosis.separation > 0.5
    expected = abs(homophily - 1 / 4) * diagnosis.separation
    assert diagnosis.ks == pytest.approx(expected, abs=0.025)
