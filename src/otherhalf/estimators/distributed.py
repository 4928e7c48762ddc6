"""The members of a fit as tasks of a Ray, at the same time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from otherhalf.cluster.address import Address
from otherhalf.cluster.tasks import Tasks
from otherhalf.errors import InputError
from otherhalf.estimators.members.base import Fitted
from otherhalf.estimators.members.fitting import FitMember, members_fitted_by
from otherhalf.estimators.members.view import GraphView


class MembersOnRay:
    """Fits members (:data:`~otherhalf.estimators.members.fitting.FitMembers`) as tasks.

    The graph goes to the store of shared objects once for several members. Each task has as many threads as
    this process: sums in another order would end in other digits.

    Args:
        address: Where the Ray is.
    """

    def __init__(self, address: Address) -> None:
        self._tasks = Tasks(address, os.cpu_count() or 1)

    def __call__(self, view: GraphView, fits: Sequence[FitMember]) -> Iterator[Fitted]:
        """Yield the fitted members in the order of the fits."""
        import torch

        name, threads = token_hex(8), torch.get_num_threads()
        shared = self._tasks.share(name, lambda: view)

        def arguments(number: int) -> tuple[Any, ...]:
            return shared, fits[number], threads

        ended: dict[int, Fitted] = {}
        try:
            for number, fitted in self._tasks.map(fit_one, range(len(fits)), arguments, threads=threads):
                ended[number] = fitted
        finally:
            self._tasks.forget(lambda key: key == name)
        yield from (ended[number] for number in range(len(fits)))


def fit_one(view: GraphView, fit: FitMember, threads: int) -> Fitted:
    """Fit a member in a worker."""
    import torch

    torch.set_num_threads(threads)
    return fit(view)


@contextmanager
def members_on(executor: str | None) -> Iterator[None]:
    """Let the members of the fits in the block be fitted on ``ray`` or ``ray://HOST:PORT``; None: here."""
    if executor is None:
        yield
        return
    if executor != "ray" and not executor.startswith("ray://"):
        raise InputError(f"--executor {executor} fits no members: give ray, ray://auto or ray://HOST:PORT")
    with members_fitted_by(MembersOnRay(Address.parse(executor))):
        yield
