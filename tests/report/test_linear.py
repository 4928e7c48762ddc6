"""The linear reading of a model: exact effects, and an honest R²."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from otherhalf.report.linear import LEAST_R2, MOST_NODES, Reading, nodes_to_read, read_linearly


def odds(x, weights):
    """Probabilities of two classes whose log-odds are linear in x."""
    second = expit(x @ weights)
    return np.stack([1 - second, second], axis=1).astype(np.float32)


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(400, 5)).astype(np.float32)


WEIGHTS = np.array([1.0, -0.5, 0.0, 0.3, 0.0])


def test_a_linear_model_is_read_as_it_is(x):
    found = read_linearly(x, odds(x, WEIGHTS))
    np.testing.assert_allclose(found.weights[:, 1], WEIGHTS, atol=0.02)
    np.testing.assert_allclose(found.weights[:, 0], -found.weights[:, 1], atol=1e-5)
    assert (found.r2 > 0.99).all()
    assert "explains 100% of the variation" in found.sentence


def test_effects_add_up_to_the_difference_from_the_average_node(x):
    found = read_linearly(x, odds(x, WEIGHTS))
    classes = np.arange(400) % 2
    effects = found.effects(x, classes)
    for row in (0, 1, 17):
        expected = (x[row] - x.mean(axis=0)) * found.weights[:, classes[row]]
        np.testing.assert_allclose(effects[row], expected, atol=1e-5)


def test_the_r2_is_that_of_nodes_that_were_left_out(x):
    p = odds(x + 0.3 * np.random.default_rng(1).normal(size=x.shape), WEIGHTS)
    few, wide = x[:60], np.concatenate([x[:60], np.random.default_rng(2).normal(size=(60, 200))], axis=1)
    assert read_linearly(few, p[:60]).r2[1] > 0.6
    # With more columns of noise than nodes, a regression fits every node and tells nothing of the others.
    assert read_linearly(wide.astype(np.float32), p[:60]).r2[1] < 0.4


def test_what_is_not_linear_is_not_explained(x):
    p = odds(np.abs(x) - np.abs(x).mean(axis=0), np.array([3.0, 0, 0, 0, 0]))
    found = read_linearly(x, p)
    assert (found.r2 < LEAST_R2).all()
    assert not found.explains(np.array([0, 1])).any()


@pytest.mark.parametrize("columns", [8, 300])
def test_sparse_features_are_read_like_dense_ones(columns):
    rng = np.random.default_rng(0)
    x = (rng.random((120, columns)) < 0.1).astype(np.float32)
    p = odds(x, rng.normal(size=columns))
    dense, sparse = read_linearly(x, p), read_linearly(sp.csr_matrix(x), p)
    np.testing.assert_allclose(dense.weights, sparse.weights, atol=1e-3)
    np.testing.assert_allclose(dense.mean, sparse.mean, atol=1e-6)
    np.testing.assert_allclose(dense.r2, sparse.r2, atol=1e-3)
    rows, classes = np.arange(9), np.ones(9, int)
    np.testing.assert_allclose(
        dense.effects(x[rows], classes), sparse.effects(sp.csr_matrix(x)[rows], classes), atol=1e-3
    )


def test_both_ways_to_solve_it_agree():
    """Over columns where they are few, over nodes where they are many."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 40)).astype(np.float32)
    p = odds(x, rng.normal(size=40) / 6)
    over_columns = read_linearly(x, p)
    padded = np.concatenate([x, np.zeros((100, 20), np.float32)], axis=1)
    over_nodes = read_linearly(padded, p)
    np.testing.assert_allclose(over_nodes.weights[:40], over_columns.weights, atol=2e-3)
    np.testing.assert_allclose(over_nodes.r2, over_columns.r2, atol=2e-3)


def test_features_that_do_not_vary_cannot_be_read():
    p = odds(np.random.default_rng(0).normal(size=(50, 1)), np.ones(1))
    assert read_linearly(np.ones((50, 1), np.float32), p) is None
    assert read_linearly(np.zeros((50, 3), np.float32), p) is None
    assert read_linearly(sp.csr_matrix((50, 3), dtype=np.float32), p) is None


def test_a_class_that_never_varies_has_no_r2(x):
    p = np.tile(np.array([0.9, 0.1], np.float32), (400, 1))
    found = read_linearly(x, p)
    assert np.isnan(found.r2).all()
    assert not found.explains(np.array([0])).any()
    assert isinstance(found, Reading)
    assert "explains 0%" in found.sentence


def test_a_large_graph_is_read_by_a_sample():
    assert nodes_to_read(5, 0).tolist() == [0, 1, 2, 3, 4]
    sample = nodes_to_read(5 * MOST_NODES, 0)
    assert len(np.unique(sample)) == MOST_NODES
    assert sample.max() > 4 * MOST_NODES
    np.testing.assert_array_equal(sample, nodes_to_read(5 * MOST_NODES, 0))
