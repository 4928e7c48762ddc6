"""One job done in the process that an executor chose, and what an executor is."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterable
from typing import Any, Protocol

from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import Job, Outcome, as_json
from otherhalf.system.memory import memory_sentence, out_of_memory
from otherhalf.system.process import peak_memory_mb, reset_peak_memory

Work = Callable[[Job], dict[str, Any]]
"""Does a job and returns its result; another process must be able to unpickle it."""

OnStart = Callable[[Job], None]
Outcomes = Generator[tuple[Job, Outcome], None, None]


class Executor(Protocol):
    """Runs jobs somewhere and yields each with its outcome when it ends; closing it stops running jobs.

    Jobs start in the order given. ``on_start`` is called when a job starts.
    """

    def __call__(
        self, jobs: Iterable[Job], work: Work, workers: int, threads: int, on_start: OnStart | None = None
    ) -> Outcomes:
        """Run at most ``workers`` jobs at a time, with ``threads`` threads each."""
        ...


def attempt(job: Job, work: Work, threads: int) -> Outcome:
    """Do a job and return how it ended; an error that it raises is its outcome."""
    if "torch" in sys.modules:  # else it will read the environment
        sys.modules["torch"].set_num_threads(threads)
    reset_peak_memory()
    start = time.perf_counter()
    result, kind, message = None, "done", ""
    try:
        result = as_json(dict(work(job)))
    except InputError as error:
        kind, message = "input", str(error)
    except Exception as error:
        kind = "crash"
        message = memory_sentence(error) if out_of_memory(error) else traceback.format_exc()
    sys.stdout.flush()  # the process may be killed when it is idle
    return Outcome(result, time.perf_counter() - start, peak_memory_mb(), threads, kind, message)
