"""The code that Ray's workers run first: compare versions, and only then unpickle anything of this package.

Its functions are defined within functions, so that Ray sends them as code: a worker with another version of
this package, or without it, must be able to run them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def remote_call(threads: int) -> Any:
    """Return the remote function that calls a function with shared arguments.

    Args:
        threads: Number of processors of a call.
    """
    import ray

    found_by_worker = _code()

    def attempt(expected: dict[str, str], packed: bytes, content: bytes, boxes: list[Any]) -> tuple[str, Any]:
        name, found = found_by_worker(expected)
        if found != expected:
            return "refused", (name, found)
        import pickle

        from otherhalf.cluster.worker import call

        return "done", call(pickle.loads(packed), pickle.loads(content), boxes)

    remote: Any = ray.remote
    return remote(max_retries=0, num_cpus=threads)(attempt)


@cache
def remote_holder(restarts: int) -> Any:
    """Return the class of an actor that holds an object and calls its methods.

    Args:
        restarts: Times that it is made again where its machine dies, and that a call is repeated.
    """
    import ray

    found_by_worker = _code()

    class Holder:
        def __init__(self, expected: dict[str, str], packed: bytes, content: bytes) -> None:
            name, found = found_by_worker(expected)
            self.refused = None if found == expected else (name, found)
            if self.refused is None:
                import pickle

                self.held = pickle.loads(packed)(*pickle.loads(content))

        def ask(self, method: str, content: bytes) -> tuple[str, Any]:
            if self.refused is not None:
                return "refused", self.refused
            import pickle

            return "done", getattr(self.held, method)(*pickle.loads(content))

    # An actor waits most of the time, so it takes no processor of its own.
    settings = {"max_restarts": restarts, "max_task_retries": restarts, "num_cpus": 0}
    remote: Any = ray.remote
    return remote(**settings, scheduling_strategy="SPREAD")(Holder)


def _code() -> Callable[[dict[str, str]], tuple[str, dict[str, str]]]:
    """Return the function that names a worker's machine, and its versions of what is expected."""

    def found_by_worker(expected: dict[str, str]) -> tuple[str, dict[str, str]]:
        import platform
        from importlib.metadata import PackageNotFoundError, version

        found = {"Python": ".".join(platform.python_version_tuple()[:2])}
        try:
            from otherhalf.system.version import VERSION

            found["otherhalf"] = VERSION
        except ImportError:
            pass
        for name in expected.keys() - found.keys():
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = ""
        return platform.node(), found

    return found_by_worker
