"""Top-K by blocks against the plain search: the same to the bit, anywhere and in any order."""

import threading
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement import block_search
from otherhalf.complement.block_search import (
    EDGE,
    TILE,
    Block,
    Limits,
    block_top_k,
    empty_lists,
    flight_bytes,
    grid,
    inner_top_k,
    limits_of,
    merge_top_k,
    one_thread,
    unpacked,
)
from otherhalf.complement.search import dot_products, top_k


def integers(rows: int, seed: int = 0, columns: int = 3) -> torch.Tensor:
    """Small integers: their products are exact, and many are equal."""
    return torch.randint(-2, 3, (rows, columns), generator=torch.Generator().manual_seed(seed)).float()


def plain(z: torch.Tensor, queries: torch.Tensor, candidates: torch.Tensor, k: int, *, largest: bool):
    similarities = dot_products(z, candidates, exclude_self=True)
    return top_k(similarities, queries, len(candidates), k, largest=largest)


def assert_same(found, expected) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.numpy(), other.numpy())


# ---------------------------------------------------------------------- the grid


def test_blocks_by_hand():
    edge = 2 * TILE
    assert list(grid(1500, edge=edge)) == [
        Block(0, 1024, 0, 1024),
        Block(0, 1024, 1024, 1500),
        Block(1024, 1500, 1024, 1500),
    ]
    assert list(grid(1500, 600, edge=edge)) == [Block(0, 1024, 0, 600), Block(1024, 1500, 0, 600)]
    assert list(grid(0)) == list(grid(0, 5)) == list(grid(5, 0)) == []
    with pytest.raises(ValueError, match="not a multiple of 512"):
        list(grid(10, edge=100))


@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 4))
def test_blocks_cover_every_pair_once(rows, columns, tiles):
    edge = tiles * TILE
    assert sum(block.pairs for block in grid(rows, columns, edge=edge)) == rows * columns
    symmetric = list(grid(rows, edge=edge))
    both = sum(block.pairs * (1 if block.first_row == block.first_column else 2) for block in symmetric)
    assert both == rows * rows
    assert all(block.first_row <= block.first_column for block in symmetric)


# ---------------------------------------------------------------------- against the plain search

TILES = {"tiles of 3": 3, "whole tiles": TILE}


@pytest.fixture(params=TILES.values(), ids=TILES.keys())
def tile(request, monkeypatch):
    """Tiles so small that a few nodes are many of them."""
    monkeypatch.setattr(block_search, "TILE", request.param)
    monkeypatch.setattr(block_search, "EDGE", 2 * request.param)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 4, 17])
@pytest.mark.parametrize("count", [1, 2, 6, 7, 17])
def test_all_against_all_with_ties(tile, count, k, largest):
    z, everyone = integers(count), torch.arange(count)
    z[::5] = 0  # nodes whose products are all 0
    expected = plain(z, everyone, everyone, k, largest=largest)
    width = min(k, count)
    found = inner_top_k(z, None, width, largest=largest)
    assert_same(found, [each[:, :width] for each in expected])


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 1000),
    nodes=st.integers(1, 20),
    k=st.integers(1, 8),
    largest=st.booleans(),
    tile=st.sampled_from([2, 5, TILE]),
)
def test_some_against_some_with_ties(seed, nodes, k, largest, tile):
    rng = np.random.default_rng(seed)
    z = integers(nodes, seed)
    queries = torch.from_numpy(rng.permutation(nodes)[: rng.integers(1, nodes + 1)])
    candidates = torch.from_numpy(rng.permutation(nodes)[: rng.integers(1, nodes + 1)])
    k = min(k, len(candidates))
    position = torch.full((nodes,), -1)
    position[candidates] = torch.arange(len(candidates))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_search, "TILE", tile)
        patch.setattr(block_search, "EDGE", 2 * tile)
        found = inner_top_k(z[queries], z[candidates], k, largest=largest, own=position[queries])
    assert_same(found, plain(z, queries, candidates, k, largest=largest))


def test_without_own_positions_nobody_is_left_out():
    z = torch.tensor([[1.0], [2.0]])
    indices, values = inner_top_k(z, z, 2, largest=True)
    assert (indices.tolist(), values.tolist()) == ([[1, 0], [1, 0]], [[2, 1], [4, 2]])


@pytest.mark.parametrize("largest", [True, False])
def test_real_numbers_in_several_blocks(largest, monkeypatch):
    monkeypatch.setattr(block_search, "EDGE", TILE)
    torch.manual_seed(0)
    z, everyone = torch.randn(1300, 16), torch.arange(1300)
    z = z[z.norm(dim=1).argsort()]  # each node is a better candidate than those before
    indices, values = inner_top_k(z, None, 20, largest=largest)
    exact = z.double() @ z.double().T
    exact.fill_diagonal_(float("nan"))
    expected, _ = top_k(lambda rows: exact[rows].float(), everyone, 1300, 20, largest=largest)
    torch.testing.assert_close(exact.gather(1, indices), exact.gather(1, expected), rtol=0, atol=1e-5)
    torch.testing.assert_close(values, exact.gather(1, indices).float(), rtol=0, atol=1e-5)
    assert_same(inner_top_k(z, z, 20, largest=largest, own=everyone), (indices, values))


@pytest.mark.parametrize("threads", [1, 2])
def test_no_nodes(threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert [each.shape for each in inner_top_k(torch.empty(0, 3), None, 0, largest=True)] == [(0, 0)] * 2
    finally:
        torch.set_num_threads(before)


def test_progress_reaches_all_pairs(monkeypatch):
    monkeypatch.setattr(block_search, "EDGE", TILE)
    steps = []
    inner_top_k(integers(1100), None, 2, largest=True, on_step=lambda *step: steps.append(step))
    assert len(steps) == 7
    assert steps[-1][0] == steps[-1][1] == sum(block.pairs for block in grid(1100, edge=TILE))
    assert sorted(steps) == steps


# ---------------------------------------------------------------------- anywhere, in any order


@pytest.fixture(scope="module")
def embedding() -> torch.Tensor:
    torch.manual_seed(1)
    z = torch.randn(2100, 24)
    z[700:900] = z[1500:1700]  # the same rows in other blocks: equal products
    return z


@pytest.fixture(scope="module")
def whole(embedding):
    with one_thread():
        return inner_top_k(embedding, None, 7, largest=True)


@pytest.mark.parametrize("edge", [TILE, 3 * TILE])
@pytest.mark.parametrize("limited", [False, True])
def test_blocks_of_any_size_in_any_order_give_the_same_bits(embedding, whole, edge, limited):
    blocks = list(grid(len(embedding), edge=edge))
    np.random.default_rng(edge).shuffle(blocks)
    lists = empty_lists(len(embedding), 7)
    for block in blocks:
        at_rows, at_columns = slice(block[0], block[1]), slice(block[2], block[3])
        # Each machine has its own rows, wherever they lie in memory.
        rows, columns = embedding[at_rows].clone(), embedding.t().contiguous().t()[at_columns]
        limits = Limits(limits_of(lists[at_rows]), limits_of(lists[at_columns])) if limited else None
        with one_thread():
            found = block_top_k(rows, columns, block, 7, largest=True, limits=limits)
        merge_top_k(lists[at_rows], found.rows)
        if found.columns is not None:
            merge_top_k(lists[at_columns], found.columns)
    assert_same(unpacked(lists, largest=True), whole)


@pytest.mark.parametrize("symmetric", [True, False])
def test_two_threads_give_the_same_bits_as_one(embedding, whole, symmetric, monkeypatch):
    monkeypatch.setattr(block_search, "STRIPES", 1)
    working = set()
    search = block_search.block_top_k

    def seen(*arguments, **options):
        working.add(threading.get_ident())
        assert torch.get_num_threads() == 1
        if len(working) < 2:
            both.wait(5)  # until the other thread has a block too
        else:
            both.set()
        return search(*arguments, **options)

    both = threading.Event()
    monkeypatch.setattr(block_search, "block_top_k", seen)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        own = None if symmetric else torch.arange(len(embedding))
        found = inner_top_k(embedding, None if symmetric else embedding, 7, largest=True, own=own)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert len(working) == 2
    assert_same(found, whole)


def test_an_error_ends_all_threads(embedding, monkeypatch):
    monkeypatch.setattr(block_search, "EDGE", TILE)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    searched = []
    search = block_search.block_top_k
    monkeypatch.setattr(
        block_search, "block_top_k", lambda *a, **o: (searched.append(a[2]), search(*a, **o))[1]
    )

    def stop(done, total):
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            inner_top_k(embedding, None, 2, largest=True, on_step=stop)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert 1 <= len(searched) < len(list(grid(len(embedding), edge=TILE)))


def test_from_a_file_as_from_memory(embedding, whole, tmp_path):
    # 8 bytes of other content first: the rows of the map do not begin where memory of torch would.
    file = tmp_path / "z"
    file.write_bytes(b"12345678" + embedding.numpy().tobytes())
    mapped = np.memmap(file, np.float32, "c", offset=8, shape=tuple(embedding.shape))
    assert_same(inner_top_k(torch.from_numpy(mapped), None, 7, largest=True), whole)


def test_a_limit_lets_an_equal_score_by_a_lower_index_enter():
    lists = empty_lists(3, 1)
    assert limits_of(lists).tolist() == [-np.inf] * 3
    one, two = torch.ones(1, 1), torch.ones(2, 1)
    merge_top_k(lists[:1], block_top_k(one, two[:1], Block(0, 1, TILE, TILE + 1), 1, largest=True).rows)
    assert limits_of(lists)[0] == np.nextafter(np.float32(1), np.float32(0))
    found = block_top_k(
        one, two[:1], Block(0, 1, 0, 1), 1, largest=True, own=torch.tensor([-1]),
        limits=Limits(limits_of(lists[:1]), limits_of(lists[:1])),
    )  # fmt: skip
    merge_top_k(lists[:1], found.rows)
    assert unpacked(lists, largest=True)[0].tolist() == [[0], [-1], [-1]]


def test_the_bytes_in_flight_are_those_of_the_largest_block():
    tile = 4 * (TILE * TILE + 2 * TILE * 64)
    with one_thread():
        assert flight_bytes(20, 64, 10**6) == 2 * EDGE * (8 * 20 + 16) + tile
        assert flight_bytes(20, 64, 6000) == 2 * 6000 * (8 * 20 + 16) + tile


def test_the_search_takes_what_it_states():
    nodes, k, step = 4000, 50, 1 << 20
    z = torch.randn(nodes, 8)
    with one_thread():
        inner_top_k(z[:600], None, k, largest=True)  # the kernels, and the buffers of the product
        tracemalloc.start()
        inner_top_k(z, None, k, largest=True)
        _, peak = tracemalloc.get_traced_memory()  # of numpy: all but the tile
        tracemalloc.stop()
        stated = 12 * nodes * k + flight_bytes(k, 8, nodes)
    assert 12 * nodes * k < peak < stated + step
