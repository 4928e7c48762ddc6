"""How much say a second classifier gets beside the first."""

import numpy as np
import pytest

from otherhalf.estimators.blend import blended, choose_share
from otherhalf.training.metrics import score

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


def test_the_metric_decides_what_right_is():
    # The first has every node on its side but the wrong way round within them; the second has them in order
    # and takes all for class 0. Accuracy trusts the first, and the order the second.
    first = probabilities([0.4, 0.6], [0.9, 0.1], [0.45, 0.55], [0.45, 0.55])
    second = probabilities([0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.6, 0.4])
    y = np.array([0, 0, 1, 1])
    by_accuracy, by_order = (choose_share(first, second, y, metric) for metric in ("accuracy", "roc_auc"))
    assert score("accuracy", blended(first, second, by_accuracy), y) == 1.0
    assert score("roc_auc", blended(first, second, by_order), y) == 1.0


def test_by_order_alone_a_second_in_order_is_followed():
    first = probabilities([0.1, 0.9], [0.2, 0.8], [0.8, 0.2], [0.9, 0.1])  # all the wrong way round
    second = probabilities([0.99, 0.01], [0.98, 0.02], [0.6, 0.4], [0.55, 0.45])  # in order, all class 0
    y = np.array([0, 0, 1, 1])
    share = choose_share(first, second, y, "roc_auc")
    assert score("roc_auc", first, y) == 0.0
    assert score("roc_auc", blended(first, second, share), y) == 1.0


def test_one_class_alone_has_no_order_and_the_first_keeps_its_say():
    one = probabilities(SURE_OF_0, SURE_OF_1)
    assert choose_share(one, one, np.array([1, 1]), "roc_auc") == 0.0
