"""The compiled loops count the same cosines as a product of whole matrices in double precision."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.diagnosis.cosine_kernels import CACHED, count_dense, count_sparse
from otherhalf.diagnosis.similarity import row_norms
from otherhalf.system.arrays import frozen

STEPS = 50
"""Few cells: a rounding error rarely moves a cosine into another."""


def counted(x, pairs):
    """The counts of the compiled loop for these features."""
    counts = np.zeros(2 * STEPS + 1, dtype=np.int64)
    if sp.issparse(x):
        rows = x.indptr.view(np.uint32), x.indices.view(np.uint32), x.data
        count_sparse(*pairs, *rows, row_norms(x), x.shape[1], STEPS, counts)
    else:
        count_dense(*pairs, x, row_norms(x), STEPS, counts)
    return counts


def literal(x, pairs):
    """The counts of the same pairs, from all cosines at once."""
    dense = (x.toarray() if sp.issparse(x) else x).astype(np.float64)
    norms = np.linalg.norm(dense, axis=1, keepdims=True)
    unit = np.divide(dense, norms, out=np.zeros_like(dense), where=norms > 0)
    cosines = (unit @ unit.T)[pairs[0], pairs[1]].clip(-1, 1)
    return np.bincount(np.rint(cosines * STEPS).astype(int) + STEPS, minlength=2 * STEPS + 1)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_by_hand(make):
    """24/25 for (3, 4)·(4, 3); opposite rows −1; a row of zeros 0, even with itself; parallel rows 1."""
    x = frozen(make(np.array([[3, 4], [4, 3], [-3, -4], [0, 0], [8, 6]], dtype=np.float32)))
    counts = counted(x, frozen(np.array([[0, 1], [0, 2], [0, 3], [1, 4], [3, 3]])).T)
    assert {int(c) - STEPS: int(counts[c]) for c in np.flatnonzero(counts)} == {-50: 1, 0: 2, 48: 1, 50: 1}


@given(
    nodes=st.integers(1, 12),
    columns=st.integers(1, 70),
    density=st.sampled_from([0.0, 0.05, 0.4, 1.0]),
    pairs=st.integers(0, 60),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_any_pairs_of_any_rows(nodes, columns, density, pairs, seed):
    """Small integers: products and sums are exact, so dense and sparse agree to the last pair."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, size=(nodes, columns)) * (rng.random((nodes, columns)) < density)
    x = x.astype(np.float32)
    chosen = rng.integers(nodes, size=(2, pairs))
    dense, sparse = counted(x, chosen), counted(sp.csr_matrix(x), chosen)
    np.testing.assert_array_equal(dense, sparse)
    exact = (x.astype(float) @ x.T.astype(float))[chosen[0], chosen[1]]
    assert dense[:STEPS].sum() <= np.count_nonzero(exact < 0) <= dense[: STEPS + 1].sum()


def test_random_rows_as_the_literal_matrix():
    """Cosines of real numbers are never near the middle of two of 101 cells in this draw."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 33)).astype(np.float32)
    pairs = rng.integers(50, size=(2, 2000))
    np.testing.assert_array_equal(counted(x, pairs), literal(x, pairs))
    thin = sp.random(50, 33, density=0.3, random_state=1, format="csr", dtype=np.float32)
    np.testing.assert_array_equal(counted(thin, pairs), literal(thin, pairs))


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_that_are_asked_for_before_their_turn_are_the_same(sparse):
    """The pairs of some rows of features beyond the cache, against those rows alone: rows of 0 to 80 entries,
    and the last one."""
    rng = np.random.default_rng(0)
    n, columns = (30_000, 100) if sparse else (20_000, 64)
    x = rng.integers(-3, 4, size=(n, columns)).astype(np.float32)
    if sparse:
        x[:, 80:] = 0
        x[rng.random((n, columns)) < rng.random((n, 1)) * 0.5] = 0
        x[5] = 0
    chosen = np.concatenate([np.arange(60), [n - 1]])
    small = x[chosen]
    large = sp.csr_matrix(x) if sparse else x
    assert (large.nnz if sparse else large.size) > CACHED
    for count in (1, 5, 3000):
        pairs = rng.integers(len(chosen), size=(2, count))
        np.testing.assert_array_equal(counted(large, chosen[pairs]), counted(small, pairs))
