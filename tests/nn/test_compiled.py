"""Compiled loops find their threads again after a fork, and do without a place to be kept in."""

import os
import subprocess
import sys

import numba
import pytest

from otherhalf.nn import kernels  # noqa: F401 (compiled when it is imported)


def test_the_compiler_is_left_as_it_was():
    assert not numba.config.SLP_VECTORIZE


FORKED = """
import os, sys, numpy as np, scipy.sparse as sp, torch
from otherhalf.nn import compiled, products
products.WORTH_A_THREAD = 1
torch.set_num_threads(2)
matrix, dense = products.to_torch(sp.identity(50, dtype=np.float32, format="csr")), torch.ones(50, 64)
products.product(matrix, dense)
child = os.fork()
if child == 0:
    os._exit(0 if products.product(matrix, dense).sum() == 3200 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_threads_are_found_again_after_a_fork():
    assert subprocess.run([sys.executable, "-c", FORKED], timeout=60, check=False).returncode == 0


def test_where_nothing_can_be_kept_it_is_compiled_each_time(tmp_path):
    nowhere = tmp_path / "a file"
    nowhere.touch()
    command = "import otherhalf.nn.kernels"
    run = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "NUMBA_CACHE_DIR": str(nowhere / "below")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
