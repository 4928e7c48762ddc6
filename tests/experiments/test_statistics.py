import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import nct, t, ttest_1samp, ttest_rel

from otherhalf.experiments.statistics import (
    LEVEL,
    MARGIN,
    POWER,
    Difference,
    Summary,
    Verdict,
    confidence_interval,
    detectable_difference,
    equivalence_p,
    holm,
    p_value,
    paired_difference,
    verdicts,
)

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
    value = 0.04 / math.sqrt((1 / 3 + 1 / 3) * 0.0004)
    assert value == pytest.approx(2.449, abs=1e-3)
    assert found.p == pytest.approx(1 - value / math.sqrt(value**2 + 2))
    assert found.error == pytest.approx(0.01633, abs=1e-5)
    assert found.runs == 3


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


SOME, OTHERS = [0.81, 0.84, 0.79, 0.88, 0.83], [0.80, 0.80, 0.81, 0.84, 0.82]


def test_the_interval_without_a_correction_is_the_usual_one():
    usual = ttest_rel(SOME, OTHERS).confidence_interval(0.95)
    assert confidence_interval(paired_difference(SOME, OTHERS, 0.0)) == pytest.approx(tuple(usual))


@pytest.mark.parametrize("level", [0.01, 0.05, 0.5])
def test_the_interval_has_the_corrected_error(level):
    found = paired_difference(SOME, OTHERS, 1 / 3)
    expected = t.interval(1 - level, 4, loc=found.mean, scale=found.error)
    assert confidence_interval(found, level) == pytest.approx(expected)


@example([(0.0, 0.0), (0.0, 0.0), (0.0, 1.6e-237)], 0.0)
@given(PAIRS, st.sampled_from([0.0, 1 / 3, 2.0]))
def test_the_interval_leaves_out_zero_if_the_test_shows_a_difference(pairs, ratio):
    found = paired_difference(*zip(*pairs, strict=True), ratio)
    interval = confidence_interval(found)
    assert (interval is None) == (found.p is None)
    if interval is not None and abs(found.p - LEVEL) > 1e-6:
        low, high = interval
        assert (low > 0 or high < 0) == (found.p < LEVEL)


def test_the_interval_of_equal_runs():
    assert confidence_interval(paired_difference(SOME, SOME, 1 / 3)) == (0, 0)
    assert confidence_interval(paired_difference(SOME[:2], OTHERS[:2], 1 / 3)) is None


def test_a_small_p_is_not_printed_as_zero():
    assert [p_value(p, 3) for p in (1.0, 0.0123, 0.001, 0.0009, 0.0)] == [
        "1.000",
        "0.012",
        "0.001",
        "< 0.001",
        "< 0.001",
    ]
    assert [p_value(p, 2, "= ") for p in (0.126, 0.001)] == ["= 0.13", "< 0.01"]


# ---------------------------------------------------------------------- several comparisons

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_by_hand():
    # In rising order: 4 · 0.005 = 0.02, 3 · 0.01 = 0.03, 2 · 0.03 = 0.06; 1 · 0.04 = 0.04 is raised to 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_does_not_exceed_one():
    assert holm([0.5, 0.9, 0.4]) == [1, 1, 1]
    assert holm([0.3]) == [0.3]
    assert holm([]) == []


def test_holm_leaves_out_tests_that_were_not_possible():
    found = holm([0.01, math.nan, 0.04, math.nan, 0.03, 0.005])
    assert [found[i] for i in (0, 2, 4, 5)] == holm([0.01, 0.04, 0.03, 0.005])
    assert math.isnan(found[1])
    assert math.isnan(found[3])
    assert math.isnan(holm([math.nan])[0])


@given(P_VALUES)
def test_holm_raises_p_values_and_keeps_their_order(p_values):
    adjusted = holm(p_values)
    assert all(p <= new <= 1 for p, new in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)
    bonferroni = min(1, len(p_values) * min(p_values))
    assert min(adjusted) == bonferroni
    assert all(new <= min(1, len(p_values) * p) for p, new in zip(p_values, adjusted, strict=True))


@given(P_VALUES, st.randoms())
def test_holm_does_not_depend_on_the_order(p_values, random):
    shuffled = random.sample(range(len(p_values)), len(p_values))
    adjusted = holm(p_values)
    assert holm([p_values[i] for i in shuffled]) == [adjusted[i] for i in shuffled]


# ---------------------------------------------------------------------- tied, or too few splits

FIRST = [0.812, 0.840, 0.791, 0.883, 0.835, 0.820]
SECOND = [0.811, 0.836, 0.795, 0.880, 0.833, 0.822]


@pytest.mark.parametrize("margin", [0.001, 0.005, 0.02])
def test_without_a_correction_the_test_of_equivalence_is_the_usual_one(margin):
    differences = [a - b for a, b in zip(FIRST, SECOND, strict=True)]
    above = ttest_1samp(differences, -margin, alternative="greater").pvalue
    below = ttest_1samp(differences, margin, alternative="less").pvalue
    found = equivalence_p(paired_difference(FIRST, SECOND, 0.0), margin)
    assert found == pytest.approx(max(above, below))
    assert equivalence_p(paired_difference(SECOND, FIRST, 0.0), margin) == pytest.approx(found)


def test_equivalence_by_hand():
    # With 2 degrees of freedom, P(T > x) = (1 − x/√(x² + 2)) / 2. Mean 0.04, error 0.01633, margin 0.06.
    found = paired_difference([0.52, 0.54, 0.56], [0.5, 0.5, 0.5], 1 / 3)
    x = (0.06 - 0.04) / math.sqrt((1 / 3 + 1 / 3) * 0.0004)
    assert equivalence_p(found, 0.06) == pytest.approx((1 - x / math.sqrt(x**2 + 2)) / 2)
    assert equivalence_p(found, 0.04) == pytest.approx(0.5)  # at the margin
    assert equivalence_p(found, 0.01) > 0.5  # outside it


def test_the_margin_is_one_percentage_point():
    assert MARGIN == 0.01
    found = paired_difference(FIRST, SECOND, 1 / 3)
    assert equivalence_p(found) == equivalence_p(found, 0.01)


def test_the_correction_makes_equivalence_and_detection_more_careful():
    found = [paired_difference(FIRST, SECOND, ratio) for ratio in (0.0, 1 / 3, 1.0)]
    tied, smallest = [equivalence_p(each) for each in found], [detectable_difference(each) for each in found]
    assert tied == sorted(tied)
    assert tied[0] < tied[2]
    assert smallest == sorted(smallest)
    # (1/6 + 1) / (1/6) = 7
    assert smallest[2] == pytest.approx(smallest[0] * math.sqrt(7))


@pytest.mark.parametrize(("runs", "effect"), [(10, 0.9960), (20, 0.6604), (30, 0.5292), (50, 0.4042)])
def test_the_detectable_difference_of_known_designs(runs, effect):
    """Standardised effects that a paired t-test finds with 80 % power at 5 %, as power tables have them."""
    scores = [i / 1000 * (-1) ** i for i in range(runs)]
    found = paired_difference(scores, [0.0] * runs, 0.0)
    assert detectable_difference(found) / found.std == pytest.approx(effect, abs=1e-4)


@pytest.mark.parametrize("ratio", [0.0, 1 / 3])
@pytest.mark.parametrize("runs", [3, 5, 10, 50])
def test_the_power_at_the_detectable_difference(runs, ratio):
    scores = [i / 1000 * (-1) ** i for i in range(runs)]
    found = paired_difference(scores, [0.0] * runs, ratio)
    noncentrality = detectable_difference(found) / (found.std * math.sqrt(1 / runs + ratio))
    critical = t.isf(LEVEL / 2, runs - 1)
    assert nct.sf(critical, runs - 1, noncentrality) == pytest.approx(POWER, abs=1e-6)


def test_more_power_or_a_stricter_level_need_a_larger_difference():
    found = paired_difference(FIRST, SECOND, 1 / 3)
    usual = detectable_difference(found)
    assert detectable_difference(found, power=0.9) > usual
    assert detectable_difference(found, level=0.01) > usual


NO_TEST = [
    paired_difference([0.9], [0.8], 1 / 3),
    paired_difference([0.9, 0.8], [0.8, 0.9], 1 / 3),
    paired_difference([0.75, 0.5, 0.25], [0.5, 0.25, 0.0], 1 / 3),
]


@pytest.mark.parametrize("difference", NO_TEST, ids=["one split", "two splits", "the same on every split"])
def test_without_a_test_nothing_can_be_told(difference):
    assert difference.error is None
    assert equivalence_p(difference) is None
    assert detectable_difference(difference) is None
    assert verdicts([difference]) == [Verdict("too few splits to tell", None, None)]


def test_equal_scores_are_tied():
    same = paired_difference([0.8, 0.7, 0.9], [0.8, 0.7, 0.9], 1 / 3)
    assert equivalence_p(same) == 0
    assert verdicts([same]) == [Verdict("tied", 1.0, None)]


def difference(mean, error, runs=10):
    """A difference with this t statistic."""
    return Difference(mean, error, 2 * t.sf(abs(mean / error), runs - 1), error, runs)


def test_the_four_verdicts():
    given = [
        difference(0.05, 0.01),  # t = 5
        difference(-0.05, 0.01),
        difference(0.001, 0.002),  # (0.01 − 0.001) / 0.002 = 4.5
        difference(0.01, 0.02),
        *NO_TEST,
    ]
    found = verdicts(given)
    unknown = ["too few splits to tell"] * 4
    assert [each.words for each in found] == ["worse", "better", "tied", *unknown]
    # 3.1496 is the noncentrality with which t > 2.262 has a chance of 80 % at 9 degrees of freedom.
    assert found[3].detectable == pytest.approx(3.1496 * 0.02, rel=1e-4)
    assert [each.p is None for each in found] == [False] * 4 + [True] * 3
    # The four tests that were possible count, and no other.
    assert found[0].p == pytest.approx(4 * 2 * t.sf(5, 9))
    smaller = verdicts(given, larger_is_better=False)
    assert [each.words for each in smaller] == ["better", "worse", "tied", *unknown]


def test_verdicts_are_adjusted_for_the_number_of_comparisons():
    given = difference(0.03, 0.01)  # t = 3, p = 0.015
    assert verdicts([given])[0].words == "worse"
    assert [each.words for each in verdicts([given] * 3)] == ["worse"] * 3  # 0.045
    assert [each.words for each in verdicts([given] * 4)] == ["too few splits to tell"] * 4  # 0.060
    alike = difference(0.0, 0.004)  # 0.01 / 0.004 = 2.5, one-sided p = 0.017
    assert verdicts([alike])[0].words == "tied"
    assert verdicts([alike] * 3)[0].words == "too few splits to tell"  # 0.051


def test_the_margin_decides_what_is_tied():
    given = difference(0.0, 0.01)
    assert verdicts([given])[0].words == "too few splits to tell"
    assert verdicts([given], margin=0.03)[0].words == "tied"


def test_a_difference_that_is_shown_counts_even_within_the_margin():
    given = difference(0.003, 0.0005)
    assert equivalence_p(given) < 0.05
    assert verdicts([given])[0].words == "worse"
