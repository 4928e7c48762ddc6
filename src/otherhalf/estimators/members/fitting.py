"""Who fits the members of an ensemble: this process, one after the other, or others at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from otherhalf.estimators.members.base import Fitted
from otherhalf.estimators.members.replicas import Plan
from otherhalf.estimators.members.view import GraphView
from otherhalf.training.loop import Monitor

FitMember = Callable[[GraphView], Fitted]
"""Fits one member. What it needs besides the view is bound, and other processes can unpickle it."""


@dataclass(frozen=True)
class Trainings:
    """Fits a member that is trained several times; the trainings do not need each other.

    Attributes:
        fit: Fits the member as a ``plan`` says.
        plan: How often.
        join: Returns the member of all trainings from those of one each, equal to that of ``fit``.
    """

    fit: Callable[..., Fitted]
    plan: Plan
    join: Callable[[Sequence[Fitted]], Fitted]

    def __call__(self, view: GraphView) -> Fitted:
        """Fit the member here."""
        return self.fit(view, plan=self.plan)

    def parts(self) -> list[FitMember]:
        """Return the fits of one training each."""
        return [partial(self.fit, plan=each) for each in self.plan.parts()]


class FitMembers(Protocol):
    """Fits several members that do not need each other, and yields them in their order.

    Attributes:
        processes: Number of processes of this machine that fit them; 1 for this one alone.
    """

    processes: int

    def __call__(self, view: GraphView, fits: Sequence[FitMember]) -> Iterator[Fitted]:
        """Fit the members."""
        ...

    def prepare(self) -> None:
        """Start what takes a while; a fit begins, and its members will follow."""
        ...

    def monitor(self, own: Monitor) -> Monitor:
        """Return what keeps the state of the trainings and reports their progress, from that of a fit."""
        ...


class OneAfterTheOther:
    """Fits the members in this process, each when it is asked for."""

    processes = 1

    def __call__(self, view: GraphView, fits: Sequence[FitMember]) -> Iterator[Fitted]:
        """Yield the fitted members."""
        for fit in fits:
            yield fit(view)

    def prepare(self) -> None:
        """Nothing has to start."""

    def monitor(self, own: Monitor) -> Monitor:
        """Return the monitor of the fit."""
        return own


one_after_the_other = OneAfterTheOther()


def in_parts(fits: Sequence[FitMember]) -> tuple[list[FitMember], Callable[[Sequence[Fitted]], list[Fitted]]]:
    """Return the fits of one training each, and what makes the members of all of them, in order."""
    divided = [each.parts() if isinstance(each, Trainings) else [each] for each in fits]

    def join(fitted: Sequence[Fitted]) -> list[Fitted]:
        left = iter(fitted)
        members = []
        for fit, parts in zip(fits, divided, strict=True):
            own = [next(left) for _ in parts]
            members.append(fit.join(own) if isinstance(fit, Trainings) else own[0])
        return members

    return [part for parts in divided for part in parts], join


_fit_members: ContextVar[FitMembers] = ContextVar("fit_members", default=one_after_the_other)


def fit_members() -> FitMembers:
    """Return who fits the members now."""
    return _fit_members.get()


@contextmanager
def members_fitted_by(others: FitMembers) -> Iterator[None]:
    """Let somebody else fit the members of the ensembles that are fitted in the block.

    The result is the same to the bit, as each training has its own seed.
    """
    token = _fit_members.set(others)
    try:
        yield
    finally:
        _fit_members.reset(token)
