"""A trial: one point of the space, and the validation scores of its fits."""

from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from otherhalf.experiments.tuning.space import Way

RUNGS = (1, 2, 4)
"""Number of fits that a trial has after each rung of the successive halving."""

COMPLETE, PRUNED, FAILED, STOPPED = "complete", "pruned", "failed", "stopped"
"""How a trial can end: with all fits, with fewer as others were better, with an error, by the time limit."""


@dataclass
class Trial:
    """A trial.

    Attributes:
        number: Its number, from 0 on.
        way: How its model is fitted.
        point: Its settings that are not the defaults.
        scores: Validation score by the number of the fit.
        seconds: Time of all fits so far.
        rung: Highest rung that it was let on.
        running: Numbers of the fits that run.
        error: Why a fit failed; empty if none has.
    """

    number: int
    way: Way
    point: dict[str, Any]
    scores: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0
    rung: int = 0
    running: set[int] = field(default_factory=set)
    error: str = ""

    @property
    def title(self) -> str:
        """Its model and settings, for people."""
        settings = ", ".join(f"{name}={in_words(value)}" for name, value in self.point.items())
        return f"{self.way.name}: {settings or 'defaults'}"

    def waiting(self) -> list[int]:
        """Return the fits of its rung that have no score yet and do not run."""
        if self.error:
            return []
        return [fit for fit in range(RUNGS[self.rung]) if fit not in self.scores and fit not in self.running]

    def has(self, rung: int) -> bool:
        """Whether it has all fits of a rung."""
        return not self.error and all(fit in self.scores for fit in range(RUNGS[rung]))

    def mean(self, rung: int) -> float:
        """Return the mean score of the fits of a rung."""
        return mean(self.scores[fit] for fit in range(RUNGS[rung]))

    def add(self, fit: int, score: float | None, seconds: float, error: str = "") -> None:
        """Add the end of a fit: its score, or why there is none."""
        self.running.discard(fit)
        self.seconds += seconds
        # A fit with a record was let run once, also before the search was stopped and started again.
        self.rung = max(self.rung, next(rung for rung, fits in enumerate(RUNGS) if fit < fits))
        if score is None:
            self.error = error or "its score is undefined on these validation nodes"
        else:
            self.scores[fit] = score

    @property
    def state(self) -> str:
        """How it has ended, after the search is over."""
        if self.error:
            return FAILED
        if self.waiting() or self.running:
            return STOPPED
        return COMPLETE if self.has(len(RUNGS) - 1) else PRUNED


def in_words(value: Any) -> str:
    """Return a value of a setting, for people."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list):
        return "(" + ", ".join(map(in_words, value)) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)
