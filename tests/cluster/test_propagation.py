import numpy as np
import pytest
import scipy.sparse as sp
from tests.ray_nodes import RAY

from otherhalf.cluster.propagation import propagate_on, propagate_partition, rows_of
from otherhalf.nn.propagation import propagate, propagate_rows
from otherhalf.system.row_blocks import RowBlocks

pytestmark = RAY
ROWS, WIDTH = 700, 70


@pytest.fixture(scope="module")
def matrix():
    """A matrix with empty rows, and a partition without any entry."""
    found = sp.random(ROWS, ROWS, density=0.02, random_state=0, dtype=np.float32, format="lil")
    found[100:250] = 0
    return sp.csr_matrix(found)


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(1).normal(size=(ROWS, WIDTH)).astype(np.float32)


def same(blocks, others):
    return np.array_equal(blocks.rows(0, ROWS).view(np.int32), others.rows(0, ROWS).view(np.int32))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_partitions_on_a_cluster_have_the_bits_of_one_machine(tasks, matrix, x, tmp_path, dtype):
    here = propagate(matrix, x, RowBlocks(ROWS, WIDTH, dtype=dtype, block_rows=64))
    given = RowBlocks(ROWS, WIDTH, tmp_path / "x", block_rows=96).write_all(x)
    there = RowBlocks(ROWS, WIDTH, tmp_path / "mx", dtype=dtype, block_rows=64)
    assert propagate_on(tasks, matrix, given, there) is there
    assert same(there, here)
    assert tasks._shared == {}


def test_two_hops_and_a_node_that_is_killed_between_them(nodes, tasks, matrix, x):
    one = RowBlocks(ROWS, WIDTH, block_rows=128)
    first = propagate_on(tasks, matrix, x, one)
    nodes.kill_one()
    second = propagate_on(tasks, matrix, first, RowBlocks(ROWS, WIDTH, block_rows=64))
    expected = propagate_rows(matrix, propagate_rows(matrix, x))
    assert np.array_equal(second.rows(0, ROWS), expected)


def test_a_partition_reads_the_rows_that_it_needs(matrix, x):
    local, columns = matrix[:1].copy(), np.unique(matrix[:1].indices)
    local = sp.csr_matrix(
        (local.data, np.searchsorted(columns, local.indices), local.indptr), (1, len(columns))
    )
    blocks = iter([x[:300], x[300:]])
    assert np.array_equal(
        propagate_partition(local, columns, [0, 300], WIDTH, blocks), propagate_rows(matrix[:1], x)
    )


def test_rows_of_an_array_and_of_blocks(x):
    blocks = RowBlocks(*x.shape, block_rows=100).write_all(x)
    assert np.array_equal(rows_of(x, 90, 310), rows_of(blocks, 90, 310))
