"""Where the time goes: seconds and calls of named stages, recorded where somebody asks for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar

REST = "everything else"
"""What is not in a stage."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Profile:
    """The stages of a run in the order of their first start.

    Attributes:
        total: Seconds from the start to the end.
        seconds: Seconds of each stage, without those of stages inside it, so that they add up.
        calls: How often each stage ran.
    """

    total: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    _inside: list[float] = field(default_factory=list)  # seconds of the stages within each open one

    def rows(self) -> list[dict[str, Any]]:
        """Return ``stage``, ``seconds``, ``share`` and ``calls`` of each stage; the last is the rest."""
        rest = max(0.0, self.total - sum(self.seconds.values()))
        named = [*((name, spent, self.calls[name]) for name, spent in self.seconds.items()), (REST, rest, 1)]
        whole = self.total or 1.0
        return [
            {"stage": name, "seconds": spent, "share": spent / whole, "calls": calls}
            for name, spent, calls in named
        ]

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add what runs inside to a stage."""
        self.seconds.setdefault(name, 0.0)
        self.calls[name] = self.calls.get(name, 0) + 1
        self._inside.append(0.0)
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            self.seconds[name] += spent - self._inside.pop()
            if self._inside:
                self._inside[-1] += spent


_ACTIVE: ContextVar[Profile | None] = ContextVar("profile", default=None)


@contextmanager
def profiled() -> Iterator[Profile]:
    """Record the stages that run inside, in this thread."""
    profile, started = Profile(), time.perf_counter()
    token = _ACTIVE.set(profile)
    try:
        yield profile
    finally:
        _ACTIVE.reset(token)
        profile.total = time.perf_counter() - started


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Add what runs inside to a stage of the profile, if one is recorded."""
    profile = _ACTIVE.get()
    if profile is None:
        yield
    else:
        with profile.stage(name):
            yield


def timed(name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make every call of a function a stage."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            with stage(name):
                return function(*args, **kwargs)

        return call

    return decorate
