"""Sparse products against dense ones, in both directions."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.ops.products import SideBySide, to_torch
from otherhalf.nn.ops.sparse import (
    SparseOperator,
    mean_adjacency,
    mean_matrix,
    normalized_adjacency,
    normalized_matrix,
    scaled,
    with_loops,
)

# [4, 5], not symmetric, row 2 and column 3 empty.
DENSE = np.array(
    [
        [0.0, 2.0, 0.0, 0.0, -1.0],
        [3.0, 0.0, 0.5, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 4.0, 0.0, 0.0, 1.5],
    ],
    dtype=np.float32,
)


COPY = "cpu:0"  # torch holds it for another device than "cpu", so everything is copied


def dense_of(operator: SparseOperator) -> torch.Tensor:
    return operator.matrix.to_dense()


def in_double(operator: SparseOperator) -> SparseOperator:
    return SparseOperator(
        operator.matrix.to(torch.float64), operator.transpose.to(torch.float64), operator._transpose_order
    )


# ---------------------------------------------------------------------- products


def test_product_and_gradient_equal_the_dense_ones():
    operator = SparseOperator.from_scipy(sp.csr_matrix(DENSE))
    torch.manual_seed(0)
    h, weights = torch.randn(5, 3), torch.randn(4, 3)
    sparse_h, dense_h = h.clone().requires_grad_(), h.clone().requires_grad_()
    product = operator @ sparse_h
    expected = torch.from_numpy(DENSE) @ dense_h
    torch.testing.assert_close(product, expected)
    (product * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(sparse_h.grad, dense_h.grad)


def test_product_passes_gradcheck():
    operator = in_double(SparseOperator.from_scipy(sp.csr_matrix(DENSE)))
    h = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda h: operator @ h, (h,))


def test_a_gradient_that_is_not_contiguous():
    # The sum over a transposed view hands the backward pass an expanded, strided gradient.
    operator = SparseOperator.from_scipy(sp.csr_matrix(DENSE))
    h = torch.ones(5, 2, requires_grad=True)
    (operator @ h).T.sum().backward()
    column_sums = DENSE.sum(axis=0)
    torch.testing.assert_close(h.grad, torch.from_numpy(np.stack([column_sums, column_sums], axis=1)))


def test_the_matrix_itself_is_not_differentiated():
    operator = SparseOperator.from_scipy(sp.csr_matrix(DENSE))
    values = operator.matrix.values().clone().requires_grad_()
    matrix = torch.sparse_csr_tensor(
        operator.matrix.crow_indices(), operator.matrix.col_indices(), values, (4, 5), check_invariants=True
    )
    h = torch.ones(5, 2, requires_grad=True)
    (SparseOperator(matrix, operator.transpose, None) @ h).sum().backward()
    assert values.grad is None
    torch.testing.assert_close(h.grad[:, 0], torch.from_numpy(DENSE.sum(axis=0)))


def test_shape():
    assert SparseOperator.from_scipy(sp.csr_matrix(DENSE)).shape == (4, 5)


def test_a_symmetric_matrix_is_kept_once():
    path = sp.csr_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32))
    operator = SparseOperator.from_scipy(path, symmetric=True)
    assert operator.transpose is operator.matrix
    assert operator.symmetric
    assert operator.transposed() is operator
    assert operator.to(COPY).symmetric
    assert not SparseOperator.from_scipy(path).symmetric  # nobody guaranteed it


def test_indices_are_int32_as_the_fast_product_takes_them():
    operator = SparseOperator.from_scipy(sp.csr_matrix(DENSE))
    for matrix in (operator.matrix, operator.transpose):
        assert matrix.crow_indices().dtype == matrix.col_indices().dtype == torch.int32


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix])
def test_any_scipy_format_in_any_number_type(kind):
    operator = SparseOperator.from_scipy(kind(DENSE.astype(np.float64)))
    torch.testing.assert_close(dense_of(operator), torch.from_numpy(DENSE))
    torch.testing.assert_close(operator.transpose.to_dense(), torch.from_numpy(DENSE.T.copy()))


def test_repeated_entries_add_up_and_the_callers_matrix_stays_as_it_was():
    # Row 0 holds column 2 twice and its columns out of order: 1 + 4 at column 2, 2 at column 0.
    parts = [np.array([1.0, 2.0, 4.0, 8.0], dtype=np.float32), np.array([2, 0, 2, 1]), np.array([0, 3, 4])]
    given_matrix = sp.csr_matrix(tuple(part.copy() for part in parts), shape=(2, 3))
    operator = SparseOperator.from_scipy(given_matrix)
    expected = torch.tensor([[2.0, 0.0, 5.0], [0.0, 8.0, 0.0]])
    torch.testing.assert_close(dense_of(operator), expected)
    torch.testing.assert_close(operator.transpose.to_dense(), expected.T.contiguous())
    for now, before in zip(
        (given_matrix.data, given_matrix.indices, given_matrix.indptr), parts, strict=True
    ):
        np.testing.assert_array_equal(now, before)


def test_transposed():
    operator = SparseOperator.from_scipy(sp.csr_matrix(DENSE)).transposed()
    assert operator.shape == (5, 4)
    h = torch.randn(4, 2, requires_grad=True)
    product = operator @ h
    torch.testing.assert_close(product, torch.from_numpy(DENSE.T.copy()) @ h)
    product.sum().backward()
    torch.testing.assert_close(h.grad[:, 0], torch.from_numpy(DENSE.sum(axis=1)))


def test_moving_to_the_device_it_is_on_is_free():
    operator = SparseOperator.from_scipy(sp.csr_matrix(DENSE))
    assert operator.to("cpu") is operator


def test_only_a_symmetric_operator_is_symmetric():
    operator = SparseOperator.from_scipy(sp.csr_matrix(DENSE[:, :4]))
    for other in (operator, operator.transposed(), operator.to(COPY), operator.transposed().to(COPY)):
        assert not other.symmetric
        assert not other.transposed().symmetric


@pytest.mark.parametrize("device", [COPY, "meta"])
def test_a_transpose_on_another_device_keeps_its_own_transpose(device):
    # A transpose has no order of entries; it was once taken for a symmetric operator.
    moved = SparseOperator.from_scipy(sp.csr_matrix(DENSE)).transposed().to(device)
    assert moved.shape == (5, 4)
    assert tuple(moved.transpose.shape) == (4, 5)
    assert {moved.matrix.device.type, moved.transpose.device.type} == {torch.device(device).type}
    assert moved.transposed().shape == (4, 5)


@pytest.mark.parametrize("columns", [4, 5])
def test_gradient_through_a_transpose_on_another_device(columns):
    # Square, where a wrong transpose has the right shape, and not.
    dense = DENSE[:, :columns]
    moved = SparseOperator.from_scipy(sp.csr_matrix(dense)).transposed().to(COPY)
    h, weights = torch.randn(4, 3, requires_grad=True), torch.randn(columns, 3)
    product = moved @ h
    torch.testing.assert_close(product, torch.from_numpy(dense.T.copy()) @ h)
    (product * weights).sum().backward()
    torch.testing.assert_close(h.grad, torch.from_numpy(dense) @ weights)


def test_dropout_of_a_moved_operator_follows_into_its_transpose():
    torch.manual_seed(0)
    matrix = sp.random(40, 30, density=0.3, format="csr", dtype=np.float32, random_state=1)
    dropped = SparseOperator.from_scipy(matrix).to(COPY).dropout(0.5)
    torch.testing.assert_close(dropped.transpose.to_dense(), dense_of(dropped).T.contiguous())


# ---------------------------------------------------------------------- dropout


def test_dropped_operator_and_its_transpose_hold_the_same_entries():
    torch.manual_seed(0)
    matrix = sp.random(40, 30, density=0.3, format="csr", dtype=np.float32, random_state=1)
    dropped = SparseOperator.from_scipy(matrix).dropout(0.5)
    dense = dense_of(dropped)
    assert 0 < int((dense != 0).sum()) < matrix.nnz
    torch.testing.assert_close(dropped.transpose.to_dense(), dense.T.contiguous())
    again = dropped.dropout(0.5)  # the order of the transpose must have been handed on
    torch.testing.assert_close(again.transpose.to_dense(), dense_of(again).T.contiguous())


def test_gradient_of_a_dropped_operator_is_that_of_the_dropped_matrix():
    torch.manual_seed(0)
    dropped = SparseOperator.from_scipy(sp.csr_matrix(DENSE)).dropout(0.5)
    h = torch.randn(5, 2, requires_grad=True)
    weights = torch.randn(4, 2)
    ((dropped @ h) * weights).sum().backward()
    torch.testing.assert_close(h.grad, dense_of(dropped).T @ weights)


def test_dropout_keeps_or_doubles_at_one_half():
    torch.manual_seed(0)
    matrix = sp.random(50, 50, density=0.4, format="csr", dtype=np.float32, random_state=1)
    before = SparseOperator.from_scipy(matrix)
    ratio = before.dropout(0.5).matrix.values() / before.matrix.values()
    assert set(ratio.tolist()) == {0.0, 2.0}
    assert float(ratio.mean()) == pytest.approx(1.0, abs=0.15)  # 1000 entries: 0.03 per deviation


def test_dropout_is_determined_by_the_seed():
    operator = SparseOperator.from_scipy(sp.random(30, 30, density=0.5, format="csr", random_state=1))
    torch.manual_seed(5)
    first = operator.dropout(0.5).matrix.values()
    second = operator.dropout(0.5).matrix.values()
    torch.manual_seed(5)
    assert torch.equal(operator.dropout(0.5).matrix.values(), first)
    assert not torch.equal(first, second)


def test_no_dropout_gives_the_operator_itself_and_leaves_the_original_alone():
    operator = SparseOperator.from_scipy(sp.csr_matrix(DENSE))
    assert operator.dropout(0.0) is operator
    operator.dropout(0.9)
    torch.testing.assert_close(dense_of(operator), torch.from_numpy(DENSE))


def test_a_symmetric_operator_refuses_dropout():
    operator = normalized_adjacency(sp.csr_matrix(np.array([[0, 1], [1, 0]])))
    with pytest.raises(ValueError, match="dropout would break the symmetry of this operator"):
        operator.dropout(0.5)


def test_a_transpose_refuses_dropout_for_its_own_reason():
    operator = SparseOperator.from_scipy(sp.csr_matrix(DENSE)).transposed()
    with pytest.raises(ValueError, match="dropout needs an operator made by from_scipy, not its transpose"):
        operator.dropout(0.5)


# ---------------------------------------------------------------------- normalisation

# A path 0 – 1 – 2 and a node 3 without neighbours.
PATH = sp.csr_matrix(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]))


def test_normalised_path_by_hand():
    s = 1 / np.sqrt(2)  # each edge joins degrees 1 and 2
    expected = torch.tensor([[0, s, 0, 0], [s, 0, s, 0], [0, s, 0, 0], [0, 0, 0, 0]], dtype=torch.float32)
    torch.testing.assert_close(dense_of(normalized_adjacency(PATH)), expected)


def test_normalised_path_with_self_loops_by_hand():
    s = 1 / np.sqrt(6)  # the degrees are 2, 3, 2 and 1
    expected = torch.tensor(
        [[1 / 2, s, 0, 0], [s, 1 / 3, s, 0], [0, s, 1 / 2, 0], [0, 0, 0, 1]], dtype=torch.float32
    )
    torch.testing.assert_close(dense_of(normalized_adjacency(PATH, self_loops=True)), expected)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), nodes=st.integers(2, 9), density=st.floats(0.0, 1.0))
def test_normalisation_equals_the_dense_formula(seed, nodes, density):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) < density, k=1)
    adjacency = (upper | upper.T).astype(np.float64)
    degree = adjacency.sum(axis=1)
    root = np.diag([d**-0.5 if d > 0 else 0.0 for d in degree])
    operator = normalized_adjacency(sp.csr_matrix(adjacency))
    np.testing.assert_allclose(dense_of(operator).numpy(), root @ adjacency @ root, atol=1e-6)
    assert torch.equal(dense_of(operator), dense_of(operator).T)  # the promise the backward pass rests on


def test_mean_of_a_path_by_hand():
    expected = torch.tensor([[0, 1, 0, 0], [1 / 2, 0, 1 / 2, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    torch.testing.assert_close(dense_of(mean_adjacency(PATH)), expected)


def test_mean_of_a_path_with_self_loops_by_hand():
    h, t = 1 / 2, 1 / 3  # a node alone has itself
    expected = torch.tensor([[h, h, 0, 0], [t, t, t, 0], [0, h, h, 0], [0, 0, 0, 1]])
    torch.testing.assert_close(dense_of(mean_adjacency(PATH, self_loops=True)), expected)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(2, 9),
    density=st.floats(0.0, 1.0),
    self_loops=st.booleans(),
)
def test_mean_equals_the_dense_formula_both_ways(seed, nodes, density, self_loops):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) < density, k=1)
    adjacency = (upper | upper.T).astype(np.float32)
    before = sp.csr_matrix(adjacency)
    operator = mean_adjacency(before, self_loops=self_loops)
    np.testing.assert_array_equal(before.toarray(), adjacency)  # the caller's matrix stays as it was
    looped = adjacency + np.eye(nodes, dtype=np.float32) * self_loops
    expected = looped / np.maximum(looped.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(dense_of(operator).numpy(), expected, atol=1e-6)
    # It is not symmetric: the backward pass needs a transpose of its own.
    np.testing.assert_allclose(operator.transpose.to_dense().numpy(), expected.T, atol=1e-6)
    sums = dense_of(operator).sum(dim=1)
    torch.testing.assert_close(sums, torch.from_numpy((looped.sum(axis=1) > 0).astype(np.float32)))


def test_gradient_through_a_mean():
    h, weights = torch.randn(4, 2, requires_grad=True), torch.randn(4, 2)
    operator = mean_adjacency(PATH)
    ((operator @ h) * weights).sum().backward()
    torch.testing.assert_close(h.grad, dense_of(operator).T @ weights)


@pytest.mark.parametrize("self_loops", [False, True])
def test_the_operators_are_those_of_the_matrices(self_loops):
    for matrix, operator in ((normalized_matrix, normalized_adjacency), (mean_matrix, mean_adjacency)):
        found = matrix(PATH, self_loops=self_loops)
        assert isinstance(found, sp.csr_matrix)
        assert found.dtype == np.float32
        made = operator(PATH, self_loops=self_loops)
        np.testing.assert_array_equal(found.toarray(), dense_of(made).numpy())


def test_the_matrices_by_hand():
    s = 1 / np.sqrt(2)
    expected = [[0, s, 0, 0], [s, 0, s, 0], [0, s, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(normalized_matrix(PATH).toarray(), expected, rtol=1e-6)
    expected = [[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert mean_matrix(PATH).toarray().tolist() == expected


def test_the_mean_over_directed_edges():
    # 0 → 1, 0 → 2, 2 → 1: a row is the mean over the targets.
    arrows = sp.csr_matrix(np.array([[0, 1, 1], [0, 0, 0], [0, 1, 0]]))
    assert mean_matrix(arrows).toarray().tolist() == [[0, 0.5, 0.5], [0, 0, 0], [0, 1, 0]]


def test_matrices_of_a_graph_without_edges():
    nothing = sp.csr_matrix((3, 3))
    assert normalized_matrix(nothing).nnz == mean_matrix(nothing).nnz == 0
    np.testing.assert_array_equal(mean_matrix(nothing, self_loops=True).toarray(), np.eye(3))


def test_a_self_loop_is_as_heavy_as_the_mean_of_the_nodes_edges():
    # Node 0 has edges of 2 and 4, node 1 of 2, node 2 of 4, node 3 none.
    weights = sp.csr_matrix(np.array([[0, 2, 4, 0], [2, 0, 0, 0], [4, 0, 0, 0], [0, 0, 0, 0]], dtype=float))
    assert with_loops(weights).diagonal().tolist() == [3, 2, 4, 1]
    ones = sp.csr_matrix((weights > 0).astype(float))
    assert (with_loops(ones) != ones + sp.identity(4)).nnz == 0


@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("matrix", [normalized_matrix, mean_matrix])
def test_the_unit_of_the_weights_does_not_matter(matrix, self_loops):
    drawn = sp.random(30, 30, 0.2, random_state=0)
    weights = sp.csr_matrix(drawn + drawn.T)
    weights.setdiag(0)
    weights.eliminate_zeros()
    first, second = (matrix(each, self_loops=self_loops) for each in (weights, 1024 * weights))
    np.testing.assert_allclose(first.toarray(), second.toarray(), rtol=1e-6)


@pytest.mark.parametrize("nodes", [[], [3], [8, 2, 2, 0]])
def test_rows_of_an_operator_also_of_one_in_blocks(nodes):
    matrix = sp.random(9, 50, 0.2, "csr", np.float32, np.random.default_rng(0))
    operator = SparseOperator.from_scipy(matrix)
    blocks = [to_torch(sp.csr_matrix(part)) for part in (matrix[:, :20], matrix[:, 20:])]
    in_blocks = SparseOperator(SideBySide(blocks), operator.transpose)
    dense = torch.randn(50, 40)
    for each in (operator, in_blocks):
        chosen = each.rows(np.array(nodes, dtype=np.int64))
        assert chosen.shape == (len(nodes), 50)
        assert torch.equal(chosen.matrix.to_dense(), operator.matrix.to_dense()[nodes])
        assert torch.equal(chosen @ dense, (operator @ dense)[nodes])


def test_scaled_entries_have_the_bits_of_three_products():
    draw = np.random.default_rng(0)
    for shape in ((60, 60), (7, 60)):
        matrix = sp.random(*shape, density=0.1, format="csr", dtype=np.float32, random_state=draw)
        rows, columns = (draw.random(size, dtype=np.float32) for size in shape)
        found = scaled(matrix, rows, columns)
        product = sp.csr_matrix(sp.diags(rows) @ matrix @ sp.diags(columns))
        assert found.shape == product.shape
        assert found.dtype == np.float32
        assert np.array_equal(found.toarray(), product.toarray())
        assert np.array_equal(found.indices, product.indices)
