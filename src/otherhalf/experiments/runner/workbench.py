"""A store and the means to fill it: what every experiment is carried out with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from otherhalf.errors import InputError, RunsFailed
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.progress import progress_for
from otherhalf.experiments.runner.run import Finished, Planned, Started, run
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.runner.tasks import Worker
from otherhalf.nn.inputs import usable_device

STORE = Path("results/runs")
"""Where the command line keeps the records, from the folder it is called in."""


class Workbench:
    """Runs what the store has no record of.

    Args:
        store: Where the records are, and on which device the runs are.
        workers: How many runs at a time; default: as the cores allow.
        threads: Threads of each.
        places: Where own data was put, by the name that jobs call it.
    """

    def __init__(
        self,
        store: Store,
        *,
        workers: int | None = None,
        threads: int = 1,
        places: Mapping[str, str] | None = None,
    ) -> None:
        self.store = store
        self.workers = workers
        self.threads = threads
        self.failed: list[tuple[Job, Outcome]] = []
        usable_device(store.device)  # refuses, before anything is run, what no run could use
        self._worker = Worker(places, store.device)

    def run(self, jobs: Sequence[Job]) -> None:
        """See to it that each of these has a record; those that fail are put down in ``failed``.

        One that has failed before is not tried again: another workbench may do better, this one would not.
        """
        hopeless = {job.key for job, _ in self.failed}
        wanted = [job for job in jobs if job.key not in hopeless]
        waiting = [job for job in wanted if not self.store.has(job)]
        if not waiting:
            return
        for data in dict.fromkeys(job.data for job in waiting):
            self._worker.open(data)  # fetched once, and what cannot be had is said once
        with progress_for(wanted) as show:

            def on_event(event: Planned | Started | Finished) -> None:
                if isinstance(event, Finished) and not event.outcome.done:
                    self.failed.append((event.job, event.outcome))
                show(event)

            run(
                wanted,
                self.store,
                self._worker,
                workers=self.workers,
                threads=self.threads,
                on_event=on_event,
            )

    def results(self, jobs: Iterable[Job]) -> list[dict[str, Any] | None]:
        """What each came to, None where it has not been run."""
        return results(self.store, jobs)


def failure(failed: Sequence[tuple[Job, Outcome]]) -> Exception:
    """One line on the runs that failed: the input is wrong unless one of them crashed."""
    job, outcome = failed[0]
    text = (
        f"{len(failed)} run(s) failed, the first being {job.model or job.task} on {job.data}, seed "
        f"{job.model_seed}: {outcome.summary}; the others are kept"
    )
    return RunsFailed(text) if any(each.kind == "crash" for _, each in failed) else InputError(text)


def number(result: Mapping[str, Any], *path: str) -> float | None:
    """The number at this path in a recorded result, None where it is not defined; refuses what is none."""
    found: Any = result
    try:
        found = reduce(getitem, path, found)
    except (KeyError, TypeError):
        found = "nothing"
    if found is not None and not isinstance(found, int | float):
        raise InputError(
            f"a record has {found!r} where the number {'/'.join(path)} belongs: restore it from version "
            "control, or remove its line, and the run is done again"
        )
    return None if found is None else float(found)


def results(store: Store, jobs: Iterable[Job]) -> list[dict[str, Any] | None]:
    """What each job came to, None where it has not been run."""
    records = [store.get(job) for job in jobs]
    return [None if record is None else record.result for record in records]
