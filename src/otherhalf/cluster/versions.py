"""The versions that a worker of a cluster must have in common with the process that gives it work."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version

from otherhalf.errors import InputError
from otherhalf.system.version import VERSION

LIBRARIES = ("torch", "numpy")
"""Libraries whose versions decide results; their versions are read without importing them."""


def own_versions() -> dict[str, str]:
    """Return the versions of this process."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"otherhalf": VERSION, "Python": python, **{name: version(name) for name in LIBRARIES}}


def refusal(worker: str, found: Mapping[str, str], own: Mapping[str, str]) -> InputError:
    """Return the sentence for a worker with other versions than this process.

    Args:
        worker: Name of its machine.
        found: Its versions.
        own: The versions of this process.
    """
    other = [name for name in own if found.get(name) != own[name]]
    theirs = ", ".join(f"{name} {found.get(name) or 'not at all'}" for name in other)
    ours = ", ".join(f"{name} {own[name]}" for name in other)
    return InputError(
        f"the worker on {worker} has {theirs}, and this process has {ours}: install the same versions on all "
        "machines of the cluster, and start their Ray again"
    )
