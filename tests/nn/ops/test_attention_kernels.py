"""The compiled steps of attention, each by hand on a path of two nodes, and row by row."""

import numpy as np
import pytest

from otherhalf.nn.ops import attention_kernels as kernels
from otherhalf.nn.ops.attention import HEADS, NEGATIVE_SLOPE

# Two nodes that attend to themselves and to each other: entries (0, 0), (0, 1), (1, 0), (1, 1).
CROW, COL = np.array([0, 2, 4], dtype=np.int32), np.array([0, 1, 0, 1], dtype=np.int32)
REVERSE = np.array([0, 2, 1, 3], dtype=np.int64)


def eights(*values: float) -> np.ndarray:
    """One row per value; head k has the value times k + 1, so that no head can be taken for another."""
    return np.outer(values, np.arange(1, HEADS + 1)).astype(np.float32)


def test_scores_are_leaky_and_less_the_largest_of_their_row():
    s, t = eights(1.0, 3.0), eights(-2.0, 0.0)
    out = np.full((4, HEADS), np.nan, dtype=np.float32)
    kernels.shifted_scores(CROW, COL, s, t, out, 0, 2)
    # s_j + t_i: −1 and 1 in row 0, of which the first is multiplied by the slope; 1 and 3 in row 1.
    np.testing.assert_allclose(out, eights(-NEGATIVE_SLOPE - 1, 0.0, -2.0, 0.0), rtol=1e-6)


def test_means_are_weighted_by_shares_that_become_probabilities():
    shares = np.repeat(np.array([[1.0], [3.0], [2.0], [2.0]], dtype=np.float32), HEADS, axis=1)
    h = np.stack([eights(4.0, 8.0), eights(0.0, 1.0)], axis=1)  # [node, column, head]
    out = np.full_like(h, np.nan)
    kernels.weighted_means(CROW, COL, shares, h, out, 0, 2)
    np.testing.assert_allclose(shares[:, 0], [0.25, 0.75, 0.5, 0.5])
    np.testing.assert_allclose(out, np.stack([eights(7.0, 6.0), eights(0.75, 0.5)], axis=1), rtol=1e-6)


def test_gradients_by_hand():
    # Scores of 1 and −1 in every row, equal shares, states 4 and 8, so that every mean is 6.
    s, t = eights(1.0, -1.0), eights(0.0, 0.0)
    shares = np.full((4, HEADS), 0.5, dtype=np.float32)
    h, out, g = (
        np.repeat(np.array(values, dtype=np.float32)[:, None, None], HEADS, axis=2)
        for values in ([4, 8], [6, 6], [1, 10])
    )
    of_scores, of_t = np.empty((4, HEADS), dtype=np.float32), np.empty((2, HEADS), dtype=np.float32)
    kernels.gradient_of_scores(CROW, COL, s, t, shares, h, out, g, of_scores, of_t, 0, 2)
    # a (h_j − o_i) g_i and the slope: 0.5 · −2 · 1, 0.5 · 2 · 1 · 0.2; ten times that in row 1.
    expected = np.array([-1.0, NEGATIVE_SLOPE, -10.0, 10 * NEGATIVE_SLOPE])
    np.testing.assert_allclose(of_scores[:, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(of_t[:, 0], [expected[:2].sum(), expected[2:].sum()], rtol=1e-6)
    of_h, of_s = np.empty((2, 1, HEADS), dtype=np.float32), np.empty((2, HEADS), dtype=np.float32)
    kernels.gradient_of_sources(CROW, COL, REVERSE, shares, of_scores, g, of_h, of_s, 0, 2)
    np.testing.assert_allclose(of_s[:, 0], [expected[[0, 2]].sum(), expected[[1, 3]].sum()], rtol=1e-6)
    np.testing.assert_allclose(of_h[:, 0, 0], [5.5, 5.5])  # 0.5 · (1 + 10)


@pytest.mark.parametrize("rows", [(0, 1), (1, 2)])
def test_other_rows_are_left_alone(rows):
    out = np.full((4, HEADS), 7.0, dtype=np.float32)
    kernels.shifted_scores(CROW, COL, eights(1.0, 3.0), eights(0.0, 0.0), out, *rows)
    untouched = out[2:] if rows == (0, 1) else out[:2]
    assert (untouched == 7).all()
    assert (out != 7).sum() == 2 * HEADS
