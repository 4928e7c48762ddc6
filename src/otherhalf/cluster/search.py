"""Exact top-K of inner products on a cluster: the grid of blocks, each a task, merged by row."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from secrets import token_hex
from typing import Any

import numpy as np
import torch
from torch import Tensor

from otherhalf.cluster.propagation import rows_of
from otherhalf.cluster.tasks import Tasks
from otherhalf.complement.block_search import (
    EDGE,
    Block,
    Found,
    Limits,
    block_top_k,
    empty_lists,
    grid,
    limits_of,
    merge_top_k,
    one_thread,
    unpacked,
)
from otherhalf.nn.propagation import Source
from otherhalf.system.arrays import FloatArray


def grid_top_k(
    tasks: Tasks,
    z: Source,
    k: int,
    *,
    largest: bool,
    edge: int = EDGE,
    on_step: Callable[[int, int], None] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the K other rows with the largest or smallest inner products, best first.

    The result is that of :func:`otherhalf.complement.block_search.inner_top_k` to the bit. This process holds
    the lists, 8 · K bytes for each row, and a stripe of ``edge`` rows; a worker holds two stripes and their
    lists.

    Args:
        tasks: The cluster.
        z: ``[N, d]`` embeddings, in memory or in row blocks.
        k: Number of other rows for each.
        largest: Whether to return the most similar ones, or the least similar ones.
        edge: Rows and columns of a block, a multiple of the tile.
        on_step: Progress callback (pairs done, all pairs).
    """
    rows = z.shape[0]
    blocks = list(grid(rows, edge=edge))
    total, done, name = sum(block.pairs for block in blocks), 0, token_hex(8)
    lists = empty_lists(rows, min(k, rows))

    def stripe(start: int, stop: int) -> Any:
        return tasks.share((name, start), lambda: rows_of(z, start, stop))

    def arguments(block: Block) -> tuple[Any, ...]:
        limits = Limits(
            limits_of(lists[block.first_row : block.last_row]),
            limits_of(lists[block.first_column : block.last_column]),
        )
        return (
            stripe(block.first_row, block.last_row),
            stripe(block.first_column, block.last_column),
            block,
            lists.shape[1],
            largest,
            limits,
        )

    try:
        for block, found in tasks.map(search_block, blocks, arguments):
            # What comes from the store is read-only, which the compiled merge does not take.
            merge_top_k(lists[block.first_row : block.last_row], np.array(found.rows))
            if found.columns is not None:
                merge_top_k(lists[block.first_column : block.last_column], np.array(found.columns))
            done += block.pairs
            if on_step is not None:
                on_step(done, total)
    finally:
        tasks.forget(lambda key: isinstance(key, tuple) and key[0] == name)
    return unpacked(lists, largest=largest)


def search_block(
    rows: FloatArray, columns: FloatArray, block: Block, k: int, largest: bool, limits: Limits
) -> Found:
    """Return what a block finds; its rows are memory of the store, which is only read."""
    with one_thread(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        left, right = torch.from_numpy(rows), torch.from_numpy(columns)
        return block_top_k(left, right, block, k, largest=largest, limits=limits)
