"""Successive halving: every trial is fitted once, the best third twice, the best third of those four times.

It is asynchronous (https://arxiv.org/abs/1810.05934): a trial goes to the next rung as soon as it is in the
best third of those that have finished its rung, so that no worker waits for a slow trial. Trials of a rung
have the same fits, on the same nodes: their means can be compared. The default settings go along to every
rung that another trial is let on, so that there is always something to compare with.
"""

from collections.abc import Sequence

from otherhalf.experiments.tuning.trial import RUNGS, Trial

SHARE = 3
"""One of so many trials of a rung goes on to the next."""


def next_fit(trials: Sequence[Trial], *, larger_is_better: bool, last: bool) -> tuple[Trial, int] | None:
    """Return the fit that comes before a new trial, and let its trial on to its rung; None if there is none.

    Args:
        trials: The trials by number; the first has the defaults.
        larger_is_better: Whether larger scores are better.
        last: Whether no trial will be added: then the best of a rung goes on, however few there are.
    """
    while True:
        for trial in trials:
            if waiting := trial.waiting():
                return trial, waiting[0]
        if not _promote(trials, larger_is_better, last):
            return None


def ranked(trials: Sequence[Trial], rung: int, *, larger_is_better: bool) -> list[Trial]:
    """Return the trials that have all fits of a rung, best first; of equal ones, the earliest."""
    sign = 1 if larger_is_better else -1
    return sorted(
        (trial for trial in trials if trial.has(rung)),
        key=lambda trial: (-sign * trial.mean(rung), trial.number),
    )


def chosen(trials: Sequence[Trial], *, larger_is_better: bool) -> tuple[Trial, int] | None:
    """Return the best trial and the rung that says so; None if no trial has a score.

    It is the highest rung that the defaults and one more trial have finished. If it is a tie, the defaults
    are chosen. Without a score of the defaults nothing is chosen, unless they failed.
    """
    first = trials[0]
    if not first.has(0) and not first.error:
        return None
    for rung in reversed(range(len(RUNGS))):
        best = ranked(trials, rung, larger_is_better=larger_is_better)
        comparable = first.error or rung == 0 or (first in best and len(best) > 1)
        if best and comparable:
            return best[0], rung
    return None


def _promote(trials: Sequence[Trial], larger_is_better: bool, last: bool) -> bool:
    """Let the defaults, or the best trial that may, go on to the next rung; return whether one did."""
    first = trials[0]
    if first.rung < max(trial.rung for trial in trials) and first.has(first.rung):
        first.rung += 1
        return True
    for rung in reversed(range(len(RUNGS) - 1)):
        best = ranked(trials, rung, larger_is_better=larger_is_better)
        others = [trial for trial in best if trial is not first]
        for trial in others[: max(len(others) // SHARE, int(last))]:
            if trial.rung == rung:
                trial.rung += 1
                return True
    return False
