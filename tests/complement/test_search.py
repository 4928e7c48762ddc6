"""Top-K by row blocks against a full stable sort."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from otherhalf.complement import search
from otherhalf.complement.search import cosines, dot_products, top_k, unit_rows

NAN = float("nan")


def literal_top_k(block: torch.Tensor, k: int, *, largest: bool) -> tuple[list[list[int]], list[list[float]]]:
    """Sort every row in full: by value, then by index; NaN left out; −1 and NaN where the row is short."""
    indices, values = [], []
    for row in block.tolist():
        allowed = [(value, index) for index, value in enumerate(row) if value == value]
        allowed.sort(key=lambda pair: (-pair[0] if largest else pair[0], pair[1]))
        best = allowed[:k] + [(NAN, -1)] * (k - len(allowed[:k]))
        indices.append([index for _, index in best])
        values.append([value for value, _ in best])
    return indices, values


def assert_top_k(block: torch.Tensor, k: int, *, largest: bool) -> None:
    found, scores = top_k(
        lambda queries: block[queries], torch.arange(len(block)), block.shape[1], k, largest=largest
    )
    indices, values = literal_top_k(block, k, largest=largest)
    assert found.dtype == torch.int64
    assert found.tolist() == indices
    np.testing.assert_array_equal(scores.numpy(), np.array(values, dtype=np.float32).reshape(len(block), k))


BLOCK = torch.tensor([[3.0, 1.0, 3.0, NAN, 2.0, 3.0], [NAN, -1.0, 0.0, -1.0, -0.0, 5.0]])


def test_ties_by_hand():
    found, scores = top_k(lambda q: BLOCK[q], torch.arange(2), 6, 2, largest=True)
    assert found.tolist() == [[0, 2], [5, 2]]  # of three 3s the first two; of 0 and −0 the first
    assert scores.tolist() == [[3, 3], [5, 0]]
    found, scores = top_k(lambda q: BLOCK[q], torch.arange(2), 6, 2, largest=False)
    assert found.tolist() == [[1, 4], [1, 3]]
    assert scores.tolist() == [[1, 2], [-1, -1]]


def test_more_wanted_than_there_are():
    found, scores = top_k(lambda q: BLOCK[q], torch.arange(2), 6, 8, largest=True)
    assert found.tolist() == [[0, 2, 5, 4, 1, -1, -1, -1], [5, 2, 4, 1, 3, -1, -1, -1]]
    assert scores[:, 5:].isnan().all()
    assert not scores[:, :5].isnan().any()


def test_nothing_to_choose_from():
    found, scores = top_k(lambda q: torch.full((len(q), 3), NAN), torch.arange(2), 3, 2, largest=True)
    assert found.tolist() == [[-1, -1], [-1, -1]]
    assert scores.isnan().all()


values = st.one_of(
    st.integers(-2, 2).map(float),  # ties everywhere
    st.floats(-(2.0**100), 2.0**100, width=32),
    st.just(NAN),
    st.sampled_from([0.0, -0.0, 1e-45, -1e-45, 3.4028235e38, -3.4028235e38]),
)


@settings(deadline=None, max_examples=200)
@given(
    block=hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=values),
    k=st.integers(1, 11),
    largest=st.booleans(),
)
def test_any_values_equal_a_full_stable_sort(block, k, largest):
    assert_top_k(torch.from_numpy(block), k, largest=largest)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 5, 29, 30, 40])
@pytest.mark.parametrize("entries", [search.BLOCK_ENTRIES, 100, 31, 1])
def test_integer_embeddings_in_row_blocks_of_any_size(entries, k, largest, monkeypatch):
    monkeypatch.setattr(search, "BLOCK_ENTRIES", entries)
    torch.manual_seed(0)
    z = torch.randint(-1, 2, (30, 4)).float()  # dot products are integers −4 … 4: ties in every row
    everyone = torch.arange(30)
    done = []
    found, _ = top_k(
        dot_products(z, everyone, exclude_self=True), everyone, 30, k, largest=largest, on_rows=done.append
    )
    block = z @ z.T
    block.fill_diagonal_(NAN)
    assert found.tolist() == literal_top_k(block, k, largest=largest)[0]
    rows = max(1, entries // 30)
    assert max(done) == min(rows, 30)
    assert sum(done) == 30


@pytest.mark.parametrize("largest", [True, False])
def test_wide_rows(largest):
    torch.manual_seed(0)
    assert_top_k(torch.randint(-50, 50, (20, 3000)).float(), 10, largest=largest)
    assert_top_k(torch.randn(20, 3000), 10, largest=largest)


# ---------------------------------------------------------------------- dot products


def test_dot_products_of_some_against_some():
    z = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    block = dot_products(z, torch.tensor([2, 0]), exclude_self=False)(torch.tensor([0, 1, 2]))
    assert block.tolist() == [[3, 1], [2, 0], [10, 3]]


def test_only_a_query_that_is_a_candidate_has_itself_left_out():
    z = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    block = dot_products(z, torch.tensor([2, 0]), exclude_self=True)(torch.tensor([2, 1]))
    assert block.nan_to_num(-99.0).tolist() == [[-99, 3], [2, 0]]
    assert z.isfinite().all()


# ---------------------------------------------------------------------- cosines


def test_unit_rows_by_hand():
    unit = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]], dtype=np.float32))
    np.testing.assert_allclose(unit, [[0.6, 0.8], [0, 0], [0, -1]], rtol=1e-6)
    assert unit.dtype == np.float32


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_unit_rows_of_the_smallest_and_the_largest_numbers(kind):
    """The reciprocal of 1e-39 is infinite in single precision, and that of 3e38 has few bits."""
    x = np.zeros((4, 200), dtype=np.float32)
    x[:3, :2] = [[-1e-39, 0.0], [3e38, 3e38], [3.0, 4.0]]
    unit = unit_rows(kind(x))
    dense = unit.toarray() if sp.issparse(unit) else unit
    assert dense.dtype == np.float32
    root = np.sqrt(0.5)
    np.testing.assert_allclose(dense[:, :2], [[-1, 0], [root, root], [0.6, 0.8], [0, 0]], rtol=1e-6)


def sparse_features(columns: int) -> sp.csr_matrix:
    x = np.zeros((5, columns), dtype=np.float32)
    x[0, [0, 1]] = 3, 4
    x[1, [0, 1]] = -4, 3
    x[2, 1] = 2
    x[3, [2, 7]] = 1, 1  # row 4 is zero
    return sp.csr_matrix(x)


@pytest.mark.parametrize(("columns", "stays_sparse"), [(100, True), (10, False)])
def test_cosines_of_sparse_rows_by_hand(columns, stays_sparse):
    # 7 entries of 500 are fewer than 3 %, of 50 more.
    unit = unit_rows(sparse_features(columns))
    assert sp.issparse(unit) == stays_sparse
    block = cosines(unit, torch.tensor([0, 2, 4]))(torch.tensor([0, 1, 2, 3]))
    expected = torch.tensor([[NAN, 0.8, 0.0], [0.0, 0.6, 0.0], [0.8, NAN, 0.0], [0.0, 0.0, 0.0]])
    torch.testing.assert_close(block, expected, equal_nan=True, atol=1e-6, rtol=0)


def test_all_features_zero():
    unit = unit_rows(sp.csr_matrix((4, 50), dtype=np.float32))
    block = cosines(unit, torch.tensor([0, 1]))(torch.tensor([1, 3]))
    assert block.nan_to_num(-99.0).tolist() == [[0, -99], [0, 0]]


@pytest.mark.parametrize("sparse", [False, True])
def test_cosines_equal_the_formula(sparse):
    dense = sp.random(12, 300, density=0.02, random_state=3, dtype=np.float32, format="csr")
    x = dense if sparse else dense.toarray()
    candidates = torch.tensor([11, 0, 5, 7])
    block = cosines(unit_rows(x), candidates)(torch.arange(12))
    rows = dense.toarray().astype(np.float64)
    for i in range(12):
        for column, j in enumerate(candidates.tolist()):
            if i == j:
                assert block[i, column].isnan()
                continue
            norms = np.linalg.norm(rows[i]) * np.linalg.norm(rows[j])
            assert float(block[i, column]) == pytest.approx(
                rows[i] @ rows[j] / norms if norms else 0, abs=1e-6
            )
