"""Propagation by row partitions: the same bits however rows and columns are divided."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.nn import propagation
from otherhalf.nn.propagation import blocks_of, needed_columns, propagate, propagate_rows
from otherhalf.system.row_blocks import RowBlocks


def drawn(rows, columns, width, seed, density=0.2):
    draw = np.random.default_rng(seed)
    matrix = sp.random(rows, columns, density, "csr", np.float32, random_state=seed)
    return matrix, draw.standard_normal((columns, width)).astype(np.float32)


def test_rows_of_a_product_are_those_of_the_dense_one():
    matrix, x = drawn(40, 30, 9, 0)
    matrix = sp.csr_matrix(sp.vstack([matrix, sp.csr_matrix((3, 30), dtype=np.float32)]))  # empty rows
    dense = matrix.toarray().astype(np.float64) @ x.astype(np.float64)
    assert np.allclose(propagate_rows(matrix, x), dense, atol=1e-5)
    assert not propagate_rows(matrix, x)[40:].any()


@given(seed=st.integers(0, 100), cut=st.integers(0, 40), chunk=st.integers(1, 80))
def test_partitions_and_chunks_are_bit_equal(seed, cut, chunk):
    matrix, x = drawn(40, 25, 70, seed)
    whole = propagate_rows(matrix, x)
    parts = [propagate_rows(part, x, chunk=chunk) for part in (matrix[:cut], matrix[cut:])]
    assert np.array_equal(np.vstack(parts), whole)
    chosen = np.random.default_rng(seed).integers(0, 40, 7)
    local, columns = needed_columns(matrix[chosen])
    assert np.array_equal(propagate_rows(local, x[columns], chunk=chunk), whole[chosen])
    assert (np.diff(columns) > 0).all()
    assert set(columns) == set(matrix[chosen].indices)


@pytest.mark.parametrize("rows", [0, 1, 40])
def test_columns_that_are_marked_are_those_that_are_sorted(rows, monkeypatch):
    matrix, _ = drawn(40, 25, 1, 3)
    found = []
    for marked in (0, 10**6):
        monkeypatch.setattr(propagation, "MARKED", marked)
        found.append(needed_columns(matrix[:rows]))
    (first, columns), (second, others) = found
    assert np.array_equal(columns, others)
    assert columns.dtype == others.dtype
    assert first.shape == second.shape
    assert np.array_equal(first.toarray(), second.toarray())


def test_threads_do_not_change_a_bit():
    matrix, x = drawn(3000, 3000, 64, 0, density=0.02)
    before = torch.get_num_threads()
    results = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        results.append(propagate_rows(matrix, x))
    torch.set_num_threads(before)
    assert np.array_equal(*results)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("chunk", [3, 64])
def test_files_and_memory_are_bit_equal(tmp_path, dtype, chunk):
    matrix, x = drawn(30, 30, 10, 1)
    inside = propagate(matrix, blocks_of(x, None, "x", dtype), RowBlocks(30, 10, dtype=dtype, block_rows=7))
    source = blocks_of(x, tmp_path, "x", dtype)
    out = RowBlocks(30, 10, tmp_path / "out", dtype=dtype, block_rows=7)
    mapped = propagate(matrix, source, out, chunk=chunk)
    assert np.array_equal(mapped.rows(0, 30), inside.rows(0, 30))
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".rows"}
    rounded = x.astype(dtype).astype(np.float32)
    assert np.array_equal(mapped.rows(0, 30), propagate_rows(matrix, rounded).astype(dtype))
    assert blocks_of(source, tmp_path, "x") is source


def test_rows_in_another_order_of_their_entries_are_the_same():
    matrix, x = drawn(20, 20, 5, 2)
    shuffled = matrix.copy()
    for start, stop in zip(shuffled.indptr[:-1], shuffled.indptr[1:], strict=True):
        for part in (shuffled.indices, shuffled.data):
            part[start:stop] = part[start:stop][::-1].copy()
    shuffled.has_sorted_indices = False
    assert np.array_equal(propagate_rows(shuffled, x), propagate_rows(matrix, x))


def test_shapes_must_fit():
    matrix, x = drawn(5, 4, 2, 0)
    with pytest.raises(ValueError, match="4 columns cannot be multiplied by 3 rows"):
        propagate_rows(matrix, x[:3])
