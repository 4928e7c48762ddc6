"""The workbench: a store, and what is needed to run the jobs that it has no record of."""

from collections.abc import Sequence

from otherhalf.errors import InputError, RunsFailed
from otherhalf.experiments.runner.attempt import Executor
from otherhalf.experiments.runner.executor import run_jobs
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.progress import progress_for
from otherhalf.experiments.runner.run import run
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tasks import Worker
from otherhalf.system.device import usable_device


class Workbench:
    """Runs jobs that have no record yet.

    Args:
        store: Store of the records; it also names the device of the runs.
        workers: Number of runs at a time; default: as many as the cores allow.
        threads: Number of threads of each run.
        graphs: Where runs find graphs that are not in the catalogue.
        executor: Runs the jobs.
        quiet: Whether no lines about the progress are printed where there is no terminal to show it on.

    Attributes:
        failed: The jobs that failed, with their outcomes.
    """

    def __init__(
        self,
        store: Store,
        *,
        workers: int | None = None,
        threads: int = 1,
        graphs: GraphFolder | None = None,
        executor: Executor = run_jobs,
        quiet: bool = False,
    ) -> None:
        self.store = store
        self.workers = workers
        self.threads = threads
        self.graphs = graphs or GraphFolder()
        self.executor = executor
        self.quiet = quiet
        self.failed: list[tuple[Job, Outcome]] = []
        usable_device(store.device)  # raises now what every run would raise

    def run(self, jobs: Sequence[Job]) -> None:
        """Run the jobs without a record; those that fail are added to ``failed``.

        A job that has failed on this workbench is not tried again.
        """
        failed = {job.key for job, _ in self.failed}
        wanted = [job for job in jobs if job.key not in failed]
        missing = dict.fromkeys((job.data, job.data_hash) for job in wanted if not self.store.has(job))
        if not missing:
            return
        for data, data_hash in missing:  # before the runs, so that an absent data set is reported once
            self.graphs.fetch(data, data_hash)
        with progress_for(wanted, quiet=self.quiet) as show:
            self.failed += run(
                wanted,
                self.store,
                Worker(self.graphs, self.store.device),
                workers=self.workers,
                threads=self.threads,
                executor=self.executor,
                on_event=show,
            )


def failure(failed: Sequence[tuple[Job, Outcome]]) -> Exception:
    """Return one sentence about the failed runs: an InputError unless one of them crashed."""
    job, outcome = failed[0]
    text = (
        f"{len(failed)} run(s) failed, the first being {job.model or job.task} on {job.data}, seed "
        f"{job.model_seed}: {outcome.summary}; the others are kept"
    )
    return RunsFailed(text) if any(each.kind == "crash" for _, each in failed) else InputError(text)
