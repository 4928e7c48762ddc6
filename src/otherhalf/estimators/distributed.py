"""Where the members of a fit are fitted: as tasks of a Ray, or on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from otherhalf.cluster.address import Address
from otherhalf.cluster.tasks import Tasks
from otherhalf.errors import InputError
from otherhalf.estimators.in_processes import MembersInProcesses
from otherhalf.estimators.members.base import Fitted
from otherhalf.estimators.members.fitting import FitMember, in_parts, members_fitted_by
from otherhalf.estimators.members.view import GraphView
from otherhalf.system.workers import has_workers
from otherhalf.training.loop import SILENT, Monitor


class MembersOnRay:
    """Fits members (:data:`~otherhalf.estimators.members.fitting.FitMembers`) as tasks.

    The graph goes to the store of shared objects once for several members, and each training is a task. Each
    task has as many threads as this process: sums in another order would end in other digits.

    Args:
        address: Where the Ray is.
    """

    processes = 1  # those of a Ray have memory of their own

    def __init__(self, address: Address) -> None:
        self._tasks = Tasks(address, os.cpu_count() or 1)

    def __call__(self, view: GraphView, fits: Sequence[FitMember]) -> Iterator[Fitted]:
        """Yield the fitted members in the order of the fits."""
        import torch

        name, threads = token_hex(8), torch.get_num_threads()
        shared = self._tasks.share(name, lambda: view)
        parts, join = in_parts(fits)

        def arguments(number: int) -> tuple[Any, ...]:
            return shared, parts[number], threads

        ended: dict[int, Fitted] = {}
        try:
            for number, fitted in self._tasks.map(fit_one, range(len(parts)), arguments, threads=threads):
                ended[number] = fitted
        finally:
            self._tasks.forget(lambda key: key == name)
        yield from join([ended[number] for number in range(len(parts))])

    def prepare(self) -> None:
        """Nothing has to start before the first member."""

    def monitor(self, own: Monitor) -> Monitor:
        """Return a monitor that keeps nothing: other machines see neither the folder nor the screen."""
        return SILENT


def fit_one(view: GraphView, fit: FitMember, threads: int) -> Fitted:
    """Fit a member in a worker."""
    import torch

    torch.set_num_threads(threads)
    return fit(view)


@contextmanager
def members_on(executor: str | None, processes: int = 1) -> Iterator[None]:
    """Let the members of the fits in the block be fitted at the same time.

    Args:
        executor: ``ray``, ``ray://auto`` or ``ray://HOST:PORT``; None or ``processes``: this machine.
        processes: Number of processes on this machine; 1: in this process, one after the other.
    """
    if executor not in (None, "processes", "ray") and not str(executor).startswith("ray://"):
        raise InputError(
            f"--executor {executor} fits no members: give processes, ray, ray://auto or ray://HOST:PORT"
        )
    if executor is not None and executor != "processes":
        with members_fitted_by(MembersOnRay(Address.parse(executor))):
            yield
    elif processes > 1 and has_workers():
        with MembersInProcesses(processes) as others, members_fitted_by(others):
            yield
    else:
        yield
