"""Calls as Ray tasks: as many at a time as wanted, and again where a worker or its machine dies."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from otherhalf.cluster.address import Address
from otherhalf.cluster.connection import connect, signals_as_they_are
from otherhalf.cluster.remote import remote_call, remote_holder
from otherhalf.cluster.shared import Shared, boxes_of, without_boxes
from otherhalf.cluster.versions import own_versions, refusal
from otherhalf.errors import InputError, RunsFailed

T = TypeVar("T")

ATTEMPTS = 3
"""Times that a call is tried whose worker dies."""

SECONDS_BETWEEN_LOOKS = 5.0
"""How often it is checked whether the cluster still has a machine for the calls."""


@dataclass(frozen=True)
class Lost:
    """A call without a result, because its worker died each time.

    Attributes:
        seconds: How long the last attempt took.
        message: What Ray says about the last time.
    """

    seconds: float
    message: str


@dataclass
class _Running(Generic[T]):
    item: T
    attempt: int
    since: float


class Tasks:
    """Runs calls on a Ray, and keeps the values that they share.

    Args:
        address: Where the Ray is.
        cpus: Number of processors of a Ray of our own.
    """

    def __init__(self, address: Address, cpus: int) -> None:
        self.ray = connect(address, cpus)
        self._versions = own_versions()
        self._shared: dict[Hashable, Shared] = {}
        self._made_of: list[tuple[Any, Any]] = []

    def share(self, key: Hashable, make: Callable[[], Any]) -> Shared:
        """Return the value with this key in the store; it is made and put there once."""
        if key not in self._shared:
            self._shared[key] = Shared(key, [self.ray.put(make())])
        return self._shared[key]

    def forget(self, old: Callable[[Hashable], bool]) -> None:
        """Let the values whose keys are old leave the store."""
        self._shared = {key: value for key, value in self._shared.items() if not old(key)}

    def slots(self, threads: int) -> int:
        """Return how many calls with so many threads the cluster can run at a time."""
        return sum(int(node["Resources"].get("CPU", 0)) // threads for node in self._alive())

    def run(
        self,
        function: Callable[..., Any],
        items: Iterable[T],
        arguments: Callable[[T], tuple[Any, ...]],
        *,
        at_once: int,
        threads: int = 1,
        on_start: Callable[[T], None] | None = None,
    ) -> Generator[tuple[T, Any]]:
        """Yield each item with the result of its call, or with :class:`Lost`, when it ends.

        An error of a call is raised here. Close the generator to end the calls that run.

        Args:
            function: What is called; the workers must be able to import it.
            items: What it is called for, in the order of the starts.
            arguments: Returns its arguments for an item; a :class:`Shared` one arrives as its value.
            at_once: Number of calls at a time.
            threads: Number of processors of each call.
            on_start: Called with an item when its call begins.
        """
        remote = remote_call(threads)
        packed = self.ray.cloudpickle.dumps(function)
        waiting, running = iter(items), dict[Any, _Running[T]]()

        def start(item: T, attempt: int) -> None:
            given = arguments(item)
            content = self.ray.cloudpickle.dumps(without_boxes(given))
            call = remote.remote(self._versions, packed, content, boxes_of(given))
            running[call] = _Running(item, attempt, time.perf_counter())

        try:
            with signals_as_they_are():
                while True:
                    for item in islice(waiting, at_once - len(running)):
                        start(item, 1)
                        if on_start:
                            on_start(item)
                    if not running:
                        return
                    ready, _ = self.ray.wait(list(running), timeout=SECONDS_BETWEEN_LOOKS)
                    if not ready:
                        self._check_room(threads)
                    for call in ready:
                        one = running.pop(call)
                        result = self._result(call, one.since)
                        if isinstance(result, Lost) and one.attempt < ATTEMPTS:
                            start(one.item, one.attempt + 1)
                        else:
                            yield one.item, result
        finally:
            for call in running:
                with suppress(self.ray.exceptions.RayError):
                    self.ray.cancel(call, force=True)

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[T],
        arguments: Callable[[T], tuple[Any, ...]],
        *,
        threads: int = 1,
    ) -> Generator[tuple[T, Any]]:
        """Do so on the entire cluster; raise RunsFailed if a call is lost."""
        at_once = 2 * max(1, self.slots(threads))
        for item, result in self.run(function, items, arguments, at_once=at_once, threads=threads):
            if isinstance(result, Lost):
                raise RunsFailed(f"a part of the work was lost {ATTEMPTS} times: {result.message}")
            yield item, result

    def actor(self, kind: Callable[..., Any], *arguments: Any) -> Any:
        """Return an actor that holds an object made of these arguments, on any machine of the cluster.

        Where its machine dies, it is made again elsewhere.
        """
        content = self.ray.put(self.ray.cloudpickle.dumps(arguments))
        actor = remote_holder(ATTEMPTS).remote(self._versions, self.ray.cloudpickle.dumps(kind), content)
        self._made_of.append((actor, content))  # it cannot be made again once nobody here has a reference
        return actor

    def end(self, actor: Any) -> None:
        """End an actor, and forget what it was made of."""
        self.ray.kill(actor)
        self._made_of = [each for each in self._made_of if each[0] is not actor]

    def ask(self, questions: Sequence[tuple[Any, str, tuple[Any, ...]]]) -> list[Any]:
        """Return what methods of actors return, all at the same time.

        Args:
            questions: An actor, the name of the method, and its arguments.
        """
        asked = [
            actor.ask.remote(method, self.ray.cloudpickle.dumps(arguments))
            for actor, method, arguments in questions
        ]
        answers = []
        with signals_as_they_are():
            for call in asked:
                answer = self._result(call, time.perf_counter())
                if isinstance(answer, Lost):
                    raise RunsFailed(f"a part of the work was lost: {answer.message}")
                answers.append(answer)
        return answers

    def _result(self, call: Any, since: float) -> Any:
        errors = self.ray.exceptions
        try:
            state, value = self.ray.get(call)
        except errors.RayTaskError as error:
            if _cut_off(error.cause):
                return Lost(time.perf_counter() - since, _sentence(error.cause))
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except (errors.AuthenticationError, errors.TaskUnschedulableError) as error:
            raise InputError(f"Ray cannot run the work: {_sentence(error)}") from error
        except errors.RayError as error:  # the worker, its machine or its result is gone
            return Lost(time.perf_counter() - since, _sentence(error))
        if state == "refused":
            worker, found = value
            raise refusal(worker, found, self._versions)
        return value

    def _check_room(self, threads: int) -> None:
        if self.slots(threads) == 0:
            raise InputError(
                f"no machine of the Ray cluster has {threads} free processor(s) any more: start one again "
                "(`ray start --address=…`), or give fewer --threads; what is done is kept"
            )

    def _alive(self) -> list[dict[str, Any]]:
        return [node for node in self.ray.nodes() if node["Alive"]]


def _cut_off(error: Any) -> bool:
    """Whether a worker has lost its connection to Ray in the middle of a call: its machine is dying."""
    return isinstance(error, ConnectionError) or (isinstance(error, OSError) and "Broken pipe" in str(error))


def _sentence(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__).rstrip(".")
