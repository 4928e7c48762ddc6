"""Sparse products in blocks: the same numbers as a dense product, whatever the cut."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.ops import products
from otherhalf.nn.ops.products import (
    BLOCK,
    ENTRIES_PER_BLOCK_ROW,
    SideBySide,
    product,
    to_torch,
    transposed,
    with_values,
)
from otherhalf.nn.ops.sparse import SparseOperator

SMALL = np.array([[1, 0, 2, 0, 3], [0, 0, 0, 0, 0], [4, 5, 0, 6, 0]], dtype=np.float32)


def csr(rows: int, columns: int, density: float, seed: int = 0) -> sp.csr_matrix:
    return sp.random(rows, columns, density, format="csr", dtype=np.float32, random_state=seed)


@pytest.fixture
def cut_everything(monkeypatch):
    monkeypatch.setattr(products, "BLOCK", 3)
    monkeypatch.setattr(products, "ENTRIES_PER_BLOCK_ROW", 0)


def test_a_product_by_hand():
    dense = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]])
    assert product(to_torch(sp.csr_matrix(SMALL)), dense).tolist() == [[22], [0], [38]]


def test_blocks_by_hand():
    blocks = SideBySide([to_torch(sp.csr_matrix(SMALL[:, :2])), to_torch(sp.csr_matrix(SMALL[:, 2:]))])
    dense = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]])
    assert product(blocks, dense).tolist() == [[22], [0], [38]]
    assert blocks.shape == (3, 5)
    assert blocks.values().tolist() == [1, 4, 5, 2, 3, 6]
    assert blocks.to_dense().tolist() == SMALL.tolist()
    doubled = with_values(blocks, 2 * blocks.values())
    assert isinstance(doubled, SideBySide)
    assert doubled.to_dense().tolist() == (2 * SMALL).tolist()


def test_other_values_in_one_block():
    matrix = to_torch(sp.csr_matrix(SMALL))
    assert with_values(matrix, -matrix.values()).to_dense().tolist() == (-SMALL).tolist()


@pytest.mark.parametrize("width", [0, 1, 7, 64, 133])
def test_any_number_of_columns(width):
    matrix = csr(40, 30, 0.1)
    dense = torch.randn(30, width)
    expected = torch.from_numpy(matrix.toarray()) @ dense
    torch.testing.assert_close(product(to_torch(matrix), dense), expected)


@pytest.mark.parametrize("width", [2, 64])
@pytest.mark.parametrize("rows", [29, 31])
def test_a_dense_matrix_with_other_rows_is_refused(rows, width):
    with pytest.raises(ValueError, match="40 × 30 matrix cannot be multiplied"):
        product(to_torch(csr(40, 30, 0.1)), torch.ones(rows, width))


@pytest.mark.parametrize("width", [2, 64])
def test_an_operator_with_long_indices(width):
    matrix = csr(40, 30, 0.1)
    long = torch.from_numpy(matrix.toarray()).to_sparse_csr()
    assert long.crow_indices().dtype == torch.int64
    dense = torch.randn(30, width)
    torch.testing.assert_close(product(long, dense), torch.from_numpy(matrix.toarray()) @ dense)


def test_what_was_in_the_memory_before_does_not_matter(monkeypatch):
    real = torch.Tensor.new_empty
    monkeypatch.setattr(torch.Tensor, "new_empty", lambda self, *size: real(self, *size).fill_(float("nan")))
    matrix = csr(40, 30, 0.02)  # with empty rows
    dense = torch.randn(30, 67)
    expected = torch.from_numpy(matrix.toarray()) @ dense
    torch.testing.assert_close(product(to_torch(matrix), dense), expected)


@pytest.mark.parametrize("layout", ["columns first", "every second column"])
def test_any_layout_of_the_dense_matrix(layout):
    matrix = csr(40, 30, 0.1)
    dense = torch.randn(100, 30).t() if layout == "columns first" else torch.randn(30, 200)[:, ::2]
    expected = torch.from_numpy(matrix.toarray()) @ dense
    torch.testing.assert_close(product(to_torch(matrix), dense), expected)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 40),
    width=st.integers(1, 20) | st.integers(32, 70),
    block=st.integers(1, 50),
    density=st.floats(0, 1),
    seed=st.integers(0, 1000),
)
def test_a_transpose_cut_anywhere_is_the_transpose(rows, columns, width, block, density, seed):
    matrix = csr(rows, columns, density, seed)
    dense = torch.from_numpy(np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "BLOCK", block)
        patch.setattr(products, "ENTRIES_PER_BLOCK_ROW", 0)
        found, order = transposed(matrix)
    assert isinstance(found, SideBySide) == (rows > block)
    assert found.shape == (columns, rows)
    torch.testing.assert_close(found.to_dense(), torch.from_numpy(matrix.T.toarray()), rtol=0, atol=0)
    assert torch.equal(found.values(), torch.from_numpy(matrix.data)[order])
    torch.testing.assert_close(product(found, dense), torch.from_numpy(matrix.toarray()).T @ dense)


def test_full_columns_are_cut_and_thin_ones_are_not():
    nodes, features = 2 * BLOCK + 1, 4  # three blocks
    for per_row, cut in ((ENTRIES_PER_BLOCK_ROW, True), (ENTRIES_PER_BLOCK_ROW - 1, False)):
        entries = 3 * per_row * features
        at = np.arange(entries)
        matrix = sp.csr_matrix((np.ones(entries), (at % nodes, at % features)), shape=(nodes, features))
        assert matrix.nnz == entries
        assert isinstance(transposed(matrix)[0], SideBySide) == cut
    assert not isinstance(transposed(csr(BLOCK, 4, 1.0))[0], SideBySide)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (5, 4)])
def test_nothing_in_it(shape):
    empty = sp.csr_matrix(shape, dtype=np.float32)
    found, order = transposed(empty)
    assert found.shape == shape[::-1]
    assert order.numel() == 0
    for width in (2, 64):
        assert product(to_torch(empty), torch.ones(shape[1], width)).tolist() == [[0] * width] * shape[0]


def test_an_operator_with_a_cut_transpose_has_the_dense_gradient(cut_everything):
    matrix = csr(11, 5, 0.4)
    operator = SparseOperator.from_scipy(matrix)
    assert isinstance(operator.transpose, SideBySide)
    h = torch.randn(5, 7, requires_grad=True)
    upstream = torch.randn(11, 7)
    (operator @ h).backward(upstream)
    torch.testing.assert_close(h.grad, torch.from_numpy(matrix.toarray()).T @ upstream)
    back = operator.transposed()
    assert back.shape == (5, 11)
    torch.testing.assert_close(back @ upstream, h.grad)
    torch.testing.assert_close(operator.transpose.to("cpu").to_dense(), operator.transpose.to_dense())


def test_dropout_strikes_the_same_entries_of_a_cut_transpose(cut_everything):
    torch.manual_seed(0)
    dropped = SparseOperator.from_scipy(csr(50, 20, 0.4)).dropout(0.5)
    assert isinstance(dropped.transpose, SideBySide)
    kept = dropped.matrix.to_dense()
    assert 0 < int((kept == 0).sum()) < kept.numel()
    torch.testing.assert_close(dropped.transpose.to_dense(), kept.T.contiguous(), rtol=0, atol=0)


def test_the_arrays_of_a_matrix_are_asked_for_once_and_go_with_it():
    import gc

    from otherhalf.nn.ops.products import _ARRAYS, arrays_of

    matrix = to_torch(sp.csr_matrix(SMALL))
    before = len(_ARRAYS)
    crow, col, values = arrays_of(matrix)
    assert arrays_of(matrix)[0] is crow
    assert (crow.tolist(), col.tolist(), values.tolist()) == (
        [0, 3, 3, 6],
        [0, 2, 4, 0, 1, 3],
        [1, 2, 3, 4, 5, 6],
    )
    assert len(_ARRAYS) == before + 1
    matrix.values().mul_(2)  # the same memory
    assert product(matrix, torch.ones(5, 40))[:, 0].tolist() == [12, 0, 30]
    del matrix
    gc.collect()
    assert len(_ARRAYS) == before
    assert arrays_of(torch.eye(3).to_sparse_csr()) is None  # its indices are 64-bit numbers
