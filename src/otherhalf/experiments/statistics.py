"""Statistics of runs: mean and standard deviation, and whether two models differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

ROUNDING = 1e-12
"""Equal differences of scores differ by less than this."""


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
    """One model minus another over the same splits, and how likely so large a difference is by chance."""

    mean: float
    std: float | None
    p: float | None


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
        return Difference(centre, stdev(differences) if n > 1 else None, None)
    from scipy.stats import t as student

    spread = stdev(differences)
    if spread < ROUNDING:
        return Difference(centre, spread, 1.0 if abs(centre) < ROUNDING else None)
    value = centre / ((1 / n + test_to_train) ** 0.5 * spread)
    return Difference(centre, spread, float(2 * student.sf(abs(value), n - 1)))


def p_value(p: float, digits: int, equals: str = "") -> str:
    """Return p with this many digits; a p that would be printed as zero becomes "< 0.01" or the like."""
    least = 10.0**-digits
    return f"{equals}{p:.{digits}f}" if p >= least else f"< {least:.{digits}f}"
