"""What the C library does with freed memory."""

from __future__ import annotations

import ctypes
from contextlib import suppress

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # malloc.h: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD


def keep_freed_memory() -> None:
    """Let this process keep what it frees for its next use, where the C library is glibc.

    Training frees and asks for matrices of the same sizes in every epoch. By default the large ones go back
    to the system each time and come back as empty pages, one fault for each: on Amazon Computers an epoch of
    a GCN takes a sixth less time without that. It is for whole programs to decide, so the library itself
    never calls this; the command line and the runs of an experiment do.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library, or another system
        mallopt = ctypes.CDLL(None).mallopt
        if not mallopt(MMAP_THRESHOLD, 1 << 30):
            mallopt(MMAP_THRESHOLD, 1 << 25)  # older ones refuse more
        mallopt(TRIM_THRESHOLD, (1 << 31) - 1)
