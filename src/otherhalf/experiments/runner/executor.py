"""Run jobs in processes of their own: one that crashes or runs out of memory harms no other."""

from __future__ import annotations

import io
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, forkserver
from multiprocessing.context import ForkServerProcess
from typing import Any, Protocol

from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import Job, Outcome, plain

Work = Callable[[Job], dict[str, Any]]
"""Does a job and gives its result; must be a function that another process can import."""

OnStart = Callable[[Job], None]
Outcomes = Generator[tuple[Job, Outcome], None, None]

PRELOAD = [
    "otherhalf.experiments.runner.executor",
    "torch",
    "torch._dynamo",
    "otherhalf.estimators.goal",
    "otherhalf.nn.ops.attention_kernels",
]
"""Imported once by the server process that all others are forked from, so that a start is cheap.

``torch._dynamo`` is what the first optimiser of a process imports: more than a second, in every run. The
kernels are compiled when they are imported, once for all.
"""

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
SECONDS_TO_LEAVE = 10.0


class Executor(Protocol):
    """Runs jobs somewhere and yields each with its outcome as it ends; closing it stops those that run.

    It calls ``on_start`` (if given) when a job starts. Jobs start in the order given.
    """

    def __call__(
        self, jobs: Iterable[Job], work: Work, workers: int, threads: int, on_start: OnStart | None = None
    ) -> Outcomes:
        """Start as many as ``workers`` at a time, with ``threads`` each."""
        ...


@dataclass(frozen=True)
class _Running:
    job: Job
    process: ForkServerProcess
    answer: connection.Connection
    since: float


def run_jobs(
    jobs: Iterable[Job], work: Work, workers: int, threads: int, on_start: OnStart | None = None
) -> Outcomes:
    """Yield each job with its outcome as it ends, ``workers`` of them running at a time.

    Each has a fresh process and ``threads`` threads. They end with this process, however it ends. With
    ``workers=0`` the jobs run in this process, one after the other.
    """
    if workers == 0:
        for job in jobs:
            if on_start:
                on_start(job)
            yield job, _attempt(job, work, threads)
        return
    waiting = iter(jobs)
    running: list[_Running] = []
    try:
        while True:
            for job in islice(waiting, workers - len(running)):
                running.append(_start(job, work, threads))
                if on_start:
                    on_start(job)
            if not running:
                return
            ready = connection.wait([x for one in running for x in (one.answer, one.process.sentinel)])
            for one in [one for one in running if one.answer in ready or one.process.sentinel in ready]:
                outcome = _collect(one, threads)
                running.remove(one)
                yield one.job, outcome
    finally:
        for one in running:
            one.process.kill()
        for one in running:
            one.process.join()
            one.answer.close()


def _start(job: Job, work: Work, threads: int) -> _Running:
    context = multiprocessing.get_context("forkserver")
    with _surroundings_of_server(threads):
        # The module with the work is loaded beforehand too, so that all runs have the same code.
        context.set_forkserver_preload([*PRELOAD, work.__module__])
        forkserver.ensure_running()
    answer, question = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(question, job, work, threads), name=f"run {job.key[:8]}")
    try:
        process.start()
    finally:
        question.close()  # the child's end: were it open here too, we could not see that it has gone
    return _Running(job, process, answer, time.perf_counter())


@contextmanager
def _surroundings_of_server(threads: int) -> Iterator[None]:
    """What the server process inherits: the number of threads, and that Ctrl-C is not for it.

    We end the children ourselves; each of them would print a traceback otherwise.
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


def _child(answer: connection.Connection, job: Job, work: Work, threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    os.dup2(2, 1)  # standard output belongs to the command's own answer
    for stream in (sys.stdout, sys.stderr):  # a line at a time, so that those of two processes stay whole
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    answer.send(_attempt(job, work, threads))
    answer.close()


def _leave_with_parent() -> None:
    """End this process when the one that asked for it is gone, even if that one was killed.

    The sentinel is a pipe whose other end only that process holds, so the system closes it in any case.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _attempt(job: Job, work: Work, threads: int) -> Outcome:
    if "torch" in sys.modules:  # else the environment will tell it
        sys.modules["torch"].set_num_threads(threads)
    start = time.perf_counter()
    result, kind, message = None, "done", ""
    try:
        result = plain(dict(work(job)))
    except InputError as error:
        kind, message = "input", str(error)
    except Exception:
        kind, message = "crash", traceback.format_exc()
    return Outcome(result, time.perf_counter() - start, _peak_memory_mb(), threads, kind, message)


def _collect(one: _Running, threads: int) -> Outcome:
    outcome = None
    # Where nothing was sent, or not all of it, the process has died on the way.
    with suppress(EOFError, OSError):
        if one.answer.poll():
            outcome = one.answer.recv()
    one.answer.close()
    one.process.join(SECONDS_TO_LEAVE)
    if one.process.is_alive():  # it has answered, but something in it does not let go
        one.process.kill()
        one.process.join()
    if isinstance(outcome, Outcome):
        return outcome
    message = _how_it_died(one.process.exitcode or 0)
    return Outcome(None, time.perf_counter() - one.since, 0.0, threads, "crash", message)


def _how_it_died(status: int) -> str:
    if status >= 0:
        return f"left with status {status} and no result"
    if status == -signal.SIGKILL:
        return "killed by signal 9 (out of memory?)"
    return f"killed by signal {-status} ({signal.strsignal(-status)})"


def _peak_memory_mb() -> float:
    # As otherhalf.estimators.run_folder has it, which cannot be imported here without waiting for torch.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024
