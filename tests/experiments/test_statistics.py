import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from otherhalf.experiments.statistics import Summary, p_value, paired_difference

SCORES = st.floats(0, 1)
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=12)


def test_the_deviation_is_that_of_a_sample():
    found = Summary.of([0.8, 0.9, 0.85])
    assert found.mean == pytest.approx(0.85)
    assert found.std == pytest.approx(0.05)  # with ddof 0 it would be 0.0408
    assert found.runs == 3
    assert str(found) == "85.00 ± 5.00"


def test_one_run_has_no_deviation():
    assert Summary.of([0.5]) == Summary(0.5, None, 1)
    assert str(Summary.of([0.5])) == "50.00"


def test_by_hand():
    # Differences 0.02, 0.04, 0.06: mean 0.04, deviation 0.02; the root of (1/3 + 1/3) · 0.0004 is 0.01633,
    # so t = 2.449 with 2 degrees of freedom, and P(|t| > x) = 1 − x/√(x² + 2) there.
    found = paired_difference([0.52, 0.54, 0.56], [0.5, 0.5, 0.5], 1 / 3)
    assert found.mean == pytest.approx(0.04)
    assert found.std == pytest.approx(0.02)
    t = 0.04 / math.sqrt((1 / 3 + 1 / 3) * 0.0004)
    assert t == pytest.approx(2.449, abs=1e-3)
    assert found.p == pytest.approx(1 - t / math.sqrt(t**2 + 2))


def test_without_a_correction_it_is_the_usual_paired_test():
    first, second = [0.81, 0.84, 0.79, 0.88, 0.83], [0.80, 0.80, 0.81, 0.84, 0.82]
    assert paired_difference(first, second, 0.0).p == pytest.approx(ttest_rel(first, second).pvalue)


def test_the_correction_makes_it_more_careful():
    first, second = [0.81, 0.84, 0.79, 0.88, 0.83], [0.80, 0.80, 0.81, 0.84, 0.82]
    ps = [paired_difference(first, second, ratio).p for ratio in (0.0, 1 / 3, 1.0)]
    assert ps == sorted(ps)
    assert ps[0] < ps[2]


@given(PAIRS, st.sampled_from([0.0, 1 / 3, 2.0]))
def test_the_other_way_round_only_the_sign_changes(pairs, ratio):
    first, second = zip(*pairs, strict=True)
    one, other = paired_difference(first, second, ratio), paired_difference(second, first, ratio)
    assert one.mean == pytest.approx(-other.mean, abs=1e-12)
    assert one.std == pytest.approx(other.std, abs=1e-12)
    assert (one.p is None) == (other.p is None)
    assert one.p is None or len(pairs) > 2
    if one.p is not None:
        assert one.p == pytest.approx(other.p, abs=1e-9)
        assert 0 <= one.p <= 1


@pytest.mark.parametrize("runs", [1, 2])
def test_too_few_runs_have_no_p(runs):
    found = paired_difference([0.9] * runs, [0.8] * runs, 1 / 3)
    assert found.p is None
    assert (found.std is None) == (runs == 1)


def test_equal_runs():
    scores = [0.8, 0.7, 0.9]
    same = paired_difference(scores, scores, 1 / 3)
    assert (same.mean, same.std, same.p) == (0, 0, 1)
    always = paired_difference([0.75, 0.5, 0.25], [0.5, 0.25, 0.0], 1 / 3)
    assert (always.mean, always.std, always.p) == (0.25, 0, None)  # nothing to judge it by


def test_differences_that_are_equal_but_for_rounding():
    found = paired_difference([11 / 12, 12 / 12, 10 / 12], [9 / 12, 10 / 12, 8 / 12], 1 / 3)
    assert found.mean == pytest.approx(1 / 6)
    assert found.p is None


def test_unequal_numbers_of_runs_are_a_mistake():
    with pytest.raises(ValueError, match="the same splits"):
        paired_difference([0.5, 0.6], [0.5], 1 / 3)


def test_a_small_p_is_not_printed_as_zero():
    assert [p_value(p, 3) for p in (1.0, 0.0123, 0.001, 0.0009, 0.0)] == [
        "1.000",
        "0.012",
        "0.001",
        "< 0.001",
        "< 0.001",
    ]
    assert [p_value(p, 2, "= ") for p in (0.126, 0.001)] == ["= 0.13", "< 0.01"]
