"""How far a command is: bars on a terminal, and elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from otherhalf.cli.console import say
from otherhalf.cli.stages import in_words

if TYPE_CHECKING:
    from otherhalf.estimators.estimate import Estimate
    from otherhalf.training.loop import OnStep

BARS = 6
"""Number of stages that are shown at a time: a fit has more than a screen has lines."""

ALL = "all stages"
LIKELY, MOST = 0.75, 0.99
"""Share of the bar of all stages after the likely duration of a fit, and after the longest one."""

FIRST_LINE, LONGEST_PAUSE = 30.0, 600.0
"""Seconds until the first line of a log, and most seconds between two. The pauses double from line to line:
a log shows that a long fit goes on, and how far it is, and does not fill up."""


@contextmanager
def progress(*, quiet: bool = False, estimate: Estimate | None = None) -> Iterator[OnStep | None]:
    """Show the progress of the stages on standard error: bars on a terminal, else a few lines.

    Stages follow each other, so a stage is over when another one begins: its bar is then full, also where a
    training stopped early. Where trainings run at the same time, the next step of one sets its bar back.

    Args:
        quiet: Whether lines are left out, because a program reads the output.
        estimate: About how long all stages take together, if it is known.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        with _bars(estimate) as on_step:
            yield on_step
    else:
        yield None if quiet else _lines(estimate)


def time_left(estimate: Estimate | None, elapsed: float) -> str:
    """Return about how long all stages still take; empty if nothing is known of it."""
    if estimate is None or estimate.seconds is None or estimate.most_seconds is None:
        return ""
    from otherhalf.estimators.estimate import in_words as duration

    for words, seconds in (("about", estimate.seconds), ("at worst", estimate.most_seconds)):
        if elapsed < seconds:
            return f"{words} {duration(seconds - elapsed)} left"
    return "longer than estimated"


def share_done(estimate: Estimate | None, elapsed: float) -> float:
    """Return which share of all stages is likely done: never all, and the last part only at worst."""
    if estimate is None or estimate.seconds is None or estimate.most_seconds is None:
        return 0.0
    if elapsed < estimate.seconds:
        return LIKELY * elapsed / estimate.seconds
    late, most = elapsed - estimate.seconds, estimate.most_seconds - estimate.seconds
    return LIKELY + (MOST - LIKELY) * min(1.0, late / most if most > 0 else 1.0)


def _lines(estimate: Estimate | None) -> OnStep:
    """Return the callback that prints lines."""
    start = time.monotonic()
    pause, at = FIRST_LINE, FIRST_LINE

    def on_step(stage: str, done: int, total: int) -> None:
        nonlocal pause, at
        elapsed = time.monotonic() - start
        if elapsed < at:
            return
        at = elapsed + pause
        pause = min(2 * pause, LONGEST_PAUSE)
        minutes, seconds = divmod(int(elapsed), 60)
        left = time_left(estimate, elapsed)
        share = f" ({done / total:.0%})" if total else ""
        say(f"{minutes}:{seconds:02} {in_words(stage)}{share}" + (f"; {left}" if left else ""))

    return on_step


@contextmanager
def _bars(estimate: Estimate | None) -> Iterator[OnStep]:
    """Yield the callback that moves a bar for each of the last stages, and one for all of them."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.table import Column
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        """That of a stage by its speed, that of all stages by the estimate."""

        def render(self, task: Task) -> Text:
            if task.description == ALL:
                return Text(time_left(estimate, task.elapsed or 0.0), style="progress.remaining")
            return super().render(task)

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TaskProgressColumn(),
        TimeLeft(compact=True, elapsed_when_finished=True, table_column=Column(no_wrap=True)),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        if estimate is not None and estimate.seconds is not None:
            bars.add_task(ALL, total=1.0)
        stages: dict[str, Task] = {}

        def on_step(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                fill()
                for earlier in list(stages.values())[: 1 - BARS]:
                    bars.update(earlier.id, visible=False)
                bars.add_task(in_words(stage), total=total)
                stages[stage] = bars.tasks[-1]
            bars.update(stages[stage].id, completed=done, total=total)
            whole = bars.tasks[0]
            if whole.description == ALL:
                bars.update(whole.id, completed=share_done(estimate, whole.elapsed or 0.0))

        def fill() -> None:
            for task in stages.values():
                bars.update(task.id, completed=task.total)

        yield on_step
        fill()
