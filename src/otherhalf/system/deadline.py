"""A deadline for work that can wait for ever, such as for a server that sends one byte a minute."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any


def within(seconds: float, work: Callable[[], None]) -> None:
    """Do the work, and raise what it raises; raise TimeoutError if it is not done in time.

    The work is done in a thread of its own, because nothing else can leave a system call that waits. A thread
    that is late goes on until its call ends, and does not keep the process alive.
    """
    outcome: SimpleQueue[Any] = SimpleQueue()

    def run() -> None:
        try:
            work()
        except BaseException as error:
            outcome.put(error)
        else:
            outcome.put(None)

    Thread(target=run, daemon=True).start()
    try:
        error = outcome.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"it was not done after {seconds:g} seconds") from None
    if error is not None:
        raise error
