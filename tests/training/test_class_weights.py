"""Weights of classes: balanced by hand, given ones on the same scale, and one sentence for wrong ones."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_class_weight

from otherhalf import Graph, Split
from otherhalf.errors import InputError
from otherhalf.training.class_weights import CLASS_WEIGHT, by_name, class_weights, node_weights, weights_of

SPAM = np.array([0, 0, 0, 1])  # three of ham, one of spam
NAMES = ["ham", "spam"]


def test_balanced_by_hand():
    # 4 / (2 · 3) and 4 / (2 · 1): either class counts two nodes.
    assert class_weights("balanced", NAMES, SPAM) == pytest.approx([2 / 3, 2])


@drawn(st.lists(st.integers(0, 3), min_size=2, max_size=30).filter(lambda codes: len(set(codes)) > 1))
def test_balanced_is_that_of_scikit_learn(codes):
    codes = np.array(codes)
    present = np.unique(codes)
    expected = compute_class_weight("balanced", classes=present, y=codes)
    found = class_weights("balanced", list("abcd"), codes)
    if found is None:
        assert np.ptp(expected) == 0
    else:
        assert found[present] == pytest.approx(expected)


def test_given_weights_have_the_mean_one_over_the_nodes():
    # 5 and 1: the sum over the nodes is 3 + 5 = 8, for four nodes.
    for given in ({"spam": 5}, {"spam": 5, "ham": 1}, {"spam": 50, "ham": 10}):
        assert class_weights(given, NAMES, SPAM) == pytest.approx([0.5, 2.5])
    assert class_weights({1: 5}, np.array([0, 1]), SPAM) == pytest.approx([0.5, 2.5])


def test_a_class_without_training_nodes_counts_like_the_rarest():
    assert class_weights("balanced", ["a", "b", "c"], SPAM) == pytest.approx([2 / 3, 2, 2])


@pytest.mark.parametrize("given", [None, {"ham": 3, "spam": 3}, {"ham": 1}])
def test_weights_that_are_all_the_same_are_none(given):
    assert class_weights(given, NAMES, SPAM) is None
    assert class_weights("balanced", NAMES, np.array([0, 1, 1, 0])) is None


def test_a_class_that_no_node_has():
    with pytest.raises(
        InputError, match="names the class 'Spam', which no node has: the classes are ham, spam"
    ):
        class_weights({"Spam": 2}, NAMES, SPAM)


@pytest.mark.parametrize(
    "wrong", ["auto", {}, {"a": 0}, {"a": -1}, {"a": "x"}, {"a": np.inf}, 3, [1, 2], True]
)
def test_what_is_not_allowed(wrong):
    with pytest.raises(
        InputError, match="class_weight must be None, 'balanced' or a dictionary from classes"
    ):
        CLASS_WEIGHT.check("class_weight", wrong)


@pytest.mark.parametrize("right", [None, "balanced", {"a": 1}, {0: 0.5, 1: np.float32(2)}])
def test_what_is_allowed(right):
    CLASS_WEIGHT.check("class_weight", right)


def test_names_of_classes_become_text():
    assert by_name({0: 1, "b": 2}) == {"0": 1, "b": 2}
    assert by_name("balanced") == "balanced"
    assert by_name(None) is None


def test_weights_of_nodes():
    weights = np.array([0.5, 2.5], dtype=np.float32)
    # Of two nodes the weights are 0.5 and 2.5, with the mean 1.5.
    assert node_weights(weights, np.array([0, 1])) == pytest.approx([1 / 3, 5 / 3])
    assert node_weights(None, np.array([0, 1])).tolist() == [1, 1]


def test_of_a_fit():
    graph = Graph(edges=[[0, 1], [1, 2]], x=np.eye(4), y=["ham", "ham", "spam", "ham"])
    fit = Split([0, 1, 2], [3], [])
    assert weights_of(SimpleNamespace(class_weight="balanced"), graph, fit) == pytest.approx([0.75, 1.5])
    assert weights_of(SimpleNamespace(), graph, fit) is None  # an estimator that learns nothing
