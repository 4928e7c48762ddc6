"""The neighbours of nodes in both halves."""

import numpy as np
from tests.report.fits import fitted, graph, reported

from otherhalf.report.neighbours import Neighbours, heaviest


def test_the_heaviest_come_first_and_lower_numbers_among_equal_ones():
    nodes, weights = np.array([9, 4, 7, 2]), np.array([0.5, 0.5, -2.0, 0.1])
    assert heaviest(nodes, weights, 3) == ([7, 4, 9], [-2.0, 0.5, 0.5], 1)
    assert heaviest(nodes[:0], weights[:0], 3) == ([], [], 0)


def test_lists_are_those_of_the_halves():
    nodes = np.array([140, 3, 77])
    found = Neighbours.of(reported(), nodes, 2, 3)
    half = fitted().missing_half_
    for row, node in enumerate(nodes):
        given = sorted(graph().adjacency[node].indices.tolist())
        assert found.given[row] == given[:2]
        assert found.given_more[row] == max(0, len(given) - 2)
        mine = half.pairs[0] == node
        weights = dict(zip(half.pairs[1][mine].tolist(), half.weights[mine].tolist(), strict=True))
        expected = sorted(weights, key=lambda other: (-abs(weights[other]), other))
        assert found.found[row] == expected[:3]
        np.testing.assert_allclose(found.weights[row], [weights[other] for other in expected[:3]], atol=1e-4)
        assert found.found_more[row] == len(expected) - 3


def test_without_a_half_nothing_is_found():
    found = Neighbours.of(reported("none"), np.array([0, 1]), 2, 3)
    assert (found.found, found.found_more) == ([[], []], [0, 0])
