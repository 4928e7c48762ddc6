"""Statistics of runs: mean and standard deviation, and whether two models differ or are tied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

ROUNDING = 1e-12
"""Equal differences of scores differ by less than this."""

LEVEL = 0.05
"""Level of every test: the largest chance of a verdict that is wrong."""

POWER = 0.8
"""Chance that a detectable difference is detected."""

MARGIN = 0.01
"""Models that differ by less than this, one percentage point, count as tied."""

BETTER = "better"
WORSE = "worse"
TIED = "tied"
UNDECIDED = "too few splits to tell"


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation (ddof 1; None for a single run) of the runs' scores."""

    mean: float
    std: float | None
    runs: int

    @classmethod
    def of(cls, scores: Sequence[float]) -> Summary:
        """Return the summary of one or more scores."""
        return cls(mean(scores), stdev(scores) if len(scores) > 1 else None, len(scores))

    def __str__(self) -> str:
        spread = "" if self.std is None else f" ± {100 * self.std:.2f}"
        return f"{100 * self.mean:.2f}{spread}"


@dataclass(frozen=True)
class Difference:
    """One model minus another over the same splits, and how likely so large a difference is by chance.

    Attributes:
        mean: Mean of the differences.
        std: Their standard deviation (ddof 1); None for a single run.
        p: Two-sided p-value of the mean; None if no test is possible.
        error: Standard error of the mean, corrected for the overlap of the splits; None without a test.
        runs: Number of splits.
    """

    mean: float
    std: float | None
    p: float | None
    error: float | None = None
    runs: int = 0


@dataclass(frozen=True)
class Verdict:
    """What the tests say about a model.

    Attributes:
        words: ``better`` or ``worse`` than the reference, ``tied``, or ``too few splits to tell``.
        p: p-value of the difference, adjusted for the number of comparisons; None if no test is possible.
        detectable: Smallest difference that these splits could have detected; None if there is none.
    """

    words: str
    p: float | None
    detectable: float | None


def paired_difference(first: Sequence[float], second: Sequence[float], test_to_train: float) -> Difference:
    r"""Return the corrected resampled t-test (Nadeau and Bengio 2003) of first − second, split by split.

    .. math::
        t = \frac{\bar d}{\sqrt{(1/n + n_{test}/n_{train})\, s_d^2}}, \quad n - 1 \text{ degrees of freedom}

    Random splits of one graph share most of their nodes, so n runs contain less information than n
    independent ones; the second term under the root corrects for it. p is None for fewer than three runs, and
    if the difference is the same on every split, as it may be by chance with few test nodes: then s_d = 0
    says nothing about other splits. p is 1 if the scores are equal on every split.

    Args:
        first: Scores of one model, by split.
        second: Scores of the other model on the same splits.
        test_to_train: Number of test nodes divided by the number of training nodes.
    """
    if len(first) != len(second):
        raise ValueError("the two models must have been run on the same splits")
    differences = [a - b for a, b in zip(first, second, strict=True)]
    n, centre = len(differences), mean(differences)
    if n < 3:
        return Difference(centre, stdev(differences) if n > 1 else None, None, runs=n)
    from scipy.stats import t as student

    spread = stdev(differences)
    if spread < ROUNDING:
        if abs(centre) < ROUNDING:
            return Difference(0.0, spread, 1.0, 0.0, n)
        return Difference(centre, spread, None, None, n)
    error = (1 / n + test_to_train) ** 0.5 * spread
    return Difference(centre, spread, float(2 * student.sf(abs(centre / error), n - 1)), error, n)


def confidence_interval(difference: Difference, level: float = LEVEL) -> tuple[float, float] | None:
    r"""Return the interval of the true difference that belongs to the corrected resampled t-test.

    .. math:: \bar d \pm t_{n-1,\,1-level/2}\, e

    with the standard error e of :func:`paired_difference`. It covers the true difference in a share of
    1 − level of cases, and leaves out 0 exactly if the test's p is below the level. It is None where there is
    no test.
    """
    if difference.error is None:
        return None
    from scipy.stats import t as student

    reach = float(student.ppf(1 - level / 2, difference.runs - 1)) * difference.error
    return difference.mean - reach, difference.mean + reach


def equivalence_p(difference: Difference, margin: float = MARGIN) -> float | None:
    r"""Return the p-value of two one-sided corrected resampled t-tests (Schuirmann 1987).

    One test is against :math:`\Delta \le -m`, the other against :math:`\Delta \ge m`, where :math:`\Delta`
    is the true difference and m the margin. With the standard error e of :func:`paired_difference`, their
    statistics are :math:`(\bar d + m)/e` and :math:`(\bar d - m)/e`. Both must reject, so the larger p
    counts, which is that of the nearer margin:

    .. math::
        p = \max\left(P(T > (\bar d + m)/e),\; P(T < (\bar d - m)/e)\right)
          = P\left(T > (m - |\bar d|)/e\right), \quad T \sim t_{n-1}

    A small p shows that the difference is within the margin. p is 0 if the scores are equal on every split
    (the limit e → 0), and None where :func:`paired_difference` has no p.
    """
    if difference.p is None or difference.error is None:
        return None
    if difference.error == 0:
        return 0.0
    from scipy.stats import t as student

    distance = margin - abs(difference.mean)
    return float(student.sf(distance / difference.error, difference.runs - 1))


def detectable_difference(difference: Difference, level: float = LEVEL, power: float = POWER) -> float | None:
    r"""Return the smallest true difference that as many splits with this spread would show.

    If the true difference is :math:`\Delta`, the statistic :math:`\bar d/e` of :func:`paired_difference` has
    a noncentral t distribution with n − 1 degrees of freedom and the noncentrality :math:`\Delta/e` (the
    observed standard error stands for the true one). The two-sided test shows a positive difference if the
    statistic is above :math:`c = t_{n-1,\,1-level/2}`. So the smallest difference is

    .. math:: \Delta = \delta e, \quad \delta \text{ such that } P(T_{n-1,\,\delta} > c) = power

    which for many splits is :math:`(1.96 + 0.84)\,e`. The level is that of one test: after an adjustment for
    several comparisons the smallest difference is larger. It is None where there is no test, and if the
    scores are equal on every split, which says nothing about the spread.
    """
    if not difference.error:
        return None
    from scipy.special import nctdtrinc
    from scipy.stats import t as student

    degrees = difference.runs - 1
    return float(nctdtrinc(degrees, 1 - power, student.ppf(1 - level / 2, degrees))) * difference.error


def holm(p_values: Sequence[float]) -> list[float]:
    r"""Return the p-values adjusted for their number by Holm's step-down method (1979).

    With the k p-values in rising order, :math:`p_{(1)} \le … \le p_{(k)}`,

    .. math:: \tilde p_{(i)} = \min\!\left(1, \max_{j \le i}\, (k - j + 1)\, p_{(j)}\right)

    If every adjusted p below a level counts as a difference, the chance of one or more wrong ones is at most
    that level. NaN stands for a test that was not possible: it is not counted, and stays NaN.
    """
    adjusted = [math.nan] * len(p_values)
    known = sorted((p, index) for index, p in enumerate(p_values) if not math.isnan(p))
    largest = 0.0
    for rank, (p, index) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[index] = largest
    return adjusted


def verdicts(
    differences: Sequence[Difference], *, margin: float = MARGIN, larger_is_better: bool = True
) -> list[Verdict]:
    """Return a verdict on each model that a reference is compared with.

    The tests of a difference and those of equivalence are each adjusted by :func:`holm` for their number. A
    difference that is shown counts, even if it is within the margin.

    Args:
        differences: Reference minus model, for each model.
        margin: Models that differ by less than this count as tied.
        larger_is_better: Whether a larger score is better.
    """
    different = _adjusted([each.p for each in differences])
    within = _adjusted([equivalence_p(each, margin) for each in differences])
    found = []
    for each, p, p_within in zip(differences, different, within, strict=True):
        words = UNDECIDED
        if p is not None and p < LEVEL:
            words = WORSE if (each.mean > 0) == larger_is_better else BETTER
        elif p_within is not None and p_within < LEVEL:
            words = TIED
        found.append(Verdict(words, p, detectable_difference(each)))
    return found


def _adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    adjusted = holm([math.nan if p is None else p for p in p_values])
    return [None if math.isnan(p) else p for p in adjusted]


def p_value(p: float, digits: int, equals: str = "") -> str:
    """Return p with this many digits; a p that would be printed as zero becomes "< 0.01" or the like."""
    least = 10.0**-digits
    return f"{equals}{p:.{digits}f}" if p >= least else f"< {least:.{digits}f}"
