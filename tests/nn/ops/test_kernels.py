"""The compiled product: the same numbers as a dense one, and bit for bit the same with any threads."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.ops import compiled, products
from otherhalf.nn.ops.kernels import BLOCK, CACHED, add_rows
from otherhalf.nn.ops.products import product, to_torch


def arrays(matrix):
    csr = sp.csr_matrix(matrix, dtype=np.float32)
    return csr.indptr.astype(np.int32), csr.indices.astype(np.int32), csr.data


def test_by_hand_with_five_entries_in_a_row_and_with_none():
    matrix = arrays([[1, 2, 3, 4, 5], [0, 0, 0, 0, 0], [0, 6, 0, 0, 0]])
    dense = np.array([[1, 10], [2, 20], [3, 30], [4, 40], [5, 50]], dtype=np.float32)
    out = np.full((3, 2), np.nan, dtype=np.float32)
    add_rows(*matrix, dense, out, True, 0, 3)
    assert out.tolist() == [[55, 550], [0, 0], [12, 120]]
    add_rows(*matrix, dense, out, False, 0, 3)
    assert out.tolist() == [[110, 1100], [0, 0], [24, 240]]


def test_other_rows_are_left_alone():
    matrix, out = arrays(np.eye(4)), np.full((4, 1), 7, dtype=np.float32)
    add_rows(*matrix, np.ones((4, 1), dtype=np.float32), out, True, 1, 3)
    assert out.ravel().tolist() == [7, 1, 1, 7]


@settings(deadline=None)
@given(
    rows=st.integers(1, 20),
    columns=st.integers(1, 40),
    width=st.integers(1, 40),
    density=st.floats(0, 1),
    threads=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_the_product_is_the_dense_one_and_threads_make_no_difference(
    rows, columns, width, density, threads, seed
):
    matrix = sp.random(rows, columns, density, format="csr", dtype=np.float32, random_state=seed)
    dense = torch.randn(columns, width, generator=torch.Generator().manual_seed(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "NARROWEST", 1)
        one = product(to_torch(matrix), dense)
        patch.setattr(compiled, "WORTH_A_THREAD", 1)
        patch.setattr(torch, "get_num_threads", lambda: threads)
        several = product(to_torch(matrix), dense)
    torch.testing.assert_close(one, torch.from_numpy(matrix.toarray()) @ dense, rtol=1e-4, atol=1e-5)
    assert torch.equal(one, several)


def test_a_matrix_whose_entries_are_all_in_one_row(monkeypatch):
    monkeypatch.setattr(compiled, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    matrix = np.zeros((5, 60), dtype=np.float32)
    matrix[2] = 1
    found = product(to_torch(sp.csr_matrix(matrix)), torch.ones(60, 32))
    assert found[:, 0].tolist() == [0, 0, 60, 0, 0]


def test_the_product_may_be_taken_of_what_needs_a_gradient_and_of_columns():
    matrix = sp.random(30, 20, 0.3, format="csr", dtype=np.float32, random_state=0)
    dense = torch.randn(64, 20, requires_grad=True)
    expected = torch.from_numpy(matrix.toarray()) @ dense.detach().t()
    torch.testing.assert_close(product(to_torch(matrix), dense.t()), expected)


@pytest.mark.parametrize("width", [40, BLOCK, 2 * BLOCK])
@pytest.mark.parametrize("entries", [0, 3, 7])
def test_rows_that_are_asked_for_before_their_turn_are_the_same(entries, width):
    """A matrix beyond the cache, of rows with ``entries`` entries: below and above a group of four, the last
    ones near the end of the array."""
    n = CACHED // width + 1000
    rng = np.random.default_rng(0)
    few = sp.csr_matrix(
        (
            rng.random(200 * entries, dtype=np.float32),
            rng.integers(n, size=200 * entries),
            np.arange(201) * entries,
        ),
        shape=(200, n),
    )
    dense = torch.from_numpy(rng.random((n, width), dtype=np.float32))
    assert dense.numel() > CACHED
    used = few.indices
    few_columns = sp.csr_matrix((few.data, np.arange(len(used)), few.indptr), shape=(200, max(1, len(used))))
    few_rows = dense[torch.from_numpy(used.astype(np.int64))]
    assert few_rows.numel() <= CACHED
    found = product(to_torch(few), dense)
    if entries:
        assert torch.equal(found, product(to_torch(few_columns), few_rows))
    torch.testing.assert_close(found, torch.from_numpy(few @ dense.numpy()))


@pytest.mark.parametrize("width", [BLOCK, 2 * BLOCK, 4 * BLOCK])
def test_sums_in_registers_have_the_bits_of_sums_in_memory(width):
    """The same columns with one more beside them, which no block of columns fits. Rows of 0 to 40 entries."""
    matrix = sp.random(90, 70, 0.3, format="csr", dtype=np.float32, random_state=0)
    matrix = sp.vstack([matrix, sp.csr_matrix((1, 70), dtype=np.float32), matrix[:5]], format="csr")
    dense, start = torch.randn(70, width), torch.randn(96, width)
    wider = torch.cat([dense, torch.ones(70, 1)], dim=1)
    assert torch.equal(product(to_torch(matrix), dense), product(to_torch(matrix), wider)[:, :width])
    added, beside = start.clone(), torch.cat([start, torch.ones(96, 1)], dim=1)
    add_rows(*arrays(matrix), dense.numpy(), added.numpy(), False, 3, 94)
    add_rows(*arrays(matrix), wider.numpy(), beside.numpy(), False, 3, 94)
    assert torch.equal(added, beside[:, :width].contiguous())
    assert torch.equal(added[:3], start[:3])
    assert torch.equal(added[94:], start[94:])
