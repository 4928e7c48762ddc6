"""Lists of keys against Python's sort: scores of every kind, ties, limits, and the merge."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from otherhalf.complement import block_kernels as kernels
from otherhalf.complement.block_kernels import EMPTY, LANES, LAST

NAN, INF = float("nan"), float("inf")

scores = st.one_of(
    st.integers(-2, 2).map(float),  # ties everywhere
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1e-45, -1e-45, 3.4028234663852886e38, -3.4028234663852886e38, NAN, -INF]),
)


def read(listed: np.ndarray) -> list[tuple[float, int]]:
    """(score, index) of the places of a list, best first, without empty ones."""
    pairs = []
    for key in listed[::-1].tolist():
        if key != EMPTY:
            bits = key >> 32
            bits = bits if bits >= 0 else bits ^ 0x7FFFFFFF
            pairs.append((float(np.array(bits, dtype=np.int32).view(np.float32)), LAST - (key & LAST)))
    return pairs


def literal(row: np.ndarray, k: int, *, first: int = 0, own: int = -1) -> list[tuple[float, int]]:
    """The k best by a full sort: larger scores first, then lower indices; no NaN, no −∞, not ``own``."""
    pairs = [(score, first + at) for at, score in enumerate(row.tolist()) if score > -INF]
    return sorted((p for p in pairs if p[1] != own), key=lambda pair: (-pair[0], pair[1]))[:k]


def lists_of(rows: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full((rows, k), EMPTY), np.full(rows, -INF, dtype=np.float32)


def by_rows(tile: np.ndarray, k: int, column: int = 0, own: np.ndarray | None = None) -> np.ndarray:
    lists, limits = lists_of(len(tile), k)
    own = np.full(len(tile), -1) if own is None else own
    kernels.offer_to_rows(np.ascontiguousarray(tile), 0, column, own, lists, limits)
    return lists


def by_columns(tile: np.ndarray, k: int, row: int = 0) -> np.ndarray:
    lists, limits = lists_of(tile.shape[1], k)
    kernels.offer_to_columns(np.ascontiguousarray(tile), 0, row, lists, limits)
    return lists


tiles = hnp.arrays(
    np.float32, st.tuples(st.integers(0, 5), st.sampled_from([0, 1, 7, LANES, LANES + 3])), elements=scores
)


@settings(deadline=None, max_examples=150)
@given(tile=tiles, k=st.integers(1, 9), column=st.sampled_from([0, 512, LAST - 200]))
def test_rows_and_columns_of_a_tile_equal_a_full_sort(tile, k, column):
    assert [read(each) for each in by_rows(tile, k, column)] == [
        literal(row, k, first=column) for row in tile
    ]
    transposed = np.ascontiguousarray(tile.T)
    assert [read(each) for each in by_columns(transposed, k, column)] == [
        literal(row, k, first=column) for row in tile
    ]


def test_ties_by_hand():
    tile = np.array([[3.0, 1.0, 3.0, NAN, 2.0, 3.0], [NAN, -1.0, -0.0, -1.0, 0.0, -5.0]], dtype=np.float32)
    assert [read(each) for each in by_rows(tile, 2)] == [[(3, 0), (3, 2)], [(0, 2), (0, 4)]]
    assert [read(each) for each in by_columns(tile, 1)] == [
        [(3, 0)],
        [(1, 0)],
        [(3, 0)],
        [(-1, 1)],
        [(2, 0)],
        [(3, 0)],
    ]


def test_a_row_leaves_itself_out():
    tile = np.arange(12, dtype=np.float32).reshape(2, 6)
    lists = by_rows(tile, 2, column=10, own=np.array([15, 3]))
    assert [read(each) for each in lists] == [[(4, 14), (3, 13)], [(11, 15), (10, 14)]]


def test_scores_up_to_the_limit_are_left_out_and_it_rises():
    lists, limits = lists_of(1, 2)
    limits[0] = 2.0
    tile = np.array([[1.0, 2.0, 3.0, 2.5, 2.25, 4.0]], dtype=np.float32)
    kernels.offer_to_rows(tile, 0, 0, np.array([-1]), lists, limits)
    assert (read(lists[0]), limits.tolist()) == ([(4, 5), (3, 2)], [3])
    kernels.offer_to_columns(np.array([[3.0], [3.5]], dtype=np.float32), 0, 50, lists, limits)
    assert (read(lists[0]), limits.tolist()) == ([(4, 5), (3.5, 51)], [3.5])


@settings(deadline=None, max_examples=100)
@given(
    row=hnp.arrays(np.float32, st.integers(0, 40), elements=scores),
    k=st.integers(1, 6),
    parts=st.integers(1, 5),
    order=st.randoms(use_true_random=False),
)
def test_parts_merge_to_the_list_of_the_whole_in_any_order(row, k, parts, order):
    bounds = np.linspace(0, len(row), parts + 1).astype(int)
    found = [by_rows(row[None, a:b], k, a) for a, b in pairwise(bounds)]
    order.shuffle(found)
    lists, _ = lists_of(1, k)
    for part in found:
        kernels.merge(lists, part)
    assert read(lists[0]) == literal(row, k)


@pytest.mark.parametrize("k", [1, 3])
def test_merging_nothing_changes_nothing(k):
    lists = by_rows(np.array([[1.0, 2.0]], dtype=np.float32), k)
    before = lists.copy()
    kernels.merge(lists, np.full((1, k), EMPTY))
    assert np.array_equal(lists, before)
