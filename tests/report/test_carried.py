"""The columns that carried predictions: the largest effects first."""

import numpy as np
from tests.report.fits import graph, reported

from otherhalf.report import carried
from otherhalf.report.carried import CarriedColumns
from otherhalf.report.linear import read_linearly

NODES = np.arange(0, 150, 7)


def test_the_largest_effects_are_listed():
    fit = reported()
    found = CarriedColumns.of(fit, NODES, 4)
    x = fit.prepared.scaling.apply(graph().x)
    reading = read_linearly(x, fit.probabilities)
    effects = reading.effects(x[NODES], fit.predicted[NODES])
    told = 0
    for row, listed in enumerate(found.listed):
        if not reading.explains(fit.predicted[NODES[row : row + 1]])[0]:
            assert listed is None
            continue
        told += 1
        expected = np.argsort(-np.abs(effects[row]), kind="stable")[:4]
        assert [found.names[place] for place, _, _ in listed] == [f"feature {j}" for j in expected]
        for (_, cell, effect), j in zip(listed, expected, strict=True):
            assert abs(effect - effects[row, j]) < 1e-3
            assert abs(float(cell) - graph().x[NODES[row], j]) <= 1e-3 * abs(graph().x[NODES[row], j])
    assert told


def test_blocks_change_nothing(monkeypatch):
    first = CarriedColumns.of(reported(), NODES, 3)
    monkeypatch.setattr(carried, "BLOCK_ENTRIES", 10)
    second = CarriedColumns.of(reported(), NODES, 3)
    assert (first.names, first.listed) == (second.names, second.listed)


def test_features_that_do_not_vary_carry_nothing(monkeypatch):
    monkeypatch.setattr(carried, "read_linearly", lambda *_: None)
    assert CarriedColumns.of(reported(), NODES, 3) is None
