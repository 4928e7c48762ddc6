"""Scales of numbers."""

import numpy as np
import pytest

from otherhalf.data.columns.scaling import COUNTS, FURTHEST, LOG, STANDARD, Scaling


def test_standard_by_hand():
    scaling = Scaling.learn(np.array([1.0, 2.0, 3.0]))
    assert scaling.way == STANDARD
    deviation = np.sqrt(2 / 3)
    np.testing.assert_allclose(
        scaling.apply(np.array([1.0, 3.0, np.nan])), [-1 / deviation, 1 / deviation, 0]
    )


def test_heavy_tails():
    values = np.sort(np.random.default_rng(0).lognormal(0, 2, 2000))
    scaling = Scaling.learn(values)
    assert scaling.way == LOG
    assert "heavy tails" in scaling.why
    scaled = scaling.apply(values)
    assert abs(scaled.mean()) < 1e-9
    assert abs(scaled.std() - 1) < 1e-9
    assert (np.diff(scaled) > 0).all()
    assert abs(scaled).max() < 5


def test_normal_values_are_standard():
    assert Scaling.learn(np.sort(np.random.default_rng(0).normal(5, 2, 2000))).way == STANDARD


def test_counts_keep_zero():
    scaling = Scaling.learn(np.sort(np.array([0.0] * 18 + [1, 5])))
    assert scaling.way == COUNTS
    assert scaling.apply(np.array([0.0, 1.0, np.nan])).tolist()[::2] == [0, 0]
    assert np.sqrt((scaling.apply(np.array([1.0, 5.0])) ** 2).mean()) == pytest.approx(1)


def test_one_far_value_among_equal_ones():
    scaling = Scaling.learn(np.array([7.0] * 99 + [1e9]))
    assert scaling.way == LOG
    assert np.isfinite(scaling.apply(np.array([7.0, 1e9, -1e9]))).all()


@pytest.mark.parametrize(
    "values",
    [
        [-1e150, 1e150],
        [0.0, 5e-324],
        [1e150] * 3,
        [],
        [0.0],
        [-1e150, 0, 0, 0, 0, 1e-150],
        [1e-160] * 50 + [1e150],
    ],
)
def test_extreme_values_stay_finite(values):
    scaling = Scaling.learn(np.array(values))
    scaled = scaling.apply(np.array([*values, -1e150, 1e150, 0.0, 5e-324, np.nan]))
    assert np.isfinite(scaled).all()
    assert abs(scaled).max() <= FURTHEST


def test_far_new_values_are_bounded():
    assert Scaling.learn(np.array([1.0, 2.0])).apply(np.array([1e9])).tolist() == [FURTHEST]


@pytest.mark.parametrize(
    "values",
    [[1.0, 2.0, 3.0], [0.0] * 18 + [1.0, 5.0], np.exp(np.linspace(-3, 6, 40)).tolist(), [4.0, 4.0]],
    ids=[STANDARD, COUNTS, LOG, "constant"],
)
def test_a_scale_can_be_undone(values):
    scaling = Scaling.learn(np.sort(values))
    np.testing.assert_allclose(scaling.undo(scaling.apply(np.array(values))), values, atol=1e-9)
