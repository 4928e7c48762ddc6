"""Run jobs that are decided one by one, while others run, and stop at a time limit."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any

from otherhalf.experiments.runner.attempt import Executor, OnStart, Work
from otherhalf.experiments.runner.executor import run_jobs
from otherhalf.experiments.runner.job import Job, Outcome

SOON = 1e-3
"""Least time that an alarm can be set to, in seconds."""


class TimeIsUp(BaseException):
    """The time limit has come while jobs run; no program handles it by chance."""


def run_stream(
    ask: Callable[[], Job | None],
    work: Work,
    *,
    workers: int,
    threads: int = 1,
    executor: Executor = run_jobs,
    until: float | None = None,
    on_start: OnStart | None = None,
) -> Generator[tuple[Job, Outcome]]:
    """Yield each job with its outcome when it ends; jobs that run when the time is up are stopped.

    Args:
        ask: Returns the next job, when a worker is free for it; None if there is none now. It is asked again
            when no job runs any more, and then None is the end.
        work: Does a job.
        workers: Number of jobs at a time.
        threads: Number of threads of each job.
        executor: Runs the jobs.
        until: When the time is up, as ``time.monotonic`` counts; default: never. Where there is no alarm (in
            a thread, and on Windows), no job starts after it, and those that run end by themselves.
        on_start: Called when a job starts.
    """
    limit = _Limit(until)
    with limit.alarm():
        more = True
        while more and not limit.is_over():
            more = False

            def jobs() -> Iterator[Job]:
                nonlocal more
                while not limit.is_over() and (job := ask()) is not None:
                    more = True
                    yield job

            # Closing it stops what runs.
            with closing(executor(jobs(), work, workers, threads, on_start=on_start)) as outcomes:
                while True:
                    try:
                        with limit.enforced():
                            found = next(outcomes, None)
                    except TimeIsUp:
                        return
                    if found is None:
                        break
                    yield found


class _Limit:
    """A moment after which nothing starts, and what is waited for is given up."""

    def __init__(self, until: float | None) -> None:
        self._until = until
        self._waiting = False

    def is_over(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until

    @contextmanager
    def alarm(self) -> Iterator[None]:
        """Set the alarm of the process in this block, if it is free."""
        ours = self._until is not None and hasattr(signal, "SIGALRM") and _in_main_thread() and not _in_use()
        if not ours or self._until is None:
            yield
            return
        before = signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, max(SOON, self._until - time.monotonic()), 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Raise :class:`TimeIsUp` in this block when the alarm rings; outside it, a record may be written."""
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False

    def _ring(self, number: int, frame: Any) -> None:
        # It rings every second from then on: a moment outside the block is not the last one.
        if self._waiting and self.is_over():
            self._waiting = False
            raise TimeIsUp


def _in_main_thread() -> bool:
    """Return whether this is the main thread: Python gives signals to no other."""
    return threading.current_thread() is threading.main_thread()


def _in_use() -> bool:
    return signal.getitimer(signal.ITIMER_REAL) != (0.0, 0.0)
