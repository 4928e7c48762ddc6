"""The memory of this process: what the C library does with freed memory, and the peak."""

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # malloc.h: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD

LARGEST_KEPT = 1 << 27
"""Bytes from which on a matrix that is freed goes back to the system. glibc finds no place for an aligned
matrix where another of the same size was: with larger ones kept, a regression of 9,000 training nodes, whose
kernel has 324 MB, took 7.1 times the size of its kernel, and without 4.0 times."""

USUAL_MMAP, USUAL_TRIM = 1 << 25, 1 << 26
"""What glibc's own thresholds grow to as a process frees larger and larger matrices."""

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


class _Keeping:
    """Whether this process keeps freed memory for good, and how many fits want it at the moment."""

    for_good = False
    fits = 0
    lock = threading.Lock()


def keep_freed_memory() -> None:
    """Let this process keep the memory that it frees for its next use, where the C library is glibc.

    Training frees and requests matrices of the same sizes in every epoch. By default the large ones go back
    to the system each time and return as empty pages, with one page fault for each: on Amazon Computers an
    epoch of a GCN takes a sixth less time without that. The setting affects the entire process, so only the
    command line and the runs of an experiment make it for good; the library, for the time of a fit
    (:func:`freed_memory_kept`). Matrices above :data:`LARGEST_KEPT` are given back.
    """
    with _Keeping.lock:
        _Keeping.for_good = True
        _set_thresholds(LARGEST_KEPT, (1 << 31) - 1)


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep freed memory inside, as :func:`keep_freed_memory` does, and give it back in the end.

    The thresholds are then those that glibc itself has at most: it has no call that tells the former ones.
    """
    with _Keeping.lock:
        _Keeping.fits += 1
        if not _Keeping.for_good and _Keeping.fits == 1:
            _set_thresholds(LARGEST_KEPT, (1 << 31) - 1)
    try:
        yield
    finally:
        with _Keeping.lock:
            _Keeping.fits -= 1
            if not _Keeping.for_good and _Keeping.fits == 0:
                _set_thresholds(USUAL_MMAP, USUAL_TRIM)
                give_back_freed_memory()


def _set_thresholds(largest_kept: int, trim: int) -> None:
    """Set from which size on freed memory goes back at once, and from how much on it goes back at all."""
    with suppress(AttributeError, OSError, TypeError):  # another C library, or another system
        mallopt = ctypes.CDLL(None).mallopt
        if not mallopt(MMAP_THRESHOLD, largest_kept):
            mallopt(MMAP_THRESHOLD, 1 << 25)  # older versions allow no more
        mallopt(TRIM_THRESHOLD, trim)


def peak_memory_mb() -> float:
    """Return the largest resident size of this process so far, in units of 2²⁰ bytes.

    On Linux the peak counts from the last :func:`reset_peak_memory`. ``ru_maxrss``, which other systems have,
    cannot be reset, and a new process starts with that of its parent.
    """
    with suppress(OSError):
        for line in STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    if sys.platform == "win32":
        import psutil

        return float(psutil.Process().memory_info().peak_wset) / (1 << 20)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024


def give_back_freed_memory() -> None:
    """Give memory that this process has freed back to the system, where the C library is glibc."""
    with suppress(AttributeError, OSError, TypeError):  # another C library, or another system
        ctypes.CDLL(None).malloc_trim(0)


def reset_peak_memory() -> None:
    """Give freed memory back, and set the peak of :func:`peak_memory_mb` to the present size, if possible."""
    give_back_freed_memory()
    # "r+" does not create the file where there is none.
    with suppress(OSError), CLEAR_REFS.open("r+", encoding="ascii") as file:
        file.write("5")
