"""Run jobs in worker processes: a job that crashes or runs out of memory affects no other."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from functools import partial

from otherhalf.cluster.address import check_installed
from otherhalf.errors import InputError
from otherhalf.experiments.runner.attempt import Executor, OnStart, Outcomes, Work, attempt
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.ray_executor import RayExecutor
from otherhalf.system.workers import LIBRARIES, Answered, Died, Workers

PRELOAD = ("otherhalf.experiments.runner.executor", *LIBRARIES)
"""Modules that worker processes have from the start."""


def run_jobs(
    jobs: Iterable[Job], work: Work, workers: int, threads: int, on_start: OnStart | None = None
) -> Outcomes:
    """Yield each job with its outcome when it ends; ``workers`` processes do one job after the other.

    A process that dies fails its job only (:class:`~otherhalf.system.workers.Workers`). With ``workers=0``
    the jobs run in this process.
    """
    if workers == 0:
        for job in jobs:
            if on_start:
                on_start(job)
            yield job, attempt(job, work, threads)
        return
    # The module with the work is preloaded too, so that all jobs run the same code.
    preload = [*PRELOAD, work.__module__]
    with Workers(partial(attempt, work=work, threads=threads), workers, threads, preload) as processes:
        for job, event in processes.do(jobs, on_start):
            if isinstance(event, Died):
                yield job, Outcome(None, event.seconds, 0.0, threads, "crash", _cause(event.status))
            elif isinstance(event, Answered):
                yield job, event.value


def _cause(status: int) -> str:
    """Return why a worker died with a job, from its exit status."""
    if status >= 0:
        return f"left with status {status} and no result"
    if status == -signal.SIGKILL:
        return (
            "killed by signal 9, as the system does where memory is used up: run fewer at a time "
            "(--workers), or end other programs"
        )
    return f"killed by signal {-status} ({signal.strsignal(-status)})"


EXECUTORS: dict[str, Executor] = {"processes": run_jobs, "ray": RayExecutor()}
"""Every executor by name. Another one is one more entry."""


def executor_named(name: str) -> Executor:
    """Return the executor of a name, or of the address of a Ray; raise InputError if there is none."""
    if name.startswith("ray://"):
        return RayExecutor.at(name)
    if name not in EXECUTORS:
        raise InputError(
            f"there is no executor {name!r}: choose one of {', '.join(EXECUTORS)}, ray://HOST:PORT"
        )
    if name == "ray":
        check_installed()
    return EXECUTORS[name]
