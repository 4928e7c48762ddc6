"""Compiled loops find their threads again after a fork."""

import os
import subprocess
import sys

import pytest

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
