"""Claims on jobs: of several processes with one store, one runs a job, and the others wait for its record."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store
from otherhalf.system.locks import release_lock, remove_if_dead, take_lock

FOLDER = ".claims"
"""Folder of the claims in a store: one locked file for each job that runs."""


class Claims:
    """The jobs that this process has claimed.

    A claim is a lock, so it lapses when the process ends, however it ends. Leave the block, and all are given
    back.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder = store.folder / FOLDER
        self._handles: dict[Path, int] = {}

    def __enter__(self) -> "Claims":
        with suppress(OSError):
            for path in self._folder.iterdir():
                remove_if_dead(path)
        return self

    def __exit__(self, *error: object) -> None:
        for path in list(self._handles):
            self._give_back(path)
        with suppress(OSError):  # other processes have claims there
            self._folder.rmdir()

    def claimed(self, jobs: Iterable[Job], others: list[Job]) -> Iterator[Job]:
        """Yield each job when it is claimed; put those that another process runs or has run in ``others``.

        A job is claimed when the next one is asked for, and not before: other processes share the rest.
        """
        for job in jobs:
            if not self._take(job):
                others.append(job)
            elif self._store.has(job):  # another process has finished it meanwhile
                self.release(job)
                others.append(job)
            else:
                yield job

    def release(self, job: Job) -> None:
        """Give a claim back, after the record was written or the job has failed."""
        self._give_back(self._path(job))

    def _take(self, job: Job) -> bool:
        path = self._path(job)
        handle = _locked(path)
        if handle is not None:
            self._handles[path] = handle
        return handle is not None

    def _give_back(self, path: Path) -> None:
        handle = self._handles.pop(path, None)
        if handle is not None:
            release_lock(path, handle)

    def _path(self, job: Job) -> Path:
        return self._folder / f"{self._store.key_of(job)}.lock"


@contextmanager
def alone(store: Store, name: str) -> Iterator[None]:
    """Hold the claim of this name in the block; raise InputError if another process has it."""
    path = store.folder / FOLDER / f"{name}.lock"
    handle = _locked(path)
    if handle is None:
        raise InputError(
            f"another process does the same with the records in {store.folder}: wait until it has ended, or "
            "give another --store"
        )
    try:
        yield
    finally:
        release_lock(path, handle)
        with suppress(OSError):  # other processes have claims there
            path.parent.rmdir()


def _locked(path: Path) -> int | None:
    """Return the handle of the lock of this file; None if another process holds it."""
    try:
        while True:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                return take_lock(path)
            except FileNotFoundError:  # another process has just removed the empty folder
                continue
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}): make the folder of the records writable, or "
            "free some space"
        ) from error
