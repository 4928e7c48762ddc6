"""Loops over the rows of a sparse matrix, compiled by numba and divided among threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from otherhalf.system.compiled import Int32s as Int32s
from otherhalf.system.compiled import compiled as compiled

Kernel = Callable[..., None]
"""A compiled function. Its last two arguments are the first row to compute and the end (exclusive)."""

HEADS = 8
"""Heads of GAT's attention: eight numbers in single precision fill one vector register."""

NEGATIVE_SLOPE = 0.2
"""Slope of the LeakyReLU of GAT's attention for negative scores."""

WORTH_A_THREAD = 1 << 20
"""Number of multiplications from which another thread saves time."""


def over_rows(kernel: Kernel, crow: Int32s, width: int, *arguments: Any) -> None:
    """Call ``kernel(crow, *arguments, first, last)`` for all rows, with torch's number of threads.

    Args:
        kernel: Computes the rows of one thread; a row must not depend on the division.
        crow: Start of the entries of each row, and the end of the last.
        width: Multiplications per entry.
        arguments: The other arguments of the kernel.
    """
    rows, entries = len(crow) - 1, int(crow[-1])
    threads = min(torch.get_num_threads(), 1 + entries * width // WORTH_A_THREAD)
    if threads == 1:
        kernel(crow, *arguments, 0, rows)
        return
    # Equal numbers of entries, not of rows: a few rows may have most entries.
    bounds = [0, *np.searchsorted(crow, entries * np.arange(1, threads) / threads), rows]
    pool = _pool(torch.get_num_threads(), os.getpid())
    for done in [pool.submit(kernel, crow, *arguments, *part) for part in pairwise(bounds)]:
        done.result()


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    # One pool per process: a forked process does not have the threads of its parent.
    return ThreadPoolExecutor(threads, thread_name_prefix="otherhalf")
