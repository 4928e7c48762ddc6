import threading

import numpy as np
import pytest
import torch
from tests.ray_nodes import RAY

from otherhalf.cluster.search import grid_top_k, search_block
from otherhalf.complement.block_search import (
    TILE,
    Block,
    Limits,
    block_top_k,
    empty_lists,
    inner_top_k,
    limits_of,
)
from otherhalf.system.row_blocks import RowBlocks

pytestmark = RAY
ROWS, K = 5 * TILE + 37, 7


@pytest.fixture(scope="module")
def z():
    """Rows with many ties: few different values, and every third row a copy."""
    values = np.random.default_rng(0).integers(-2, 3, (ROWS, 6)).astype(np.float32)
    values[::3] = values[0]
    return values


@pytest.mark.parametrize("largest", [True, False])
def test_the_grid_finds_what_one_machine_finds(tasks, z, largest, tmp_path):
    indices, values = inner_top_k(torch.from_numpy(z), None, K, largest=largest)
    blocks = RowBlocks(*z.shape, tmp_path, block_rows=700).write_all(z)
    steps = []
    found = grid_top_k(
        tasks, blocks, K, largest=largest, edge=2 * TILE, on_step=lambda *step: steps.append(step)
    )
    assert torch.equal(found[0], indices)
    assert torch.equal(found[1], values)
    assert len(steps) == 6
    assert steps[-1][0] == steps[-1][1]
    assert tasks._shared == {}


def test_fewer_rows_than_k(tasks, z):
    few = torch.from_numpy(z[:4])
    for found, expected in zip(
        grid_top_k(tasks, z[:4], K, largest=True), inner_top_k(few, None, 4, largest=True), strict=True
    ):
        assert torch.equal(found, expected) or bool(torch.isnan(found).any())
        assert torch.equal(torch.nan_to_num(found.float()), torch.nan_to_num(expected.float()))


def test_a_node_that_is_killed_in_a_top_k_changes_nothing(nodes, tasks, z):
    expected = inner_top_k(torch.from_numpy(z), None, K, largest=True)
    killed = []

    def kill_once(done, total):
        if not killed:
            killed.append(done / total)
            nodes.kill_one()

    found = grid_top_k(tasks, z, K, largest=True, edge=TILE, on_step=kill_once)
    assert 0 < killed[0] < 0.5
    assert torch.equal(found[0], expected[0])
    assert torch.equal(found[1], expected[1])


def test_a_block_reads_memory_that_it_must_not_write(z):
    rows, columns = z[:TILE].copy(), z[TILE : 2 * TILE].copy()
    rows.flags.writeable = columns.flags.writeable = False
    block = Block(0, TILE, TILE, 2 * TILE)
    limits = Limits(limits_of(empty_lists(TILE, K)), limits_of(empty_lists(TILE, K)))
    before = threading.active_count(), torch.get_num_threads()
    found = search_block(rows, columns, block, K, True, limits)
    expected = block_top_k(torch.tensor(rows), torch.tensor(columns), block, K, largest=True)
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.columns, expected.columns)
    assert (threading.active_count(), torch.get_num_threads()) == before
