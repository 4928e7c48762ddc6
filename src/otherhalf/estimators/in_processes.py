"""The members of a fit in processes of this machine, at the same time."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from otherhalf.errors import InputError
from otherhalf.estimators.estimate import Estimate
from otherhalf.estimators.members.base import Fitted
from otherhalf.estimators.members.fitting import FitMember, in_parts
from otherhalf.estimators.members.view import GraphView
from otherhalf.estimators.memory import member_need
from otherhalf.graph import Graph, Split
from otherhalf.nn.memory import Sizes, graph_bytes
from otherhalf.system.memory import available_bytes
from otherhalf.system.process import keep_freed_memory
from otherhalf.system.profile import stage
from otherhalf.system.threads import SMALL, worthwhile_threads
from otherhalf.system.workers import Answered, Told, Workers, has_workers, start_server, tell_parent
from otherhalf.training.checkpoint import check_threads_of
from otherhalf.training.loop import Monitor, OnStep

if TYPE_CHECKING:
    from otherhalf.estimators.goal import GOALClassifier

WORKER = 300_000_000
"""Bytes of a process that fits members, and of the one that it is forked from, without graph and training:
240 and 220 MB on Cora and Chameleon, where what they share with others is counted in parts."""

MOST_PROCESSES = 12
"""More are of no use: the longest trainings, those that finish the race, are fifteen at most."""

WORTH_SECONDS = 15.0
"""Duration of a fit from which on processes are worth their start, which takes some seconds of a core."""

REFUSALS = OSError, EOFError, InputError
"""What happens where no process can start: there are too many, or there is no folder for their sockets."""

SECONDS_BETWEEN_STEPS = 0.2
"""How often a worker tells how far a training is."""


def with_processes(
    executor: str | None, model: GOALClassifier, graph: Graph, split: Split, estimate: Estimate
) -> Estimate:
    """Return the estimate of a fit whose members are fitted in processes of this machine, if they are.

    On a small graph a training uses one thread (:data:`~otherhalf.system.threads.SMALL`), and the other cores
    are idle; on a larger one it uses them all. By default there are processes where that is faster and there
    is memory for them; with the executor ``processes``, as many as the machine has cores for.
    """
    import torch

    settings, threads = model.resolved_settings(), torch.get_num_threads()
    if executor not in (None, "processes") or settings.method == "embedding" or not has_workers():
        return estimate
    each = WORKER + graph_bytes(graph) + member_need(Sizes.of(graph, len(split.train)), settings)
    small = estimate.nodes < SMALL
    if executor == "processes":
        count = _cores() // (1 if small else threads)
    elif small and estimate.seconds is not None and estimate.seconds >= WORTH_SECONDS:
        free = available_bytes() - estimate.memory - WORKER - graph_bytes(graph)
        count = min(threads, free // each)
    else:
        count = 1
    count = min(count, MOST_PROCESSES)
    if count <= 1:
        return estimate
    return estimate.shared_by(count, WORKER + graph_bytes(graph) + count * each)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class MembersInProcesses:
    """Fits members (:class:`~otherhalf.estimators.members.fitting.FitMembers`) in processes.

    Trainings have as many threads in each process as in this one, because sums in another order would end in
    other digits; on a small graph that is one, and trees, whose digits do not depend on it, have one too.
    Where one dies, meets an error or cannot start, all are ended, and the rest is done here. Leave the block,
    and the processes are ended.

    Args:
        count: Number of processes.
    """

    def __init__(self, count: int) -> None:
        self.processes = count
        self._view: GraphView | None = None
        self._workers: Workers | None = None
        self._on_step: OnStep | None = None

    def __enter__(self) -> MembersInProcesses:
        return self

    def __exit__(self, *error: object) -> None:
        if self._workers is not None:
            self._workers.end()
        self._workers = self._view = None

    def prepare(self) -> None:
        """Start the server: it imports while this process finds the missing half."""
        with suppress(*REFUSALS):  # the first process will meet it again
            start_server(torch.get_num_threads())

    def monitor(self, own: Monitor) -> Monitor:
        """Return the monitor of a training elsewhere: it keeps the state itself, and tells of its steps.

        A state that no training can go on from is refused here, before any of them writes a new one.
        """
        if own.folder is not None:
            check_threads_of(own.folder)
        self._on_step = own.on_step
        return replace(own, on_step=None if own.on_step is None else Steps())

    def __call__(self, view: GraphView, fits: Sequence[FitMember]) -> Iterator[Fitted]:
        """Yield the fitted members in the order of the fits."""
        parts, join = in_parts(fits)
        ended: dict[int, Fitted] = {}
        if self.processes > 1:
            with stage(f"members, in {self.processes} processes"):
                for number, fitted in self._ended(view, parts):
                    ended[number] = fitted
        with _steps_go_to(self._on_step):
            rest = {i: part(view) for i, part in enumerate(parts) if i not in ended}
        yield from join([ended[i] if i in ended else rest[i] for i in range(len(parts))])

    def _ended(self, view: GraphView, parts: Sequence[FitMember]) -> Iterator[tuple[int, Fitted]]:
        """Yield the parts that processes have done, until all are or something goes wrong."""
        try:
            for (number, _), event in self._workers_for(view).do(enumerate(parts)):
                if isinstance(event, Told):
                    if self._on_step is not None:
                        self._on_step(*event.value)
                elif isinstance(event, Answered) and event.value is not None:
                    yield number, event.value
                else:
                    self._give_up()
                    return
        except REFUSALS:
            self._give_up()

    def _give_up(self) -> None:
        """End the processes; from now on everything is done here, where its errors are seen."""
        self.__exit__()
        self.processes = 1

    def _workers_for(self, view: GraphView) -> Workers:
        if self._workers is None or self._view is not view:
            self.__exit__()
            self._view, threads = view, torch.get_num_threads()
            self._workers = Workers(FitPart(pickle.dumps(view), threads), self.processes, threads)
        return self._workers


class FitPart:
    """Fits a part in a worker process.

    Args:
        packed: The pickled view; each process unpickles it once.
        threads: Number of threads.
    """

    def __init__(self, packed: bytes, threads: int) -> None:
        self._packed, self._threads = packed, threads
        self._view: GraphView | None = None

    def __call__(self, numbered: tuple[int, FitMember]) -> Fitted | None:
        """Return the fitted part; None after an error, which it will meet again where somebody sees it."""
        try:
            if self._view is None:
                keep_freed_memory()
                torch.set_num_threads(self._threads)
                self._view, self._packed = pickle.loads(self._packed), b""
            with worthwhile_threads(self._view.graph.num_nodes):
                return numbered[1](self._view)
        except Exception:
            return None


_here: ContextVar[OnStep | None] = ContextVar("here", default=None)


@contextmanager
def _steps_go_to(on_step: OnStep | None) -> Iterator[None]:
    """Report the steps of the trainings in this process to a callback of this process."""
    token = _here.set(on_step)
    try:
        yield
    finally:
        _here.reset(token)


class Steps:
    """A progress callback that travels: it tells the parent process, not too often, or this process."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Tell of a step."""
        on_step = _here.get()
        if on_step is not None:
            on_step(stage, done, total)
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + SECONDS_BETWEEN_STEPS
            tell_parent((stage, done, total))
