"""How much say a second classifier gets beside the first."""

import numpy as np
import pytest

from otherhalf.blend import blended, choose_share

SURE_OF_0, SURE_OF_1 = [0.9, 0.1], [0.1, 0.9]


def probabilities(*rows):
    return np.array(rows, dtype=np.float32)


def test_blended_is_the_weighted_mean():
    found = blended(probabilities([0.9, 0.1]), probabilities([0.1, 0.9]), 0.25)
    assert found.dtype == np.float32
    assert found[0] == pytest.approx([0.75 * 0.9 + 0.25 * 0.1, 0.75 * 0.1 + 0.25 * 0.9])


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_ends_are_the_classifiers_themselves(share):
    first, second = probabilities(SURE_OF_0), probabilities(SURE_OF_1)
    assert np.array_equal(blended(first, second, share), second if share else first)


def test_a_second_that_is_always_wrong_gets_no_say():
    y = np.array([0, 1])
    assert choose_share(probabilities(SURE_OF_0, SURE_OF_1), probabilities(SURE_OF_1, SURE_OF_0), y) == 0.0


def test_a_first_that_is_always_wrong_has_no_say():
    y = np.array([0, 1])
    assert choose_share(probabilities(SURE_OF_1, SURE_OF_0), probabilities(SURE_OF_0, SURE_OF_1), y) == 1.0


def test_both_speak_where_only_together_they_are_right():
    # Each is a little wrong about one node and very right about the other: any blend near the middle is
    # right about both, and the likeliest of those is the even one.
    first = probabilities([0.45, 0.55], [0.1, 0.9])
    second = probabilities([0.9, 0.1], [0.55, 0.45])
    assert choose_share(first, second, np.array([0, 1])) == 0.5
