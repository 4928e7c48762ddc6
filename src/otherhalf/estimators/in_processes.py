"""The members of a fit in processes of this machine, at the same time."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from otherhalf.errors import InputError
from otherhalf.estimators.estimate import Estimate
from otherhalf.estimators.members.base import Fitted
from otherhalf.estimators.members.fitting import FitMember, in_parts
from otherhalf.estimators.members.view import GraphView
from otherhalf.graph import Graph
from otherhalf.nn.memory import graph_bytes
from otherhalf.system.memory import available_bytes
from otherhalf.system.process import keep_freed_memory
from otherhalf.system.profile import stage
from otherhalf.system.threads import SMALL, worthwhile_threads
from otherhalf.system.workers import Answered, Event, Told, Workers, has_workers, start_server, tell_parent
from otherhalf.training.loop import Monitor, OnStep

WORKER = 300_000_000
"""Bytes of a process that fits members, and of the one that it is forked from, without a graph: 240 and 220
MB on Cora and Chameleon, where what they share with others is counted in parts."""

COPIES = 3
"""What a process holds of the graph, in sizes of the graph: it, its inputs, and its operators."""

WORTH_SECONDS = 15.0
"""Duration of a fit from which on processes are worth their start, which takes some seconds of a core."""

REFUSALS = OSError, EOFError, InputError
"""What happens where no process can start: there are too many, or there is no folder for their sockets."""

SECONDS_BETWEEN_STEPS = 0.2
"""How often a worker tells how far a training is."""


def memory_of_processes(graph: Graph, count: int) -> int:
    """Return the bytes of so many processes that fit members."""
    return (count + 1) * WORKER + count * COPIES * graph_bytes(graph)


def worthwhile_processes(graph: Graph, estimate: Estimate, threads: int) -> int:
    """Return how many processes shorten a fit with so many threads; 1 where this process alone does as well.

    On a small graph a training uses one thread (:data:`~otherhalf.system.threads.SMALL`), and the other cores
    are idle; on a larger one it uses them all.
    """
    if estimate.nodes >= SMALL or estimate.seconds is None or estimate.seconds < WORTH_SECONDS:
        return 1
    if not has_workers():
        return 1
    free = available_bytes() - estimate.memory
    fitting = [count for count in range(2, threads + 1) if memory_of_processes(graph, count) <= free]
    return max(fitting, default=1)


class MembersInProcesses:
    """Fits members (:class:`~otherhalf.estimators.members.fitting.FitMembers`) in processes.

    Trainings have as many threads in each process as in this one, because sums in another order would end in
    other digits; on a small graph that is one, and trees, whose digits do not depend on it, have one too.
    What a process leaves undone, because it died, met an error or could not start, is done here. Leave the
    block, and the processes are ended.

    Args:
        count: Number of processes.
    """

    def __init__(self, count: int) -> None:
        import torch

        self.processes, self._threads = count, torch.get_num_threads()
        self._view: GraphView | None = None
        self._workers: Workers | None = None
        self._on_step: OnStep | None = None
        with suppress(*REFUSALS):  # the first process will meet it again
            start_server(self._threads)  # it imports while this process finds the missing half

    def __enter__(self) -> MembersInProcesses:
        return self

    def __exit__(self, *error: object) -> None:
        if self._workers is not None:
            self._workers.end()
        self._workers = self._view = None

    def monitor(self, own: Monitor) -> Monitor:
        """Return the monitor of a training elsewhere: it keeps the state itself, and tells of its steps."""
        self._on_step = own.on_step
        return replace(own, on_step=None if own.on_step is None else Steps())

    def __call__(self, view: GraphView, fits: Sequence[FitMember]) -> Iterator[Fitted]:
        """Yield the fitted members in the order of the fits."""
        parts, join = in_parts(fits)
        ended: dict[int, Fitted] = {}
        with stage(f"members, in {self.processes} processes"):
            for (number, _), event in self._events(view, parts):
                if isinstance(event, Told) and self._on_step is not None:
                    self._on_step(*event.value)
                if isinstance(event, Answered) and event.value is not None:
                    ended[number] = event.value
        fitted = [ended[i] if i in ended else part(view) for i, part in enumerate(parts)]
        yield from join(fitted)

    def _events(self, view: GraphView, parts: Sequence[FitMember]) -> Iterator[tuple[Any, Event]]:
        """Yield what the processes tell, until all parts are done or the system refuses another process."""
        try:
            yield from self._workers_for(view).do(enumerate(parts))
        except REFUSALS:
            self.__exit__()

    def _workers_for(self, view: GraphView) -> Workers:
        if self._workers is None or self._view is not view:
            self.__exit__()
            self._view = view
            self._workers = Workers(FitPart(pickle.dumps(view), self._threads), self.processes, self._threads)
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
        import torch

        if self._view is None:
            keep_freed_memory()
            torch.set_num_threads(self._threads)
            self._view = pickle.loads(self._packed)
        try:
            with worthwhile_threads(self._view.graph.num_nodes):
                return numbered[1](self._view)
        except Exception:
            return None


class Steps:
    """A progress callback that tells the parent process, not too often."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Tell of a step."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + SECONDS_BETWEEN_STEPS
            tell_parent((stage, done, total))
