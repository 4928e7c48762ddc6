"""Bootstrap intervals: every weighted metric against the metric itself on nodes drawn one by one."""

import numpy as np
import pytest

from otherhalf.report import intervals
from otherhalf.report.intervals import bootstrap_intervals, of_cells, of_nodes, per_node, wilson
from otherhalf.training.measures import confusion
from otherhalf.training.metrics import METRICS


def drawn(classes, n=80, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(classes), n)
    if ties:
        p = np.round(p, 1) + 1e-3
        p /= p.sum(axis=1, keepdims=True)
    y = np.where(rng.random(n) < 0.6, p.argmax(axis=1), rng.integers(0, classes, n))
    return p.astype(np.float32), y


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_counts_of_nodes_are_nodes_drawn_one_by_one(classes, ties):
    p, y = drawn(classes, ties=ties)
    rng = np.random.default_rng(1)
    draws = rng.integers(0, len(y), (5, len(y)))
    counts = np.stack([np.bincount(draw, minlength=len(y)) for draw in draws]).astype(float)
    for name, measure in of_nodes(p, y).items():
        expected = [METRICS[name].function(p[draw], y[draw]) for draw in draws]
        rare = np.bincount(y, minlength=classes).argmin()
        if name == "average_precision" and classes == 2:
            # The rarer class of a draw may be another one; the interval is of the one that is judged.
            same = [np.bincount(y[draw], minlength=2).argmin() == rare for draw in draws]
        else:
            same = [True] * len(draws)
        found = measure(counts)
        for each, value, comparable in zip(found, expected, same, strict=True):
            if comparable:
                assert each == pytest.approx(value, abs=1e-5), name


@pytest.mark.parametrize("classes", [2, 4])
def test_counts_of_cells_are_nodes_drawn_one_by_one(classes):
    p, y = drawn(classes)
    cells = np.arange(classes * classes)
    draws = np.random.default_rng(1).integers(0, len(y), (5, len(y)))
    counts = np.stack([confusion(p[d].argmax(axis=1), y[d], classes).ravel() for d in draws]).astype(float)
    found = of_cells(counts, cells // classes, cells % classes, classes)
    for name, values in found.items():
        expected = [METRICS[name].function(p[draw], y[draw]) for draw in draws]
        np.testing.assert_allclose(values, expected, atol=1e-12)


def test_every_metric_has_an_interval_around_its_value():
    p, y = drawn(5, n=400)
    found = bootstrap_intervals(p, y, seed=0)
    assert found.keys() == METRICS.keys()
    for name in METRICS.keys() - {"calibration_error"}:  # which draws make larger: they add noise to each bin
        low, high = found[name]
        value = METRICS[name].function(p, y)
        assert low < value < high
        assert high - low < 0.4
    assert found == bootstrap_intervals(p, y, seed=0)
    assert found != bootstrap_intervals(p, y, seed=1)


def test_the_interval_of_accuracy_has_the_width_of_a_binomial():
    p, y = drawn(3, n=1000)
    accuracy = METRICS["accuracy"].function(p, y)
    low, high = bootstrap_intervals(p, y, seed=0)["accuracy"]
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(accuracy * (1 - accuracy) / 1000), rel=0.15)


def test_what_is_undefined_or_too_much_work_has_none(monkeypatch):
    assert bootstrap_intervals(np.empty((0, 3), np.float32), np.empty(0, int), 0) == {}
    p = np.tile(np.array([0.3, 0.7], np.float32), (10, 1))
    found = bootstrap_intervals(p, np.ones(10, int), 0)
    assert found["roc_auc"] is None
    assert found["accuracy"] == (1.0, 1.0)
    monkeypatch.setattr(intervals, "MOST_WORK", 10)
    assert "roc_auc" not in bootstrap_intervals(*drawn(3), 0)


def test_values_of_nodes_have_the_metric_as_their_mean():
    p, y = drawn(5, ties=True)
    for name in intervals.MEANS:
        assert per_node(name, p, y).mean() == pytest.approx(METRICS[name].function(p, y), abs=1e-6)


def test_wilson_by_hand():
    # Of 10 nodes, 10 are right: (10 + z²/2)/(10 + z²) less z √(z²/4)/(10 + z²), which is 10/(10 + z²).
    low, high = wilson(10, 10)
    assert low == pytest.approx(10 / (10 + 1.959964**2))
    assert high == pytest.approx(1)
    assert wilson(0, 10) == pytest.approx((0, 1 - low))
