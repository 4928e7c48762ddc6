"""Loops over the rows of a sparse matrix, compiled by numba and divided among threads."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
import torch

Int32s = npt.NDArray[np.int32]
Kernel = Callable[..., None]
"""A compiled function. Its last two arguments are the first row to compute and the end (exclusive)."""

Compiled = TypeVar("Compiled", bound=Callable[..., Any])

CACHE_ERRORS = (OSError, RuntimeError, EOFError, UnpicklingError)
"""The cache cannot be written or is damaged: every process then compiles again."""

HEADS = 8
"""Heads of GAT's attention: eight numbers in single precision fill one vector register."""

NEGATIVE_SLOPE = 0.2
"""Slope of the LeakyReLU of GAT's attention for negative scores."""

WORTH_A_THREAD = 1 << 20
"""Number of multiplications from which another thread saves time."""


def compiled(signature: str) -> Callable[[Compiled], Compiled]:
    """Compile a function for these types now, or read it from numba's cache.

    The cache is valid while the file of the function stays the same: after a change of the options here,
    change that file or delete ``__pycache__/*.nb?``. A cache that others could have written is not read.
    """

    def compile_now(function: Compiled) -> Compiled:
        options: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}
        with _straight_code_in_vectors():
            try:
                kernel: Any = numba.njit(cache=True, **options)(
                    function
                )  # without types, nothing is read yet
                check_private(Path(kernel.stats.cache_path), Path(function.__code__.co_filename).parent)
                kernel.compile(signature)
                kernel.disable_compile()
            except CACHE_ERRORS:
                kernel = numba.njit(signature, **options)(function)
        done: Compiled = kernel
        return done

    return compile_now


def check_private(cache: Path, source: Path) -> None:
    """Raise OSError if other users could have written to the folder of a cache, which holds code to run.

    Beside the source, the folder may be open to those who can write the source itself. Elsewhere it is made
    private to this user; one that was open to others and holds files is not.

    Args:
        cache: Folder of the cache.
        source: Folder of the compiled function's file.
    """
    if os.name != "posix":
        return
    status, beside = cache.stat(), source.stat()
    open_to_others = status.st_mode & 0o022
    if cache.parent == source:
        private = not open_to_others & ~beside.st_mode and status.st_uid in (0, os.geteuid(), beside.st_uid)
    else:
        private = status.st_uid == os.geteuid() and not (open_to_others and any(cache.iterdir()))
        if private:
            cache.chmod(0o700)
    if not private:
        raise OSError(f"{cache} is open to other users")


@contextmanager
def _straight_code_in_vectors() -> Iterator[None]:
    """Let the compiler also put equal operations in sequence into one vector, not only loops."""
    config: Any = numba.config
    before = config.SLP_VECTORIZE
    config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before


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
