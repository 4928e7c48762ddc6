import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.ops import compiled
from otherhalf.nn.ops.sparse_rows import dense_rows


def test_a_product_by_hand():
    left = sp.csr_matrix(np.array([[1, 2], [0, 0], [0, 3]], dtype=np.float32))
    right = sp.csr_matrix(np.array([[4, 0, 0], [5, 0, 6]], dtype=np.float32))
    out = np.full((3, 3), np.nan, dtype=np.float32)
    dense_rows(left, right, out)
    np.testing.assert_array_equal(out, [[14, 0, 12], [0, 0, 0], [15, 0, 18]])


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), rows=st.integers(0, 30), width=st.integers(1, 40), share=st.floats(0, 0.6))
def test_the_bits_are_those_of_scipy_with_one_thread_and_with_two(seed, rows, width, share):
    draw = np.random.default_rng(seed)
    left = sp.random(rows, 25, share, format="csr", dtype=np.float32, random_state=draw)
    right = sp.random(25, width, share, format="csr", dtype=np.float32, random_state=draw)
    expected, threads = (left @ right).toarray(), torch.get_num_threads()
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "WORTH_A_THREAD", 1)
        for count in (1, 2):
            torch.set_num_threads(count)
            try:
                found.append(np.full((rows, width), np.nan, dtype=np.float32))
                dense_rows(left, right, found[-1])
            finally:
                torch.set_num_threads(threads)
    assert found[0].tobytes() == found[1].tobytes() == expected.tobytes()


def test_indices_of_eight_bytes_are_taken():
    left = sp.csr_matrix(np.eye(3, dtype=np.float32))
    left.indices, left.indptr = left.indices.astype(np.int64), left.indptr.astype(np.int64)
    out = np.empty((3, 3), dtype=np.float32)
    dense_rows(left, left, out)
    np.testing.assert_array_equal(out, np.eye(3))


def test_shapes_that_do_not_fit_are_refused():
    left = sp.csr_matrix(np.eye(3, dtype=np.float32))
    with pytest.raises(ValueError, match="another shape"):
        dense_rows(left, left, np.empty((3, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="another shape"):
        dense_rows(left, left[:2], np.empty((3, 3), dtype=np.float32))
