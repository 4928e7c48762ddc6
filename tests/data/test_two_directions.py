"""Edges in both directions: once if they are the same, and with their direction if they are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.data.two_directions import differing, without_reverses


def once(pairs, weights=None, directed=None, relations=None):
    pairs = np.array(pairs)
    weights, relations = (None if each is None else np.array(each) for each in (weights, relations))
    kept, directed = without_reverses(*pairs.T, 9, directed, weights=weights, relations=relations)
    return pairs[kept].tolist(), None if weights is None else weights[kept].tolist(), directed


@pytest.mark.parametrize(
    ("pairs", "weights", "expected"),
    [
        ([(0, 1), (1, 0)], None, ([[0, 1]], None, False)),
        ([(0, 1), (1, 0)], [2, 2], ([[0, 1]], [2], False)),
        ([(0, 1), (1, 0)], [2, 3], ([[0, 1], [1, 0]], [2, 3], True)),
        ([(0, 1), (1, 0), (2, 1)], [2, 2, 2], ([[0, 1], [1, 0], [2, 1]], [2, 2, 2], True)),
        ([(0, 1), (1, 0), (0, 1)], [1, 3, 2], ([[0, 1], [0, 1]], [1, 2], False)),
        ([(2, 2), (1, 0), (0, 1)], [1, 3, 3], ([[2, 2], [0, 1]], [1, 3], False)),
    ],
)
def test_symmetric_or_directed(pairs, weights, expected):
    assert once(pairs, weights) == expected


def test_the_user_decides():
    assert once([(0, 1), (1, 0)], [2, 2], directed=True) == ([[0, 1], [1, 0]], [2, 2], True)
    assert once([(0, 1), (1, 0)], [2, 3], directed=False) == ([[0, 1], [1, 0]], [2, 3], False)
    assert once([(0, 1), (1, 0)], [2, 2], directed=False) == ([[0, 1]], [2], False)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.floats(1e-3, 1e3)), min_size=1))
def test_a_list_with_all_its_reverses_is_undirected(edges):
    both = [(s, t) for s, t, _ in edges] + [(t, s) for s, t, _ in edges]
    weights = [w for *_, w in edges] * 2
    found, kept, directed = once(both, weights)
    assert not directed
    assert {tuple(pair) for pair in found} == {(min(s, t), max(s, t)) for s, t, _ in edges}
    loops = sum(w for s, t, w in edges if s == t)
    assert sum(kept) == pytest.approx(sum(w for *_, w in edges) + loops)


def test_no_edges():
    nothing = np.empty(0, dtype=np.int64)
    kept, directed = without_reverses(nothing, nothing, 9, None, weights=np.empty(0))
    assert (kept.shape, directed) == ((0,), False)


def test_other_relations_back_are_a_direction():
    both = [(0, 1), (1, 0)]
    assert once(both, relations=[0, 1]) == ([[0, 1], [1, 0]], None, True)
    assert once(both, relations=[1, 1]) == ([[0, 1]], None, False)
    assert once(both * 2, [1, 1, 5, 5], relations=[0, 0, -1, -1]) == ([[0, 1], [0, 1]], [1, 5], False)


def test_entries_that_are_all_the_same_are_no_weights():
    assert differing(np.array([2.0, 2.0])) is None
    assert differing(np.array([])) is None
    assert differing(np.array([2.0, 3.0])).tolist() == [2, 3]
