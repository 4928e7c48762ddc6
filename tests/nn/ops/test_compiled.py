"""Compiled loops find their threads again after a fork, and do without a place to be kept in."""

import os
import subprocess
import sys

import numba
import pytest

from otherhalf.nn.ops import kernels  # noqa: F401 (compiled when it is imported)


def test_the_compiler_is_left_as_it_was():
    assert not numba.config.SLP_VECTORIZE


FORKED = """
import os, sys, numpy as np, scipy.sparse as sp, torch
from otherhalf.nn.ops import compiled
from otherhalf.nn.ops import products
compiled.WORTH_A_THREAD = 1
torch.set_num_threads(2)
matrix, dense = products.to_torch(sp.identity(50, dtype=np.float32, format="csr")), torch.ones(50, 64)
products.product(matrix, dense)
assert compiled._pool.cache_info().currsize == 1
child = os.fork()
if child == 0:
    os._exit(0 if products.product(matrix, dense).sum() == 3200 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_threads_are_found_again_after_a_fork():
    assert subprocess.run([sys.executable, "-c", FORKED], timeout=60, check=False).returncode == 0


UNKEPT = """
from otherhalf.nn.ops.kernels import add_rows
assert add_rows.stats.cache_path is None
import numpy as np
one, out = np.ones((1, 1), np.float32), np.empty((1, 1), np.float32)
add_rows(np.array([0, 1], np.int32), np.array([0], np.int32), one[0], one, out, True, 0, 1)
assert out == 1
"""


def test_where_nothing_can_be_kept_it_is_compiled_each_time(tmp_path):
    nowhere = tmp_path / "a file"
    nowhere.touch()
    only = {
        "NUMBA_CACHE_DIR": str(nowhere / "below"),
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator",
    }
    run = subprocess.run(
        [sys.executable, "-c", UNKEPT],
        env={**os.environ, **only},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
