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
    ks_error,
    ks_statistic,
    mean_cosine,
    random_pairs,
    sampled_edges,
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


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_many_pairs_are_counted_by_the_compiled_loops(make, monkeypatch):
    monkeypatch.setattr(similarity, "DENSE_FROM", 1.0)
    rng = np.random.default_rng(0)
    x = make((rng.standard_normal((60, 40)) * (rng.random((60, 40)) < 0.5)).astype(np.float32))
    pairs = np.stack(np.triu_indices(60, 1))
    few, many = Cosine(x), Cosine(x, pairs=similarity.WORTH_COMPILING)
    plain, compiled = (cosine_counts(each, blocks(pairs)) for each in (few, many))
    assert not few._compiled
    assert many._compiled
    # One unit in the last place of float32 is 0.006 steps of the grid.
    assert np.abs(np.cumsum(plain) - np.cumsum(compiled)).max() <= 1
    assert plain.sum() == compiled.sum() == 60 * 59 / 2
    huge = Cosine(make(ROWS * np.float32(1e30)), pairs=similarity.WORTH_COMPILING)
    assert not huge._compiled  # products of such values overflow in single precision


def test_a_sample_of_edges_is_uniform_and_keeps_their_order():
    edges = np.stack([np.arange(20), np.arange(20) + 1])
    assert sampled_edges(edges, 20, np.random.default_rng(0)) is edges
    counts = np.zeros(20)
    for seed in range(600):
        chosen = sampled_edges(edges, 5, np.random.default_rng(seed))
        assert (np.diff(chosen[0]) > 0).all()
        assert (chosen[1] == chosen[0] + 1).all()
        counts[chosen[0]] += 1
    # A binomial of 600 draws with p = 1/4: 150 ± 10.6.
    assert np.abs(counts - 150).max() < 4.5 * 10.6


def test_the_error_of_d_by_hand():
    """They differ most, by 1/2, at the lower value: F₁ = 1/2 of n = 4 of 16 edges, F₂ = 0 of m = 8."""
    assert ks_error(np.array([2, 2]), np.array([0, 8]), 16) == pytest.approx((1 / 4 / 4 * 3 / 4) ** 0.5)
    assert ks_error(np.array([2, 2]), np.array([2, 6]), 4) == pytest.approx((1 / 4 * 3 / 4 / 8) ** 0.5)


def test_the_error_of_d_is_that_of_repeated_samples():
    """The spread of the difference at its place over many samples of a fixed population."""
    rng = np.random.default_rng(0)
    population = np.arange(2000) % 2
    estimates, errors = [], []
    for _ in range(400):
        first = np.bincount(rng.choice(population, 500, replace=False), minlength=2)
        second = np.bincount(rng.binomial(1, 0.2, size=800), minlength=2)
        estimates.append(ks_statistic(first, second))
        errors.append(ks_error(first, second, 2000))
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.15)
