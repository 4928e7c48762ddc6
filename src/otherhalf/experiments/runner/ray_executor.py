"""Run jobs as tasks of a Ray: on this machine, or on all machines of a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from otherhalf.cluster.address import Address, check_installed
from otherhalf.cluster.connection import disconnect
from otherhalf.cluster.tasks import Lost, Tasks
from otherhalf.experiments.runner.attempt import OnStart, Outcomes, Work, attempt
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.system.threads import children_have, thread_variables


@runtime_checkable
class WorkOnData(Protocol):
    """Work whose data can be sent: other machines need not have the files."""

    def load(self, job: Job) -> Any:
        """Return the data of a job, from the files of this machine."""
        ...

    def on(self, data: Any, job: Job) -> dict[str, Any]:
        """Return the result of a job on its data."""
        ...


@dataclass
class RayExecutor:
    """An executor (:class:`~otherhalf.experiments.runner.attempt.Executor`) whose jobs are Ray tasks.

    The data of jobs go to the store of shared objects once for each content. A job whose worker or machine
    dies is started again elsewhere; the records are written by this process alone.

    Attributes:
        address: Where the Ray is.
    """

    address: Address = field(default_factory=Address)
    _tasks: Tasks | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def at(cls, text: str) -> RayExecutor:
        """Return the executor of ``ray://auto`` or ``ray://HOST:PORT``."""
        check_installed()
        return cls(Address.parse(text))

    def slots(self, threads: int) -> int:
        """Return how many jobs with so many threads can run at a time."""
        if self.address.is_local:
            return max(1, (os.cpu_count() or 1) // threads)
        return max(1, self._connected(1).slots(threads))

    def __call__(
        self, jobs: Iterable[Job], work: Work, workers: int, threads: int, on_start: OnStart | None = None
    ) -> Outcomes:
        """Run at most ``workers`` jobs at a time, with ``threads`` threads each."""
        with children_have(threads):  # what a Ray of our own inherits
            tasks = self._connected(workers * threads)

        def arguments(job: Job) -> tuple[Any, ...]:
            data = None
            if isinstance(work, WorkOnData):
                data = tasks.share(("data", job.data, job.data_hash), lambda: work.load(job))
            return work, data, job, threads

        ended = tasks.run(
            attempt_on, jobs, arguments, at_once=max(1, workers), threads=threads, on_start=on_start
        )
        with closing(ended):
            for job, outcome in ended:
                if isinstance(outcome, Lost):
                    outcome = Outcome(None, outcome.seconds, 0.0, threads, "crash", outcome.message)
                yield job, outcome

    def close(self) -> None:
        """End the connection, and a Ray of our own."""
        self._tasks = None
        disconnect()

    def _connected(self, cpus: int) -> Tasks:
        if self._tasks is None:
            self._tasks = Tasks(self.address, cpus)
        return self._tasks


def attempt_on(work: Any, data: Any, job: Job, threads: int) -> Outcome:
    """Do a job in a worker, on the data that were sent, if any."""
    os.environ.update(thread_variables(threads))
    return attempt(job, work if data is None else lambda one: work.on(data, one), threads)
