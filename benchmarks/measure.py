"""What is measured: figures of one run, and the marks that their ratios must meet."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

REPEATS, QUICK_REPEATS = 5, 3
"""Times that each case runs, of which the shortest counts."""


class Missing(Exception):
    """What a measure needs is not there (a library, a data set); the message says what to do."""


@dataclass(frozen=True)
class Setting:
    """How to measure.

    Attributes:
        quick: Whether everything together may take two minutes at most; the sizes are then smaller.
        threads: Number of threads.
        repeats: Times that each case runs.
    """

    quick: bool = False
    threads: int = 1
    repeats: int = REPEATS


@dataclass(frozen=True)
class Mark:
    """A limit of a figure, or of the ratio of two figures.

    Attributes:
        title: What is compared with what, in words.
        of: Name of the figure.
        to: Name of the figure that it is divided by; empty for none.
        limit: The most that it may be, or the least with ``at_least``.
        at_least: Whether the limit is a lower one.
        unit: Unit of a figure that is not divided.
    """

    title: str
    of: str
    to: str = ""
    limit: float = 1.0
    at_least: bool = False
    unit: str = ""

    def value(self, figures: Mapping[str, float]) -> float | None:
        """Return the measured value; None if a figure is missing."""
        if self.of not in figures or (self.to and self.to not in figures):
            return None
        return figures[self.of] / figures[self.to] if self.to else figures[self.of]

    def met(self, value: float) -> bool:
        """Return whether a value is within the limit."""
        return value >= self.limit if self.at_least else value <= self.limit


@dataclass(frozen=True)
class Measure:
    """A run in a process of its own that gives figures, and the marks that they are held against.

    Attributes:
        name: Its name, for ``--only``.
        run: Returns the figures by name: seconds of cases (:func:`alternate`), or anything else.
        marks: The marks.
        quick: Whether ``--quick`` runs it.
    """

    name: str
    run: Callable[[Setting], Mapping[str, float]]
    marks: tuple[Mark, ...]
    quick: bool = True


def alternate(
    cases: Mapping[str, Callable[[], object]], setting: Setting, *, warm: int = 1
) -> dict[str, float]:
    """Run the cases in turns, and return the fewest seconds of each.

    The cases take turns, so that other work on the machine slows all of them. With one thread the seconds are
    those of the processor, which do not count the time of other processes; with more, those of the clock.

    Args:
        cases: What to run, by name.
        setting: Number of threads and repeats.
        warm: Runs of each case that are not counted.
    """
    clock = time.process_time if setting.threads == 1 else time.perf_counter
    for case in cases.values():
        for _ in range(warm):
            case()
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(setting.repeats):
        for name, case in cases.items():
            gc.collect()
            start = clock()
            case()
            seconds[name].append(clock() - start)
    return {name: min(each) for name, each in seconds.items()}
