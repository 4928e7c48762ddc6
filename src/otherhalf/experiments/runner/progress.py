"""Show how far an experiment is: a live table on a terminal, else one line per finished run."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from otherhalf.errors import printable
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.run import (
    Estimates,
    Event,
    Finished,
    Group,
    OnEvent,
    Planned,
    Reused,
    Started,
    group_of,
)

if TYPE_CHECKING:
    from rich.table import Table

LINES_AROUND_TABLE = 6


@contextmanager
def progress_for(
    jobs: Iterable[Job], stream: TextIO | None = None, *, quiet: bool = False
) -> Iterator[OnEvent]:
    """Yield the callback for :func:`~otherhalf.experiments.runner.run.run` that shows the progress of jobs.

    Args:
        jobs: The jobs.
        stream: Where it is shown; default: standard error.
        quiet: Whether no lines are written to a stream that is no terminal.
    """
    stream = sys.stderr if stream is None else stream
    state = Progress(jobs)
    if not stream.isatty():

        def write(event: Event) -> None:
            state.take(event)
            line = state.line(event)
            if line and not quiet:
                print(line, file=stream, flush=True)

        yield write
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, markup=False, highlight=False)  # names may contain brackets

    def table() -> Table:
        return state.table(console.height - LINES_AROUND_TABLE)

    def show(event: Event) -> None:
        state.take(event)
        if isinstance(event, Finished) and not event.outcome.done:
            console.print(state.line(event))  # stays above the table, which is removed at the end

    with Live(console=console, get_renderable=table, refresh_per_second=2, transient=True):
        yield show


@dataclass
class Row:
    """Numbers of jobs of a group."""

    total: int = 0
    done: int = 0
    failed: int = 0
    running: int = 0


class Progress:
    """Counts events, and estimates the remaining time."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        distinct = {job.key: job for job in jobs}
        self.rows: dict[Group, Row] = {group_of(job): Row() for job in distinct.values()}
        for job in distinct.values():
            self.rows[group_of(job)].total += 1
        self.total = len(distinct)
        self.done = 0
        self.workers = 1
        self.estimates = Estimates()
        self._several_tasks = len({job.task for job in distinct.values()}) > 1
        self._waiting: dict[str, Job] = distinct
        self._running: dict[str, float] = {}
        self._since = time.monotonic()

    def take(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, Planned):
            self.workers, self.estimates = max(1, event.workers), event.estimates
            for job in event.reused:
                self._end(job)
        elif isinstance(event, Started):
            self._running[event.job.key] = time.monotonic()
            self.rows[group_of(event.job)].running += 1
        elif isinstance(event, Reused):
            self._end(event.job)
        else:
            self._running.pop(event.job.key, None)
            self.rows[group_of(event.job)].running -= 1
            self.rows[group_of(event.job)].failed += not event.outcome.done
            self._end(event.job)

    def seconds_left(self) -> float | None:
        """Return the estimated time until all jobs are done; None if no duration is known.

        Groups without a finished job count with the mean of the other groups.
        """
        known = [mean for group in self.rows if (mean := self.estimates.of_group(group)) is not None]
        if not known:
            return None
        usual = sum(known) / len(known)
        now = time.monotonic()
        seconds = []
        # A copy, because the table calls this from another thread.
        for key, job in list(self._waiting.items()):
            expected = self.estimates.of(job)
            spent = now - self._running.get(key, now)
            seconds.append(max(0.0, (usual if expected is None else expected) - spent))
        # One job runs on one worker.
        return max([sum(seconds) / self.workers, *seconds])

    def line(self, event: Event) -> str:
        """Return the line about an event; empty for a start."""
        if isinstance(event, Planned) and event.reused:
            return f"{len(event.reused)} of {self.total} runs already have records"
        if not isinstance(event, Finished):
            return ""
        width = len(str(self.total))
        rest = f" ({self._left()})" if self.done < self.total else ""
        return printable(
            f"[{self.done:{width}}/{self.total}] {self._name(event.job)}: {_result_text(event.outcome)}{rest}"
        )

    def table(self, most_rows: int) -> Table:
        """Return the groups as a table; if there are too many, running and waiting groups are preferred."""
        from rich.table import Table

        left = self._left()
        caption = (
            f"{self.done} of {self.total} runs, {_duration(time.monotonic() - self._since)} so far, {left}"
        )
        table = Table(caption=caption, caption_justify="left")
        for heading in ("data", "model", "done", "running", "failed", "mean s"):
            table.add_column(heading, justify="left" if heading in ("data", "model") else "right")
        urgent = sorted(self.rows.items(), key=lambda item: _urgency(item[1]))[: max(1, most_rows)]
        shown = {group for group, _ in urgent}
        for group, row in self.rows.items():
            if group not in shown:
                continue
            mean = self.estimates.of_group(group)
            table.add_row(
                printable(f"{group[0]} {group[1]}" if self._several_tasks else group[1]),
                group[2],
                f"{row.done}/{row.total}",
                str(row.running or ""),
                str(row.failed or ""),
                "" if mean is None else f"{mean:.1f}",
            )
        return table

    def _end(self, job: Job) -> None:
        self._waiting.pop(job.key, None)
        self.rows[group_of(job)].done += 1
        self.done += 1

    def _left(self) -> str:
        left = self.seconds_left()
        return "time left unknown" if left is None else f"about {_duration(left)} left"

    def _name(self, job: Job) -> str:
        words = [job.task if self._several_tasks else "", job.data, job.model, f"seed {job.model_seed}"]
        return " ".join(word for word in words if word)


def _result_text(outcome: Outcome) -> str:
    if outcome.result is None:
        return f"failed: {outcome.summary}"
    test = outcome.result.get("test")
    score = f"test {100 * test:.2f}" if isinstance(test, int | float) else "done"
    return f"{score} in {outcome.seconds:.1f} s"


def _urgency(row: Row) -> int:
    if row.running:
        return 0
    return 1 if row.done < row.total else 2


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
