"""Functions compiled by numba, kept on disk where nobody else could have written them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Literal, TypeVar

import numba
import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]

Compiled = TypeVar("Compiled", bound=Callable[..., Any])

CACHE_ERRORS = (OSError, RuntimeError, EOFError, UnpicklingError)
"""The cache cannot be written or is damaged: every process then compiles again."""


def compiled(signature: Any, *, reorder: bool = False, fused: bool = True) -> Callable[[Compiled], Compiled]:
    """Compile a function for these types now, or read it from numba's cache.

    The types are a text, or a signature of numba's with :func:`read_only` arrays. With ``reorder`` the terms
    of a sum may be added in another order, so that they fill vectors; the order is the same in every call.
    Without ``fused`` every product is rounded before it is added, as in libraries for any processor.

    The cache is valid while the file of the function stays the same: after a change of the options here,
    change that file or delete ``__pycache__/*.nb?``. A cache that others could have written is not read.
    """

    def compile_now(function: Compiled) -> Compiled:
        fastmath = {name for name, wanted in (("contract", fused), ("reassoc", reorder)) if wanted}
        options: dict[str, Any] = {"nogil": True, "fastmath": fastmath, "error_model": "numpy"}
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


def read_only(dtype: Any, dimensions: int = 1, layout: Literal["C", "A"] = "C") -> Any:
    """Return the type of an array that is only read: those of a graph cannot be written."""
    return numba.types.Array(dtype, dimensions, layout, readonly=True)


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
