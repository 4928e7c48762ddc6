"""Every measure against scikit-learn's or by hand, with ties, absent classes and numbers that are none."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from otherhalf.training import measures
from otherhalf.training.measures import confusion, rarer

ALL = [
    measures.accuracy,
    measures.balanced_accuracy,
    measures.macro_f1,
    measures.log_loss,
    measures.roc_auc,
    measures.average_precision,
    measures.top_k,
    measures.calibration_error,
]


def drawn(seed, nodes, classes, *, steps=4, every_class=False):
    """Probabilities with many ties, and labels."""
    rng = np.random.default_rng(seed)
    raw = rng.integers(1, steps + 1, (nodes, classes)).astype(np.float64)
    y = rng.integers(0, classes, nodes)
    if every_class:
        y[:classes] = np.arange(classes)
    return raw / raw.sum(axis=1, keepdims=True), y


any_problem = given(st.integers(0, 10_000), st.integers(6, 40), st.integers(2, 5))


@settings(deadline=None)
@any_problem
def test_they_are_scikit_learns(seed, nodes, classes):
    p, y = drawn(seed, nodes, classes)
    predicted = p.argmax(axis=1)
    assert measures.accuracy(p, y) == pytest.approx(sk.accuracy_score(y, predicted))
    assert measures.macro_f1(p, y) == pytest.approx(sk.f1_score(y, predicted, average="macro"))
    assert measures.log_loss(p, y) == pytest.approx(sk.log_loss(y, p, labels=np.arange(classes)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of predicted classes that have no node
        expected = sk.balanced_accuracy_score(y, predicted)
    assert measures.balanced_accuracy(p, y) == pytest.approx(expected)


@settings(deadline=None)
@any_problem
def test_those_over_all_thresholds_are_scikit_learns(seed, nodes, classes):
    p, y = drawn(seed, nodes, classes, every_class=True)
    if classes == 2:
        rare = rarer(y)
        assert measures.roc_auc(p, y) == pytest.approx(sk.roc_auc_score(y, p[:, 1]))
        expected = sk.average_precision_score(y == rare, p[:, rare])
    else:
        assert measures.roc_auc(p, y) == pytest.approx(sk.roc_auc_score(y, p, multi_class="ovr"))
        expected = sk.average_precision_score(np.eye(classes)[y], p, average="macro")
    assert measures.average_precision(p, y) == pytest.approx(expected)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(4, 7))
def test_top_3_is_scikit_learns_without_ties(seed, nodes, classes):
    rng = np.random.default_rng(seed)
    p, y = rng.random((nodes, classes)), rng.integers(0, classes, nodes)
    expected = sk.top_k_accuracy_score(y, p, k=3, labels=np.arange(classes))
    assert measures.top_k(p, y) == pytest.approx(expected)


def test_top_3_by_hand():
    p = np.array([[0.4, 0.3, 0.2, 0.1]] * 4)
    assert measures.top_k(p, np.arange(4)) == 3 / 4
    even = np.full((4, 4), 0.25)
    assert measures.top_k(even, np.arange(4)) == 3 / 4  # of equal ones the first come first
    assert math.isnan(measures.top_k(p[:, :3], np.arange(3)[[0, 1, 2, 0]]))  # always right


def test_average_precision_is_that_of_the_rarer_class():
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.3, 0.7]])
    y = np.array([0, 1, 1, 1])
    assert measures.average_precision(p, y) == 1.0  # the only 0 stands first
    p[0] = [0.1, 0.9]
    assert measures.average_precision(p, y) == 1 / 4  # and now last
    assert measures.average_precision(p[:, ::-1], 1 - y) == 1 / 4  # whatever its code
    assert rarer(np.array([0, 1])) == 1


def test_a_constant_prediction_has_the_share_of_the_class_as_average_precision():
    p, y = np.tile([0.7, 0.3], (10, 1)), np.array([1, 1] + [0] * 8)
    assert measures.average_precision(p, y) == pytest.approx(0.2)
    assert measures.roc_auc(p, y) == 0.5


def test_calibration_error_by_hand():
    p = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [1.0, 0.0]])
    y = np.array([0, 1, 0, 0])
    # Confidence 0.9: half of two are right; 0.6: one of one; 1.0: one of one.
    assert measures.calibration_error(p, y) == pytest.approx((2 * 0.4 + 0.4 + 0.0) / 4)
    assert measures.calibration_error(p[:1], y[:1]) == pytest.approx(0.1)


@settings(deadline=None)
@any_problem
def test_calibration_error_against_a_loop(seed, nodes, classes):
    p, y = np.random.default_rng(seed).dirichlet(np.ones(classes), nodes), drawn(seed, nodes, classes)[1]
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    total = 0.0
    for b in range(15):
        inside = (confidence > b / 15) & (confidence <= (b + 1) / 15)
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    assert measures.calibration_error(p, y) == pytest.approx(total)


def test_log_loss_of_a_probability_of_zero_is_finite():
    p = np.array([[1.0, 0.0], [0.5, 0.5]])
    for kind in (np.float32, np.float64):
        expected = sk.log_loss([1, 0], p.astype(kind))
        assert measures.log_loss(p.astype(kind), np.array([1, 0])) == pytest.approx(expected)


# ---------------------------------------------------------------------- what is undefined


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_score_that_is_no_number(measure, wrong):
    p, y = drawn(0, 30, 5, every_class=True)
    assert math.isfinite(measure(p, y))
    p[3, 1] = wrong
    assert math.isnan(measure(p, y))
    assert math.isnan(measure(p[:0], y[:0]))


def test_a_class_without_a_node():
    p, y = drawn(1, 40, 3)
    y[y == 2] = 0
    assert math.isnan(measures.roc_auc(p, y))
    assert math.isnan(measures.average_precision(p, y))
    for measure in (measures.accuracy, measures.macro_f1, measures.balanced_accuracy, measures.log_loss):
        assert math.isfinite(measure(p, y))


@pytest.mark.parametrize("only", [0, 1])
def test_one_class_only(only):
    p, y = np.array([[0.6, 0.4], [0.3, 0.7]]), np.array([only, only])
    assert math.isnan(measures.roc_auc(p, y))
    assert math.isnan(measures.average_precision(p, y))
    assert measures.balanced_accuracy(p, y) == 0.5
    assert measures.macro_f1(p, y) == pytest.approx((2 / 3 + 0) / 2)
    assert math.isnan(measures.roc_auc(p[:, :1], np.array([0, 0])))


def test_a_label_that_no_column_stands_for_is_wrong():
    p, y = drawn(2, 40, 4)
    unseen = y.copy()
    unseen[:10] = 4
    assert measures.top_k(p, unseen) == pytest.approx(0.75 * measures.top_k(p[10:], y[10:]))
    assert measures.accuracy(p, unseen) == pytest.approx(0.75 * measures.accuracy(p[10:], y[10:]))
    expected = sk.balanced_accuracy_score(unseen, p.argmax(axis=1))
    assert measures.balanced_accuracy(p, unseen) == pytest.approx(expected)


def test_confusion_is_scikit_learns():
    p, y = drawn(3, 50, 4)
    predicted = p.argmax(axis=1)
    expected = sk.confusion_matrix(y, predicted, labels=np.arange(4))
    np.testing.assert_array_equal(confusion(predicted, y, 4), expected)
    assert confusion(predicted[:0], y[:0], 4).tolist() == np.zeros((4, 4), dtype=int).tolist()
