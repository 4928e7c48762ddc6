"""Worker processes on this machine: started quickly, told apart when they die, and gone with their parent."""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from otherhalf.system.scratch import folder_of_sockets
from otherhalf.system.threads import children_have, thread_variables

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerProcess  # Windows has none

SECONDS_TO_EXIT = 10.0

LIBRARIES = ("torch", "otherhalf.estimators.goal", "otherhalf.nn.ops.attention_kernels")
"""Modules that the server process imports once. Workers are forked from it, so that they start quickly;
kernels are compiled when they are imported, once for all workers."""

Work = Callable[[Any], Any]
"""Does an item in a worker and returns the answer. Items, answers and the work itself can be pickled."""


@dataclass(frozen=True)
class Told:
    """What a worker told of an item that it is still doing (:func:`tell_parent`)."""

    value: Any


@dataclass(frozen=True)
class Answered:
    """What a worker returned of an item."""

    value: Any


@dataclass(frozen=True)
class Died:
    """How a worker ended that had an item: its exit status (a signal is negative), and the seconds since."""

    status: int
    seconds: float


Event = Told | Answered | Died


@dataclass
class _Worker:
    process: ForkServerProcess
    pipe: connection.Connection[Any, Any]
    item: Any = None
    since: float = 0.0

    def start(self, item: Any) -> None:
        self.item, self.since = item, time.perf_counter()
        _send(self.pipe, item)


def has_workers() -> bool:
    """Return whether this system can fork processes from a server; Windows cannot."""
    return "forkserver" in multiprocessing.get_all_start_methods()


class Workers:
    """Processes that do one item after the other; leave the block, and they are ended.

    A process that dies fails its item only, and another takes its place. All processes end with this one,
    even if it is killed.

    Args:
        work: Does an item.
        count: Number of processes at most; each starts when there is something to do for it.
        threads: Number of threads of each.
        preload: Modules that the server process imports.
    """

    def __init__(self, work: Work, count: int, threads: int, preload: Iterable[str] = LIBRARIES) -> None:
        self._work, self._count, self._threads, self._preload = work, count, threads, preload
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """End all processes, whatever they do."""
        workers, self._busy, self._idle = [*self._busy, *self._idle], [], []
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.process.join()
            worker.pipe.close()

    def do(
        self, items: Iterable[Any], on_start: Callable[[Any], None] | None = None
    ) -> Iterator[tuple[Any, Event]]:
        """Yield what happens to each item, until every one was answered or has lost its worker.

        Items start in their order, when a worker is free. ``on_start`` is called when one starts.
        """
        waiting = iter(items)
        while True:
            for item in islice(waiting, self._count - len(self._busy)):
                self._assign(item)
                if on_start:
                    on_start(item)
            if not self._busy:
                return
            ready = connection.wait([x for each in self._busy for x in (each.pipe, each.process.sentinel)])
            for worker in [x for x in self._busy if x.pipe in ready or x.process.sentinel in ready]:
                event = _event_of(worker)
                if not isinstance(event, Told):
                    self._busy.remove(worker)
                if isinstance(event, Answered):
                    self._idle.append(worker)
                yield worker.item, event

    def _assign(self, item: Any) -> None:
        """Give the item to an idle worker, or to a new one."""
        while self._idle:
            worker = self._idle.pop()
            try:
                worker.start(item)
            except OSError:  # it was killed while it was idle
                worker.process.join()
                worker.pipe.close()
            else:
                self._busy.append(worker)
                return
        start_server(self._threads, self._preload)
        context = multiprocessing.get_context("forkserver")
        pipe, end_of_worker = context.Pipe()
        process = context.Process(target=_serve, args=(end_of_worker, self._work, self._threads))
        try:
            process.start()
        finally:
            end_of_worker.close()  # if it were open here too, the death of the worker would go unnoticed
        worker = _Worker(process, pipe)
        self._busy.append(worker)
        with suppress(OSError):  # it is dead already: whoever receives from it will notice
            worker.start(item)


def start_server(threads: int, preload: Iterable[str] = LIBRARIES) -> None:
    """Start the process that workers are forked from, if it does not run; it imports while this one goes on.

    It inherits the number of threads, and a blocked Ctrl-C: this process ends the workers itself, and each of
    them would print a traceback.
    """
    from multiprocessing import forkserver

    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        with children_have(threads):
            # Its own folder for sockets would stay for ever where this process is killed.
            multiprocessing.current_process()._config["tempdir"] = str(folder_of_sockets())  # type: ignore[attr-defined]
            multiprocessing.get_context("forkserver").set_forkserver_preload([*preload])
            forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


_to_parent: connection.Connection[Any, Any] | None = None


def tell_parent(value: Any) -> None:
    """Send a value to whoever waits for the item that this worker does; elsewhere nothing happens."""
    if _to_parent is not None:
        _send(_to_parent, Told(value))


def _serve(pipe: connection.Connection[Any, Any], work: Work, threads: int) -> None:
    """Do the items that come through the pipe until it is closed."""
    global _to_parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    os.dup2(2, 1)  # standard output is for the result of the command
    for stream in (sys.stdout, sys.stderr):  # line by line, so that lines of two processes do not mix
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)
    os.environ.update(thread_variables(threads))
    gc.freeze()  # with the imported modules left out, a collection takes no time
    _to_parent = pipe
    with pipe, suppress(EOFError, ConnectionError):  # the latter: the parent was killed
        while True:
            _send(pipe, Answered(work(pickle.loads(pipe.recv_bytes()))))
            gc.collect()  # what an item leaves must not count as memory of the next


def _send(pipe: connection.Connection[Any, Any], value: Any) -> None:
    # Not pipe.send: torch would pass its tensors through shared memory, of which containers have little.
    pipe.send_bytes(pickle.dumps(value))


def _exit_with_parent() -> None:
    """Exit when the parent process is gone, even if it was killed.

    The sentinel is a pipe whose other end only the parent holds, so the system closes it in any case.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _event_of(worker: _Worker) -> Event:
    """Return what a worker has sent, or how it died before it had sent all of it."""
    with suppress(EOFError, OSError):
        if worker.pipe.poll():
            event: Event = pickle.loads(worker.pipe.recv_bytes())
            return event
    worker.pipe.close()
    worker.process.join(SECONDS_TO_EXIT)
    if worker.process.is_alive():  # a thread of the item keeps it from exiting
        worker.process.kill()
        worker.process.join()
    return Died(worker.process.exitcode or 0, time.perf_counter() - worker.since)
