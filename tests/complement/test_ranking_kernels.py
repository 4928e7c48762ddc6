"""Ranking by an inverted index against a literal sort of dense products."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement.ranking_kernels import rank_rows


def ranked(x: np.ndarray, labels: np.ndarray, candidates: np.ndarray, k: int, cuts: tuple[int, ...] = ()):
    """The nearest and farthest of all rows, computed in parts that end at ``cuts``."""
    matrix, index = sp.csr_matrix(x), sp.csc_matrix(x[candidates])
    near, far = np.full((len(x), k), -1), np.full((len(x), k), -1)
    bounds = [0, *cuts, len(x)]
    for first, last in pairwise(bounds):
        rank_rows(
            matrix.indptr, matrix.indices, matrix.data, index.indptr, index.indices, index.data,
            labels, candidates, near, far, first, last,
        )  # fmt: skip
    return near.tolist(), far.tolist()


def literal(x: np.ndarray, labels: np.ndarray, candidates: np.ndarray, k: int):
    near, far = [], []
    for i in range(len(x)):
        scored = [(float(x[i] @ x[j]), int(j)) for j in candidates if j != i]
        same = sorted((-s, j) for s, j in scored if labels[j] == labels[i])[:k]
        others = sorted((s, j) for s, j in scored if labels[j] != labels[i])[:k]
        for lists, found in ((near, same), (far, others)):
            lists.append([-1] * (k - len(found)) + [j for _, j in found[::-1]])
    return near, far


def test_by_hand():
    x = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0], [2, 0, 0], [0, 3, 1]], dtype=np.float32)
    labels = np.array([0, 0, 0, 1, 1])
    near, far = ranked(x, labels, np.arange(5), 2)
    assert near == [[2, 1], [2, 0], [1, 0], [-1, 4], [-1, 3]]  # node 2 has no features: equally unlike all
    assert far == [[4, 3], [4, 3], [4, 3], [2, 1], [0, 2]]


@settings(deadline=None, max_examples=80)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 14), k=st.integers(1, 5), cut=st.integers(0, 14))
def test_integers_equal_a_literal_sort_in_parts_too(seed, rows, k, cut):
    rng = np.random.default_rng(seed)
    x = (rng.integers(-2, 3, (rows, 6)) * (rng.random((rows, 6)) < 0.4)).astype(np.float32)
    labels = rng.integers(3, size=rows)
    candidates = np.sort(rng.permutation(rows)[: rng.integers(1, rows + 1)])
    expected = literal(x, labels, candidates, k)
    assert ranked(x, labels, candidates, k) == expected
    assert ranked(x, labels, candidates, k, (min(cut, rows),)) == expected


@pytest.mark.parametrize("columns", [0, 3])
def test_no_entries_at_all(columns):
    near, far = ranked(np.zeros((3, columns), dtype=np.float32), np.array([0, 1, 0]), np.arange(3), 1)
    assert (near, far) == ([[2], [-1], [0]], [[1], [0], [1]])
