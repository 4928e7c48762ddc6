"""No more threads than the work needs, and idle ones that leave their cores to others."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TURNS = "1000"
"""How often an idle thread looks for work before it sleeps. By default it looks for so long that it takes the
core from other work: beside other work the default fit of Cora took 142 s with two threads, and 62 s so."""

SMALL = 4000
"""Nodes of a graph that is trained with one thread. An epoch of Cora or Chameleon takes as long with one as
with two; beside other work, two wait for each other. With the 7,600 nodes of Actor two threads save a sixth,
with the 7,650 of Photo and its many edges a third."""


def wait_politely() -> None:
    """Let the threads of torch's products sleep soon after their work, unless the user chose otherwise.

    GNU's OpenMP reads the variables once, when torch is imported: afterwards this changes nothing.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", TURNS)


THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""What libraries read when they are loaded."""


def thread_variables(threads: int) -> dict[str, str]:
    """Return the environment of a process that has so many threads."""
    return dict.fromkeys(THREAD_VARIABLES, str(threads))


@contextmanager
def children_have(threads: int) -> Iterator[None]:
    """Give processes that are started inside so many threads."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(thread_variables(threads))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


_asked_for: ContextVar[int | None] = ContextVar("asked_for", default=None)


def threads_asked_for() -> int:
    """Return torch's number of threads, outside of :func:`worthwhile_threads`: what a fit is started with."""
    import torch  # this module is loaded with the package, long before

    return _asked_for.get() or torch.get_num_threads()


@contextmanager
def worthwhile_threads(nodes: int) -> Iterator[None]:
    """Train inside with the threads that torch has, or with one if the graph is small (:data:`SMALL`)."""
    import torch

    before = torch.get_num_threads()
    token = _asked_for.set(threads_asked_for())
    torch.set_num_threads(1 if nodes < SMALL else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        _asked_for.reset(token)
