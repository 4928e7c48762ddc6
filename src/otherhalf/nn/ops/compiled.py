"""Loops over the rows of a sparse matrix, compiled by numba and shared out to threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pickle import UnpicklingError
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import torch

Int32s = npt.NDArray[np.int32]
Kernel = Callable[..., None]
"""A compiled function whose last two arguments are the first row to compute and the one after the last."""

CANNOT_BE_KEPT = (OSError, RuntimeError, EOFError, UnpicklingError)
"""No place or space to leave what was compiled, or what was left is damaged: every process compiles anew."""

WORTH_A_THREAD = 1 << 20
"""Multiplications that pay for handing a part of the rows to another thread."""


def compiled(signature: str) -> Callable[[Kernel], Kernel]:
    """Compile a function for these types now, or take it from where an earlier process left it.

    What was left counts while the function's own file stays the same: a change of the options here needs a
    change there, or the files ``__pycache__/*.nb?`` deleted.
    """

    def compile_now(function: Kernel) -> Kernel:
        options: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}
        with _straight_code_in_vectors():
            try:
                kernel: Kernel = numba.njit(signature, cache=True, **options)(function)
            except CANNOT_BE_KEPT:
                kernel = numba.njit(signature, **options)(function)
        return kernel

    return compile_now


@contextmanager
def _straight_code_in_vectors() -> Iterator[None]:
    """Let the compiler put equal operations that stand side by side into one vector, not only loops."""
    config: Any = numba.config
    before = config.SLP_VECTORIZE
    config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before


def over_rows(kernel: Kernel, crow: Int32s, width: int, *arguments: Any) -> None:
    """Call ``kernel(crow, *arguments, first, last)`` for all rows, shared out to torch's number of threads.

    Args:
        kernel: Computes some rows, none of which depends on how they are shared out.
        crow: Where each row's entries begin, and where the last one's end.
        width: Multiplications per entry.
        arguments: The others that the kernel takes.
    """
    rows, entries = len(crow) - 1, int(crow[-1])
    threads = min(torch.get_num_threads(), 1 + entries * width // WORTH_A_THREAD)
    if threads == 1:
        kernel(crow, *arguments, 0, rows)
        return
    # As many entries for each, not as many rows: a few rows may hold most of them.
    bounds = [0, *np.searchsorted(crow, entries * np.arange(1, threads) / threads), rows]
    pool = _pool(torch.get_num_threads(), os.getpid())
    for done in [pool.submit(kernel, crow, *arguments, *part) for part in pairwise(bounds)]:
        done.result()


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    # One for each process: threads do not follow into a forked one.
    return ThreadPoolExecutor(threads, thread_name_prefix="otherhalf")
