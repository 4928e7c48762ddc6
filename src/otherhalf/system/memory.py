"""How much memory this process may still use, and which limit says so."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from otherhalf.errors import NotEnoughMemory

CGROUP_MOUNT = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")

# The files of a control group in version 2 and in version 1: limit, use, and the line of memory.stat with the
# file cache that the system drops when memory is short.
_V2 = ("memory.max", "memory.current", "inactive_file")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


class ResourceLimit(NamedTuple):
    """A limit of a process.

    Attributes:
        counted: What of psutil's memory counts against it.
        title: Its name for users.
        libraries: Bytes of it that torch, scikit-learn, numba and pyarrow take, rounded up (1.28 and 0.44 GB
            on x86-64).
    """

    counted: str
    title: str
    libraries: int


RESOURCE_LIMITS = {
    "RLIMIT_AS": ResourceLimit("vms", "the limit of this process (ulimit -v)", 1_500_000_000),
    "RLIMIT_DATA": ResourceLimit("data", "the limit of this process (ulimit -d)", 500_000_000),
}

TORCH_SAYS = ("allocate memory", "not enough memory", "out of memory", "bad_alloc")
"""What torch's errors say where memory is used up: they are RuntimeErrors."""


class Room(NamedTuple):
    """How many bytes one of the limits still leaves to this process, and the name of the limit."""

    free: int
    limit: str


def available_bytes() -> int:
    """Return how many bytes this process can still allocate without swapping: :func:`room`."""
    return room().free


def room() -> Room:
    """Return what the tightest limit leaves to this process.

    The limits are what the machine has free, what the control groups of the process allow, such as those of a
    container or a batch job, and those of the process itself (``ulimit``). A file cache that the system can
    drop counts as free in the first two.
    """
    machine = Room(int(psutil.virtual_memory().available), "the machine")
    groups = (Room(free, "the limit of the container or job (cgroup)") for free in _cgroup_allowances())
    own = (allowance for allowance, _ in _process_allowances())
    free, limit = min([machine, *groups, *own], key=lambda each: each.free)
    return Room(max(0, free), limit)


def check_room_for_libraries() -> None:
    """Raise NotEnoughMemory if a limit of this process is too small for the compiled libraries.

    Call it before they are imported: they end the process, or wait for ever, where they get no memory. Where
    the largest of them is loaded, there is nothing to check.
    """
    if "torch" in sys.modules:
        return
    for allowance, limit in _process_allowances():
        if allowance.free < limit.libraries:
            raise NotEnoughMemory(
                f"the libraries of otherhalf alone take about {in_bytes(limit.libraries)} and "
                f"{in_bytes(max(0, allowance.free))} are free, by {limit.title}: raise that limit"
            )


def in_bytes(size: float) -> str:
    """Return a number of bytes in words: "1.2 GB"."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def memory_sentence(error: BaseException) -> str:
    """Return an error of :func:`out_of_memory` as one sentence for the user."""
    first = str(error).strip().partition("\n")[0].rpartition("DefaultCPUAllocator: ")[2]
    said, (free, limit) = first.rstrip(".") or type(error).__name__, room()
    return (
        f"there was not enough memory ({said}), and {in_bytes(free)} are free now, by {limit}: end other "
        "programs, raise the limit, or take fewer nodes, edges or columns"
    )


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory could not be had; numpy's and pyarrow's are MemoryErrors.

    A compiled library that cannot be loaded is one too, if the process has a limit: the loader does not say
    why.
    """
    if isinstance(error, ImportError | OSError) and "shared object" in str(error):
        return any(True for _ in _process_allowances())
    if isinstance(error, RuntimeError):
        return any(words in str(error) for words in TORCH_SAYS)
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def _process_allowances() -> Iterator[tuple[Room, ResourceLimit]]:
    """Yield what each limit of this process leaves, and the limit."""
    try:
        import resource
    except ImportError:  # Windows
        return
    used = psutil.Process().memory_info()
    for name, limit in RESOURCE_LIMITS.items():
        most = resource.getrlimit(getattr(resource, name))[0]
        if most != resource.RLIM_INFINITY and hasattr(used, limit.counted):
            yield Room(most - int(getattr(used, limit.counted)), limit.title), limit


def _cgroup_allowances() -> Iterator[int]:
    """Yield what each control group that limits this process still allows."""
    for line in _read(OWN_CGROUPS).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            mount, names = CGROUP_MOUNT, _V2
        elif "memory" in controllers.split(","):
            mount, names = CGROUP_MOUNT / "memory", _V1
        else:
            continue
        # The limits of all parents hold too. In a container the path may be that of the host, which is not
        # visible; the mount itself then has the limit of the container.
        group = mount / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(mount):
                yield from _allowance(folder, *names)


def _allowance(folder: Path, limit: str, use: str, cache: str) -> Iterator[int]:
    limit_text, use_text = _read(folder / limit).strip(), _read(folder / use).strip()
    if limit_text.isdigit() and use_text.isdigit():  # not "max", and not a missing file
        stat = dict(line.split(maxsplit=1) for line in _read(folder / "memory.stat").splitlines())
        yield int(limit_text) - int(use_text) + int(stat.get(cache, 0))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:  # another system, or a file that is not there
        return ""
