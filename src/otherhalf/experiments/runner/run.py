"""Run the jobs that have no record yet, and record each result as soon as it arrives."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass

from otherhalf.errors import InputError
from otherhalf.experiments.runner.attempt import Executor, Work
from otherhalf.experiments.runner.claims import Claims
from otherhalf.experiments.runner.executor import run_jobs
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.store import Store, source_commit

SECONDS_BETWEEN_LOOKS = 0.5
"""How often a process that waits for jobs of others looks whether they are done."""

Group = tuple[str, str, str]
"""Task, data and model of jobs that take about the same time."""


def group_of(job: Job) -> Group:
    """Return the group of a job."""
    return job.task, job.data, job.model


class Estimates:
    """How long a job takes: the mean of the finished jobs of its group."""

    def __init__(self) -> None:
        self._sums: dict[Group, tuple[float, int]] = {}

    def learn(self, job: Job, seconds: float) -> None:
        """Add a finished job."""
        total, count = self._sums.get(group_of(job), (0.0, 0))
        self._sums[group_of(job)] = (total + seconds, count + 1)

    def of(self, job: Job) -> float | None:
        """Return the seconds that a job takes; None if no job of its group is finished."""
        return self.of_group(group_of(job))

    def of_group(self, group: Group) -> float | None:
        """Return the same for any job of a group."""
        total, count = self._sums.get(group, (0.0, 0))
        return total / count if count else None


@dataclass(frozen=True)
class Planned:
    """Before the first run: the jobs to run, the jobs with a record, and what is known about durations."""

    jobs: list[Job]
    reused: list[Job]
    workers: int
    estimates: Estimates


@dataclass(frozen=True)
class Started:
    """A job has started."""

    job: Job


@dataclass(frozen=True)
class Finished:
    """A job has ended; if it has a result, the result is in the store."""

    job: Job
    outcome: Outcome


@dataclass(frozen=True)
class Reused:
    """Another process has done the job; its result is in the store."""

    job: Job


Event = Planned | Started | Finished | Reused
OnEvent = Callable[[Event], None]


def run(
    jobs: Iterable[Job],
    store: Store,
    work: Work,
    *,
    workers: int | None = None,
    threads: int = 1,
    executor: Executor = run_jobs,
    on_event: OnEvent | None = None,
) -> list[tuple[Job, Outcome]]:
    """Run the jobs that the store has no record of, and return those that failed.

    The longest start first, so that no core is idle at the end. A job that fails is not recorded, so the next
    call tries it again; the others continue. If the store cannot be written, everything stops. Several
    processes with one store share the jobs: each is run once, and all wait for the last of them.

    Args:
        jobs: The jobs; each is run once even if it is given twice.
        store: Store of the records.
        work: Does a job.
        workers: Number of jobs at a time; default: as many as the cores allow, or those that the
            executor's ``slots`` counts.
        threads: Number of threads of each job.
        executor: Runs the jobs.
        on_event: Called with each event.
    """
    notify = on_event or (lambda event: None)
    workers = workers_for(workers, threads, executor)
    store.check_writable()
    source_commit()  # asked now, because the code may be edited while the jobs run
    reused: list[Job] = []
    waiting: list[Job] = []
    for job in {job.key: job for job in jobs}.values():  # once: another process may add to the store
        (reused if store.has(job) else waiting).append(job)
    estimates = _estimates(waiting, store)
    waiting.sort(key=lambda job: _longest_first(estimates.of(job)))
    notify(Planned(waiting, reused, workers, estimates))
    failed = []
    with Claims(store) as claims:
        while waiting:
            others: list[Job] = []
            mine = claims.claimed(waiting, others)
            outcomes = executor(mine, work, workers, threads, on_start=lambda job: notify(Started(job)))
            # If the store raises, the running jobs must end: they could not be recorded.
            with closing(outcomes):
                for job, outcome in outcomes:
                    if outcome.done:
                        store.add(job, outcome)
                        estimates.learn(job, outcome.seconds)
                    else:
                        failed.append((job, outcome))
                    claims.release(job)
                    notify(Finished(job, outcome))
            waiting = _without_record(others, store, notify)
            if waiting:
                time.sleep(SECONDS_BETWEEN_LOOKS)
    return failed


def _without_record(jobs: list[Job], store: Store, notify: OnEvent) -> list[Job]:
    """Return the jobs that other processes still run, or have left without a record."""
    for job in jobs:
        if store.has(job):
            notify(Reused(job))
    return [job for job in jobs if not store.has(job)]


def workers_for(workers: int | None, threads: int, executor: Executor) -> int:
    """Return how many jobs run at a time; default: as many as the cores allow, or the executor's slots."""
    if threads < 1:
        raise InputError(f"threads={threads} is too small: give 1 or more")
    if workers is None:
        slots: Callable[[int], int] | None = getattr(executor, "slots", None)  # those of a cluster
        return max(1, (os.cpu_count() or 1) // threads) if slots is None else slots(threads)
    if workers < 0:
        raise InputError(f"workers={workers} is too small: give 1 or more, or 0 for this process")
    return workers


def _estimates(jobs: list[Job], store: Store) -> Estimates:
    estimates = Estimates()
    for task, data, model in dict.fromkeys(map(group_of, jobs)):
        for record in store.records(task, data, model):
            estimates.learn(record.job, record.seconds)
    return estimates


def _longest_first(seconds: float | None) -> float:
    # A job of unknown duration may be the longest of all.
    return float("-inf") if seconds is None else -seconds
