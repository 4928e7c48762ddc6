"""How much a node has: sums of features and degrees by hand, and their scaling."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.inputs import Scaling
from otherhalf.nn.magnitudes import MAGNITUDES, MagnitudeScaling, magnitudes
from otherhalf.system.adjacency import symmetric_adjacency

# A star around node 0, and node 4 alone; it has no features either.
STAR = symmetric_adjacency(np.array([[0, 0, 0], [1, 2, 3]]), 5)
X = np.array([[1, -2], [0, 4], [3, 0], [0.5, 0.5], [0, 0]], dtype=np.float32)
EXPECTED = np.log([[4, 4], [5, 2], [4, 2], [2, 2], [1, 1]])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_magnitudes_by_hand(make):
    found = magnitudes(make(X), STAR)
    assert tuple(found) == MAGNITUDES
    for column, values in enumerate(found.values()):
        assert values.shape == (5,)
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, EXPECTED[:, column], rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_standardised_columns_by_hand(make):
    scaling = MagnitudeScaling.fit(make(X), STAR)
    found = scaling.append(make(X), STAR)
    assert sp.issparse(found) == sp.issparse(make(X))
    dense = found.toarray() if sp.issparse(found) else found
    assert dense.dtype == np.float32
    np.testing.assert_array_equal(dense[:, :2], X)
    standard = (EXPECTED - EXPECTED.mean(axis=0)) / EXPECTED.std(axis=0)
    np.testing.assert_allclose(dense[:, 2:], standard, atol=1e-6)


def test_another_graph_is_scaled_like_the_fitted_one():
    scaling = MagnitudeScaling.fit(X, STAR)
    # Two nodes and one edge; the first has the sum 3 like node 0 of the star, the second like node 4.
    pair = symmetric_adjacency(np.array([[0], [1]]), 2)
    found = scaling.append(X[[0, 4]], pair)[:, 2:]
    expected = (np.log([[4, 2], [1, 2]]) - EXPECTED.mean(axis=0)) / EXPECTED.std(axis=0)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_equal_magnitudes_become_zero():
    ring = symmetric_adjacency(np.array([range(6), [*range(1, 6), 0]]), 6)
    found = MagnitudeScaling.fit(np.ones((6, 3)), ring).append(np.ones((6, 3)), ring)
    np.testing.assert_allclose(found[:, 3:], 0, atol=1e-6)


def test_sums_that_are_equal_to_rounding_become_zero():
    # Row-scaled features have the sum 1 up to the last digit, which was once made a column of deviation 1.
    x = np.random.default_rng(0).random((500, 7)).astype(np.float32)
    x = Scaling("row").apply(x)
    assert np.ptp(x.sum(axis=1)) > 0
    adjacency = symmetric_adjacency(np.array([[0], [1]]), 500)
    scaling = MagnitudeScaling.fit(x, adjacency)
    assert abs(scaling.append(x, adjacency)[:, 7]).max() < 1e-5


def test_many_nodes_have_the_mean_zero():
    # Sums in single precision would be wrong in the third digit.
    adjacency = sp.csr_matrix((300_000, 300_000), dtype=np.float32)
    x = np.random.default_rng(0).uniform(1e4, 1.0001e4, (300_000, 1)).astype(np.float32)
    column = MagnitudeScaling.fit(x, adjacency).append(x, adjacency)[:, 1].astype(np.float64)
    assert abs(column.mean()) < 0.02
    assert column.std() == pytest.approx(1, abs=0.02)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), nodes=st.integers(1, 20))
def test_columns_have_mean_zero_and_deviation_one_or_zero(seed, nodes):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((nodes, 3)).astype(np.float32)
    adjacency = symmetric_adjacency(rng.integers(0, nodes, (2, 2 * nodes)), nodes)
    columns = MagnitudeScaling.fit(x, adjacency).append(x, adjacency)[:, 3:]
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-4)
    deviation = columns.std(axis=0)
    np.testing.assert_allclose(deviation, deviation > 0.5, atol=1e-4)


def test_the_scaling_comes_back_from_its_tensors():
    scaling = MagnitudeScaling.fit(X, STAR)
    again = MagnitudeScaling.from_tensors({"another": None, **scaling.tensors()})
    np.testing.assert_array_equal(again.append(X, STAR), scaling.append(X, STAR))
    assert set(scaling.tensors()) == {"magnitudes/mean", "magnitudes/deviation"}
