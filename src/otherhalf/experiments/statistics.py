"""From runs to a row of a table: mean and deviation, and whether two models differ."""

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
        """Of at least one run."""
        return cls(mean(scores), stdev(scores) if len(scores) > 1 else None, len(scores))

    def __str__(self) -> str:
        spread = "" if self.std is None else f" ± {100 * self.std:.2f}"
        return f"{100 * self.mean:.2f}{spread}"


@dataclass(frozen=True)
class Difference:
    """One model less another over the same splits, and how likely so large a difference is by chance."""

    mean: float
    std: float | None
    p: float | None


def paired_difference(first: Sequence[float], second: Sequence[float], test_to_train: float) -> Difference:
    r"""The corrected resampled t-test (Nadeau and Bengio 2003) of first − second, split by split.

    .. math::
        t = \frac{\bar d}{\sqrt{(1/n + n_{test}/n_{train})\, s_d^2}}, \quad n - 1 \text{ degrees of freedom}

    Random splits of one graph share most of their nodes, so that n runs tell less than n independent ones
    would; the second term under the root makes up for it. No p with fewer than three runs, nor where the
    difference is the same on every split, as it may be by chance with few test nodes: then s_d = 0 says
    nothing about other splits. 1 where the runs are equal throughout.

    Args:
        first: The scores of one model, by split.
        second: Those of the other on the same splits, in the same order.
        test_to_train: The number of test nodes divided by that of training nodes.
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
    """With so many digits; one that would be printed as zero is only said to be small."""
    least = 10.0**-digits
    return f"{equals}{p:.{digits}f}" if p >= least else f"< {least:.{digits}f}"
