"""Run what has not been run yet, and record each result the moment it arrives."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field

from otherhalf.errors import InputError
from otherhalf.experiments.runner.executor import Executor, Work, run_jobs
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.store import Store, source_commit

Group = tuple[str, str, str]
"""Task, data and model: runs that take about the same time."""


def group_of(job: Job) -> Group:
    """The group that a job belongs to."""
    return job.task, job.data, job.model


class Estimates:
    """How long a job takes: the mean of those of its group that have been run."""

    def __init__(self) -> None:
        self._sums: dict[Group, tuple[float, int]] = {}

    def learn(self, job: Job, seconds: float) -> None:
        """Take one more run into account."""
        total, count = self._sums.get(group_of(job), (0.0, 0))
        self._sums[group_of(job)] = (total + seconds, count + 1)

    def of(self, job: Job) -> float | None:
        """Seconds, or None where nothing is known."""
        return self.of_group(group_of(job))

    def of_group(self, group: Group) -> float | None:
        """The same for any job of a group."""
        total, count = self._sums.get(group, (0.0, 0))
        return total / count if count else None


@dataclass(frozen=True)
class Planned:
    """Before the first run: what is to be run, what is there already, and what is known of the times."""

    jobs: list[Job]
    reused: list[Job]
    workers: int
    estimates: Estimates


@dataclass(frozen=True)
class Started:
    """A job has been started."""

    job: Job


@dataclass(frozen=True)
class Finished:
    """A job has ended, and if it has a result it is in the store."""

    job: Job
    outcome: Outcome


OnEvent = Callable[[Planned | Started | Finished], None]


@dataclass(frozen=True)
class Report:
    """Which jobs were run, which had been before, and which failed, with the reason."""

    ran: list[Job] = field(default_factory=list)
    reused: list[Job] = field(default_factory=list)
    failed: list[tuple[Job, str]] = field(default_factory=list)


def run(
    jobs: Iterable[Job],
    store: Store,
    work: Work,
    *,
    workers: int | None = None,
    threads: int = 1,
    executor: Executor = run_jobs,
    on_event: OnEvent | None = None,
) -> Report:
    """Run the jobs that the store has no record of, longest first, so that no core is idle at the end.

    A job that fails is not recorded, so that the next run tries it again; the others go on. If the store
    cannot be written, everything stops. ``workers`` defaults to as many as the cores allow.
    """
    tell = on_event or (lambda event: None)
    workers = _workers(workers, threads)
    store.check_writable()
    source_commit()  # asked now, because the code may be edited while the runs go on
    distinct = {job.key: job for job in jobs}.values()
    report = Report()
    waiting: list[Job] = []
    for job in distinct:  # asked once: another process may add to the store meanwhile
        (report.reused if store.has(job) else waiting).append(job)
    estimates = _estimates(waiting, store)
    waiting.sort(key=lambda job: _longest_first(estimates.of(job)))
    tell(Planned(waiting, report.reused, workers, estimates))
    outcomes = executor(waiting, work, workers, threads, on_start=lambda job: tell(Started(job)))
    with closing(outcomes):  # also where the store refuses a record: nothing goes on unrecorded
        for job, outcome in outcomes:
            if outcome.done:
                store.add(job, outcome)
                report.ran.append(job)
                estimates.learn(job, outcome.seconds)
            else:
                report.failed.append((job, outcome.message))
            tell(Finished(job, outcome))
    return report


def _workers(workers: int | None, threads: int) -> int:
    if threads < 1:
        raise InputError(f"threads={threads} is too small: give 1 or more")
    if workers is None:
        return max(1, (os.cpu_count() or 1) // threads)
    if workers < 0:
        raise InputError(f"workers={workers} is too small: give 1 or more, or 0 for this very process")
    return workers


def _estimates(jobs: list[Job], store: Store) -> Estimates:
    estimates = Estimates()
    for task, data, model in dict.fromkeys(map(group_of, jobs)):
        for record in store.records(task, data, model):
            estimates.learn(record.job, record.seconds)
    return estimates


def _longest_first(seconds: float | None) -> float:
    # What is unknown may be the longest of all.
    return float("-inf") if seconds is None else -seconds
