"""Who fits the members of an ensemble: this process, one after the other, or others at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from otherhalf.estimators.members.base import Fitted
from otherhalf.estimators.members.view import GraphView

FitMember = Callable[[GraphView], Fitted]
"""Fits one member. What it needs besides the view is bound, and other processes can unpickle it."""

FitMembers = Callable[[GraphView, Sequence[FitMember]], Iterator[Fitted]]
"""Fits several members that do not need each other, and yields them in their order."""


def one_after_the_other(view: GraphView, fits: Sequence[FitMember]) -> Iterator[Fitted]:
    """Fit the members in this process, each when it is asked for."""
    for fit in fits:
        yield fit(view)


_fit_members: ContextVar[FitMembers] = ContextVar("fit_members", default=one_after_the_other)


def fit_members() -> FitMembers:
    """Return who fits the members now."""
    return _fit_members.get()


@contextmanager
def members_fitted_by(others: FitMembers) -> Iterator[None]:
    """Let somebody else fit the members of the ensembles that are fitted in the block.

    The result is the same to the bit, as each member has its own seed. Its progress is not shown, and a fit
    that is stopped keeps no part of a member.
    """
    token = _fit_members.set(others)
    try:
        yield
    finally:
        _fit_members.reset(token)
