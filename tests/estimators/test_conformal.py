"""Prediction sets: by hand, and that they hold the true class as often as promised."""

import math

import numpy as np
import pytest

from otherhalf.errors import InputError
from otherhalf.estimators.conformal import Calibration, as_text


def problem(rng, nodes, classes=4):
    """Probabilities and labels of exchangeable nodes; the model is wrong about how sure it may be."""
    y = rng.integers(0, classes, nodes)
    logits = rng.normal(size=(nodes, classes))
    logits[np.arange(nodes), y] += 1.0
    p = np.exp(2.5 * logits)
    return (p / p.sum(axis=1, keepdims=True)).astype(np.float32), y


def test_by_hand():
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    calibration = Calibration.of(p, np.array([0, 0, 1, 1]))
    assert calibration.scores == pytest.approx([0.1, 0.2, 0.3, 0.6])
    assert calibration.limit(0.6) == pytest.approx(0.3)  # the third of four: ⌈5 · 0.6⌉
    assert calibration.limit(0.8) == pytest.approx(0.6)
    assert calibration.limit(0.81) == math.inf  # a fifth node would be needed
    new = np.array([[0.75, 0.25], [0.5, 0.5], [0.69, 0.31]])
    assert calibration.sets(new, 0.6).tolist() == [[True, False], [True, False], [True, False]]
    assert calibration.sets(new, 0.8).tolist() == [[True, False], [True, True], [True, False]]
    assert calibration.sets(new, 0.95).all()


def test_the_rank_is_not_moved_by_rounding():
    calibration = Calibration(np.arange(1, 10) / 10)
    assert calibration.limit(0.9) == pytest.approx(0.9)  # ⌈10 · 0.9⌉ = 9
    assert calibration.limit(0.7) == pytest.approx(0.7)  # 10 · 0.7 is 7.000000000000001 or 7
    assert calibration.limit(0.91) == math.inf


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
def test_the_coverage_holds_over_many_repetitions(coverage):
    rng, n, covered, exact = np.random.default_rng(0), 39, [], []
    for _ in range(2000):
        p, y = problem(rng, n + 10)
        calibration = Calibration.of(p[:n], y[:n])
        sets = calibration.sets(p[n:], coverage)
        covered.append(sets[np.arange(10), y[n:]].mean())
        scores = 1 - p[n:][np.arange(10), y[n:]].astype(float)
        exact.append((scores <= calibration.limit(coverage)).mean())
    error = 4 * np.std(covered) / np.sqrt(len(covered))
    assert np.mean(covered) >= coverage - error
    # Without the most probable class, which is put in, the coverage is at most 1/(n + 1) too high.
    assert coverage - error <= np.mean(exact) <= coverage + 1 / (n + 1) + error


def test_more_coverage_never_takes_a_class_away():
    p, y = problem(np.random.default_rng(1), 300)
    calibration = Calibration.of(p[:200], y[:200])
    before = calibration.sets(p[200:], 0.05)
    assert (before.sum(axis=1) == 1).all()  # never empty
    for coverage in (0.5, 0.8, 0.9, 0.99):
        sets = calibration.sets(p[200:], coverage)
        assert (sets | before == sets).all()
        before = sets


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.1, 1.2, math.nan, "high"])
def test_a_coverage_that_is_none(coverage):
    with pytest.raises(InputError, match="coverage must be a number > 0"):
        Calibration(np.array([0.5])).limit(coverage)


def test_no_calibration_nodes():
    with pytest.raises(InputError, match="no labelled node to calibrate on"):
        Calibration.of(np.ones((0, 2)), np.array([], dtype=int))


def test_as_text():
    sets = np.array([[True, False, True], [False, True, False], [True, False, True]])
    assert as_text(sets, np.array(["ant", "bee", "cat"])) == ["ant|cat", "bee", "ant|cat"]
    assert as_text(sets[:2], np.array([0, 1, 7])) == ["0|7", "1"]
