"""How much memory this process may still use."""

from collections.abc import Iterator
from pathlib import Path

import psutil

CGROUP_MOUNT = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")

# The files of a control group in version 2 and in version 1: limit, use, and the line of memory.stat with the
# file cache that the system drops when memory is short.
_V2 = ("memory.max", "memory.current", "inactive_file")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def available_bytes() -> int:
    """Return how many bytes this process can still allocate without swapping.

    That is the smaller of what the machine has free and what the control groups of the process, such as those
    of a container or a batch job, still allow. A file cache that the system can drop counts as free in both.
    """
    return max(0, min([int(psutil.virtual_memory().available), *_cgroup_allowances()]))


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
