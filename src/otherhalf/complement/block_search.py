"""Exact top-K of inner products, block by block: on one thread, on several, or on several machines.

The pairs of queries and candidates are a grid. :func:`grid` cuts it into blocks; :func:`block_top_k` finds
the K best within one of them; :func:`merge_top_k` joins what blocks found, in any order; :func:`unpacked`
makes indices and similarities of it. :func:`inner_top_k` is the whole search on this machine. On others:

1. Cut the rows of the embedding at the edges of :func:`grid`.
2. Within :func:`one_thread`, call :func:`block_top_k` for each block with the rows that it names.
3. Merge what it found once into the lists of these rows (:func:`empty_lists` to begin with).

The result is the same to the bit wherever and in whatever order that is done, ties included, because

- products are computed in tiles whose edges are multiples of :data:`TILE` from the first row of the matrix,
  by one thread, from copies: neither their shape nor their place in memory depends on the block;
- a list holds keys (:mod:`otherhalf.complement.block_kernels`), no two of which are equal: the K largest of
  them do not depend on the order.

Where queries and candidates are the same nodes, the matrix is symmetric: the blocks below its diagonal are
left out, and a block serves its rows and its columns.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from types import ModuleType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

TILE = 512
"""Rows and columns of a tile. Its scores (1 MB) stay in the cache between the product and the lists."""

EDGE = 64 * TILE
"""Most rows and columns of a block: the fewer the blocks, the less there is to merge."""

STRIPES = 4
"""Blocks side by side for each thread, if there are several, so that none waits long for the last one."""

Floats = npt.NDArray[np.float32]
Keys = npt.NDArray[np.int64]
"""``[rows, K]``: the list of every row, its worst key first."""


class Block(NamedTuple):
    """A part of the grid: rows ``first_row`` … ``last_row`` − 1, and columns likewise.

    The first ones are multiples of :data:`TILE`; so are the last ones, but for the end of the matrix.
    """

    first_row: int
    last_row: int
    first_column: int
    last_column: int

    @property
    def pairs(self) -> int:
        """Number of pairs of a row and a column."""
        return (self.last_row - self.first_row) * (self.last_column - self.first_column)


class Found(NamedTuple):
    """What a block found: the lists of its rows and, where it serves them too, those of its columns."""

    rows: Keys
    columns: Keys | None


class Limits(NamedTuple):
    """What scores must be above to be looked for, for every row and column of a block (:func:`limits_of`)."""

    rows: Floats
    columns: Floats


def grid(rows: int, columns: int | None = None, *, edge: int = EDGE) -> Iterator[Block]:
    """Yield the blocks of a matrix; with ``rows`` alone, those of a symmetric one on or above its diagonal.

    Args:
        rows: Number of queries.
        columns: Number of candidates; None if they are the queries.
        edge: Rows and columns of a block, a multiple of :data:`TILE`.
    """
    if edge % TILE:
        raise ValueError(f"the edge of a block is {edge}, which is not a multiple of {TILE}")
    wide = rows if columns is None else columns
    for column in range(0, wide, edge):
        for row in range(0, column + 1 if columns is None else rows, edge):
            yield Block(row, min(row + edge, rows), column, min(column + edge, wide))


def block_top_k(
    rows: Tensor,
    columns: Tensor,
    block: Block,
    k: int,
    *,
    largest: bool,
    own: Tensor | None = None,
    limits: Limits | None = None,
) -> Found:
    """Return the K best within a block.

    Args:
        rows: ``[last_row − first_row, d]`` embeddings of the queries.
        columns: ``[last_column − first_column, d]`` embeddings of the candidates.
        block: Where these rows and columns are.
        k: Length of the lists.
        largest: Whether the best are the most similar candidates, or the least similar ones.
        own: The candidate that each query leaves out, itself, or −1. None: queries and candidates are the
            same nodes in the same order, each leaves itself out, and the block serves both.
        limits: What is known to be too bad for the result can be left out. That saves time; what the lists
            are after they are merged stays the same.
    """
    kernels = _kernels()
    symmetric, diagonal = own is None, block.first_row == block.first_column
    without = np.arange(block.first_row, block.last_row) if own is None else own.numpy()
    of_rows = of_columns = empty_lists(len(rows), k)
    above_rows = above_columns = limits.rows.copy() if limits else limits_of(of_rows)
    if symmetric and not diagonal:
        of_columns = empty_lists(len(columns), k)
        above_columns = limits.columns.copy() if limits else limits_of(of_columns)
    left, right = torch.empty(TILE, rows.shape[1]), torch.empty(TILE, rows.shape[1])
    scores = torch.empty(TILE * TILE)
    for column in range(0, len(columns), TILE):
        candidates = _copied(columns[column : column + TILE], right)
        for row in range(0, column + 1 if symmetric and diagonal else len(rows), TILE):
            queries = _copied(rows[row : row + TILE], left)
            tile = scores[: len(queries) * len(candidates)].view(len(queries), len(candidates))
            torch.mm(queries if largest else queries.neg_(), candidates.t(), out=tile)
            # Every list is offered its scores by rising index, so of equal ones the first stay.
            at_row, at_column = block.first_row + row, block.first_column + column
            if symmetric and at_row < at_column:
                kernels.offer_to_columns(tile.numpy(), column, at_row, of_columns, above_columns)
            kernels.offer_to_rows(tile.numpy(), row, at_column, without, of_rows, above_rows)
    return Found(of_rows, of_columns if symmetric and not diagonal else None)


def empty_lists(rows: int, k: int) -> Keys:
    """Return lists that hold nothing."""
    return np.full((rows, k), _kernels().EMPTY)


def merge_top_k(lists: Keys, others: Keys) -> None:
    """Keep in each of ``lists`` the K best of itself and of its row in ``others``, of other candidates."""
    _kernels().merge(lists, others)


def limits_of(lists: Keys) -> Floats:
    """Return the number just below the worst score of every list: a lower index may enter by an equal one."""
    limits: Floats = np.nextafter(_scores(lists[:, 0]), np.float32(-np.inf))
    return limits


def unpacked(lists: Keys, *, largest: bool) -> tuple[Tensor, Tensor]:
    """Return the indices and similarities of lists, best first; −1 and NaN where a place is empty.

    The indices take the memory of the lists.
    """
    kernels = _kernels()
    values = np.empty(lists.shape, dtype=np.float32)
    for start in range(0, len(lists), TILE):
        keys = lists[start : start + TILE, ::-1].copy()
        empty, scores = keys == kernels.EMPTY, _scores(keys)
        values[start : start + TILE] = np.where(empty, np.nan, scores if largest else -scores)
        lists[start : start + TILE] = np.where(empty, -1, kernels.LAST - (keys & kernels.LAST))
    return torch.from_numpy(lists), torch.from_numpy(values)


def inner_top_k(
    queries: Tensor,
    candidates: Tensor | None,
    k: int,
    *,
    largest: bool,
    own: Tensor | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the K candidates of every query with the largest or smallest inner products, best first.

    For finite products the result is that of :func:`otherhalf.complement.search.top_k`. It takes 12 bytes for
    each of its places; the search takes :func:`flight_bytes` more.

    Args:
        queries: ``[Q, d]`` embeddings.
        candidates: ``[C, d]`` embeddings; None: the queries, each of which leaves itself out.
        k: Number of candidates per query, at most C.
        largest: Whether to return the most similar candidates, or the least similar ones.
        own: The position of every query among ``candidates``, which it leaves out, or −1 (the default).
        on_step: Progress callback (pairs done, all pairs), called in the calling thread.
    """
    columns = queries if candidates is None else candidates
    if candidates is not None and own is None:
        own = torch.full((len(queries),), -1)
    threads = torch.get_num_threads()
    edge = _edge(len(columns), threads)
    waiting = list(grid(len(queries), None if candidates is None else len(columns), edge=edge))[::-1]
    total = sum(block.pairs for block in waiting)
    lists, lock, done = empty_lists(len(queries), k), Lock(), 0

    def work(report: Callable[[int, int], None] | None = None) -> None:
        nonlocal done
        while True:
            with lock:
                if not waiting:
                    return
                block = waiting.pop()
                at_rows = slice(block.first_row, block.last_row)
                at_columns = slice(block.first_column, block.last_column) if own is None else slice(0)
                limits = Limits(limits_of(lists[at_rows]), limits_of(lists[at_columns]))
            found = block_top_k(
                queries[at_rows],
                columns[block.first_column : block.last_column],
                block,
                k,
                largest=largest,
                own=None if own is None else own[at_rows],
                limits=limits,
            )
            with lock:
                merge_top_k(lists[at_rows], found.rows)
                if found.columns is not None:
                    merge_top_k(lists[at_columns], found.columns)
                done += block.pairs
            del found, limits  # the next block takes their memory
            if report is not None:
                report(done, total)

    with one_thread(), ThreadPoolExecutor(max(1, threads - 1)) as pool:
        helpers = [pool.submit(work) for _ in range(min(threads, len(waiting)) - 1)]
        try:
            work(on_step)
            for helper in helpers:
                helper.result()
        finally:
            with lock:
                waiting.clear()  # after an error here, the helpers end with the blocks that they have
    if on_step is not None:
        on_step(total, total)
    return unpacked(lists, largest=largest)


def flight_bytes(k: int, width: int, candidates: int) -> int:
    """Return the bytes of the blocks of all threads while they are searched.

    For each row and column they have a list, two limits and a position; there are a tile and its rows.
    """
    threads = torch.get_num_threads()
    lines = 2 * min(candidates, _edge(candidates, threads))
    return threads * (lines * (8 * k + 16) + 4 * TILE * (TILE + 2 * width))


def _edge(candidates: int, threads: int) -> int:
    if threads == 1:
        return EDGE
    return min(EDGE, TILE * (1 + candidates // (STRIPES * threads * TILE)))


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread inside, and as many as before afterwards."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _copied(rows: Tensor, place: Tensor) -> Tensor:
    return place[: len(rows)].copy_(rows)


def _scores(keys: Keys) -> Floats:
    monotone = (keys >> 32).astype(np.int32)
    return (monotone ^ ((monotone >> 31) & 0x7FFFFFFF)).view(np.float32)


def _kernels() -> ModuleType:
    """Return the kernels, compiled when they are first needed: small graphs do without."""
    from otherhalf.complement import block_kernels

    return block_kernels
