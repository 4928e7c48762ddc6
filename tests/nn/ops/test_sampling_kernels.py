"""The transpose of a CSR matrix is that of scipy; the sampling step is tested through its class."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.ops.sampling_kernels import transpose


@given(st.integers(0, 12), st.integers(1, 12), st.sampled_from([0.0, 0.3, 1.0]), st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_transpose(rows, columns, density, seed):
    matrix = sp.random(rows, columns, density=density, random_state=seed, format="csr", dtype=np.float32)
    crow, col = np.zeros(columns + 1, np.int32), np.empty(matrix.nnz, np.int32)
    values, order = np.empty(matrix.nnz, np.float32), np.empty(matrix.nnz, np.int64)
    transpose(matrix.indptr, matrix.indices, matrix.data, crow, col, values, order)
    expected = matrix.T.tocsr()
    np.testing.assert_array_equal(crow, expected.indptr)
    np.testing.assert_array_equal(col, expected.indices)
    np.testing.assert_array_equal(values, expected.data)
    np.testing.assert_array_equal(values, matrix.data[order])
