import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from otherhalf.diagnosis import similarity
from otherhalf.diagnosis.similarity import (
    GRID,
    Cosine,
    blocks,
    cosine_counts,
    densities,
    ks_statistic,
    mean_cosine,
    random_pairs,
)

ROWS = np.array([[3, 4], [4, 3], [-3, -4], [0, 0], [8, 6]], dtype=np.float32)
PAIRS = np.array([[0, 0, 0, 1, 3], [1, 2, 3, 4, 3]])


@pytest.mark.parametrize("dense_from", [0.0, 1.0])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_cosine_by_hand(make, dense_from, monkeypatch):
    """24/25 for (3, 4)·(4, 3); opposite rows −1; a row of zeros 0, even with itself; parallel rows 1."""
    monkeypatch.setattr(similarity, "DENSE_FROM", dense_from)
    np.testing.assert_allclose(Cosine(make(ROWS))(PAIRS), [0.96, -1, 0, 1, 0], atol=1e-7)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_cosine_of_rows_whose_squares_leave_float32(make, scale):
    rows = ROWS * np.float32(scale)
    np.testing.assert_allclose(Cosine(make(rows))(PAIRS), [0.96, -1, 0, 1, 0], atol=1e-6)


def test_the_size_of_blocks_does_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    x = sp.random(40, 30, density=0.2, random_state=0, format="csr", dtype=np.float32)
    pairs = rng.integers(40, size=(2, 100))
    at_once, counts = Cosine(x)(pairs), cosine_counts(Cosine(x), blocks(pairs))
    monkeypatch.setattr(similarity, "VALUES_AT_ONCE", 60)
    monkeypatch.setattr(similarity, "PAIRS_AT_ONCE", 7)
    np.testing.assert_allclose(Cosine(x)(pairs), at_once, atol=1e-7)
    np.testing.assert_array_equal(cosine_counts(Cosine(x), blocks(pairs)), counts)
    dense = x.toarray().astype(float)
    dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-30)
    np.testing.assert_allclose(at_once, (dense[pairs[0]] * dense[pairs[1]]).sum(axis=1), atol=1e-6)


def test_equal_cosines_are_tied_in_spite_of_rounding_errors():
    """In one dimension all cosines are 1, whatever float32 makes of 0.1·0.3 / (0.1·0.3)."""
    x = np.random.default_rng(0).uniform(0.1, 9, size=(200, 1)).astype(np.float32)
    pairs = np.random.default_rng(1).integers(200, size=(2, 1000))
    counts = cosine_counts(Cosine(x), blocks(pairs))
    assert counts[2 * GRID] == counts.sum() == 1000


def test_counts_and_mean():
    counts = cosine_counts(Cosine(ROWS), blocks(PAIRS))
    assert {int(c) - GRID: int(counts[c]) for c in np.flatnonzero(counts)} == {
        -GRID: 1,
        0: 2,
        GRID * 96 // 100: 1,
        GRID: 1,
    }
    assert mean_cosine(counts) == pytest.approx((-1 + 0 + 0 + 0.96 + 1) / 5)


values = st.lists(st.integers(0, 12), min_size=2, max_size=40)


@given(values, values)
def test_ks_statistic_equals_that_of_scipy_with_ties(first, second):
    expected = ks_2samp(first, second, method="asymp").statistic
    counts = [np.bincount(v, minlength=13) for v in (first, second)]
    assert ks_statistic(*counts) == pytest.approx(expected, abs=1e-12)


def test_ks_statistic_by_hand():
    """F₁ = 1/2, 1, 1 and F₂ = 0, 1/4, 1 over the values 0, 1, 2: they are 3/4 apart at 1."""
    assert ks_statistic(np.array([2, 2, 0]), np.array([0, 1, 3])) == 0.75


@given(n=st.integers(2, 6), seed=st.integers(0, 100))
@settings(max_examples=20)
def test_random_pairs_are_uniform_over_different_nodes(n, seed):
    pairs = np.concatenate(list(random_pairs(n, 6000, np.random.default_rng(seed))), axis=1)
    assert pairs.shape == (2, 6000)
    counts = np.bincount(pairs[0] * n + pairs[1], minlength=n * n).reshape(n, n)
    assert np.all(np.diag(counts) == 0)
    expected = 6000 / (n * (n - 1))
    off_diagonal = counts[~np.eye(n, dtype=bool)]
    assert np.all(np.abs(off_diagonal - expected) < 6 * np.sqrt(expected))


@pytest.mark.parametrize("low", [-1, 0])
def test_densities_equal_those_of_numpy(low):
    grid = np.random.default_rng(0).integers(low * GRID, GRID + 1, size=500)
    grid[:20] = GRID  # the cosine 1 belongs to the last bin
    counts = np.bincount(grid + GRID, minlength=2 * GRID + 1)
    expected, _ = np.histogram(grid, bins=np.linspace(low, 1, 51) * GRID, density=True)
    np.testing.assert_allclose(densities(counts, low, 50), expected * GRID, rtol=1e-9)
