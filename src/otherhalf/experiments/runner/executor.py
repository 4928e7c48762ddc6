"""Run jobs in worker processes: a job that crashes or runs out of memory affects no other."""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, forkserver
from multiprocessing.context import ForkServerProcess
from typing import Any

from otherhalf.cluster.address import check_installed
from otherhalf.errors import InputError
from otherhalf.experiments.runner.attempt import THREAD_VARIABLES, Executor, OnStart, Outcomes, Work, attempt
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.ray_executor import RayExecutor
from otherhalf.system.scratch import folder_of_sockets

PRELOAD = [
    "otherhalf.experiments.runner.executor",
    "torch",
    "torch._dynamo",
    "otherhalf.estimators.goal",
    "otherhalf.nn.ops.attention_kernels",
]
"""Modules that the server process imports once. Workers are forked from it, so that they start quickly.

``torch._dynamo`` is imported by the first optimiser of a process and takes more than a second. The kernels
are compiled when they are imported, once for all workers.
"""

SECONDS_TO_EXIT = 10.0


@dataclass
class _Worker:
    process: ForkServerProcess
    pipe: connection.Connection[Any, Any]
    job: Job
    since: float = 0.0

    def start(self, job: Job) -> None:
        self.job, self.since = job, time.perf_counter()
        self.pipe.send(job)


def run_jobs(
    jobs: Iterable[Job], work: Work, workers: int, threads: int, on_start: OnStart | None = None
) -> Outcomes:
    """Yield each job with its outcome when it ends; ``workers`` processes do one job after the other.

    A process that dies fails its job only, and another takes its place. All processes end with this one, even
    if it is killed. With ``workers=0`` the jobs run in this process.
    """
    if workers == 0:
        for job in jobs:
            if on_start:
                on_start(job)
            yield job, attempt(job, work, threads)
        return
    waiting = iter(jobs)
    idle: list[_Worker] = []
    busy: list[_Worker] = []
    try:
        while True:
            for job in islice(waiting, workers - len(busy)):
                busy.append(_assign(job, idle, work, threads))
                if on_start:
                    on_start(job)
            if not busy:
                return
            ready = connection.wait([x for each in busy for x in (each.pipe, each.process.sentinel)])
            for worker in [each for each in busy if each.pipe in ready or each.process.sentinel in ready]:
                outcome = _receive(worker)
                if outcome is not None:
                    idle.append(worker)
                busy.remove(worker)
                yield worker.job, outcome or _crashed(worker, threads)
    finally:
        for worker in [*busy, *idle]:
            worker.process.kill()
        for worker in [*busy, *idle]:
            worker.process.join()
            worker.pipe.close()


def _assign(job: Job, idle: list[_Worker], work: Work, threads: int) -> _Worker:
    """Give the job to an idle worker, or to a new one."""
    while idle:
        worker = idle.pop()
        try:
            worker.start(job)
            return worker
        except OSError:  # it was killed while it was idle
            worker.process.join()
            worker.pipe.close()
    context = multiprocessing.get_context("forkserver")
    with _environment_of_server(threads):
        # Its own folder for sockets would stay for ever where this process is killed.
        multiprocessing.current_process()._config["tempdir"] = str(folder_of_sockets())  # type: ignore[attr-defined]
        # The module with the work is preloaded too, so that all jobs run the same code.
        context.set_forkserver_preload([*PRELOAD, work.__module__])
        forkserver.ensure_running()
    pipe, end_of_worker = context.Pipe()
    process = context.Process(target=_serve, args=(end_of_worker, work, threads))
    try:
        process.start()
    finally:
        end_of_worker.close()  # if it were open here too, the death of the worker would go unnoticed
    worker = _Worker(process, pipe, job)
    with suppress(OSError):  # it is dead already: whoever receives from it will notice
        worker.start(job)
    return worker


@contextmanager
def _environment_of_server(threads: int) -> Iterator[None]:
    """Set what the server process inherits: the number of threads, and a blocked Ctrl-C.

    This process ends the workers itself; on Ctrl-C each of them would print a traceback.
    """
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _serve(pipe: connection.Connection[Any, Any], work: Work, threads: int) -> None:
    """Do the jobs that come through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    os.dup2(2, 1)  # standard output is for the result of the command
    for stream in (sys.stdout, sys.stderr):  # line by line, so that lines of two processes do not mix
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    gc.freeze()  # with the imported modules left out, a collection takes no time
    with pipe, suppress(EOFError, ConnectionError):  # the latter: the parent was killed
        while True:
            pipe.send(attempt(pipe.recv(), work, threads))
            gc.collect()  # what a job leaves must not count as memory of the next


def _exit_with_parent() -> None:
    """Exit when the parent process is gone, even if it was killed.

    The sentinel is a pipe whose other end only the parent holds, so the system closes it in any case.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _receive(worker: _Worker) -> Outcome | None:
    """Return the outcome; None if the worker died before it had sent all of it."""
    with suppress(EOFError, OSError):
        if worker.pipe.poll():
            outcome: Outcome = worker.pipe.recv()
            return outcome
    return None


def _crashed(worker: _Worker, threads: int) -> Outcome:
    """Return the outcome of a job whose worker died."""
    worker.pipe.close()
    worker.process.join(SECONDS_TO_EXIT)
    if worker.process.is_alive():  # a thread of the job keeps it from exiting
        worker.process.kill()
        worker.process.join()
    status = worker.process.exitcode or 0
    if status >= 0:
        message = f"left with status {status} and no result"
    elif status == -signal.SIGKILL:
        message = (
            "killed by signal 9, as the system does where memory is used up: run fewer at a time "
            "(--workers), or end other programs"
        )
    else:
        message = f"killed by signal {-status} ({signal.strsignal(-status)})"
    return Outcome(None, time.perf_counter() - worker.since, 0.0, threads, "crash", message)


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
