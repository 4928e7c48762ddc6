"""Two products in a row against the dense formula in double precision."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.ops import chained as module
from otherhalf.nn.ops import compiled
from otherhalf.nn.ops.chained import ROWS, chained
from otherhalf.nn.ops.sparse import SparseOperator

COMPILED, NARROW = 32, 5  # columns: the first are multiplied by compiled code, the others by torch


def drawn(nodes: int, density: float, seed: int) -> SparseOperator:
    matrix = sp.random(nodes, nodes, density, "csr", np.float32, np.random.default_rng(seed))
    return SparseOperator.from_scipy(matrix)


def expected(first, second, x, outer, inner, against):
    m1, m2, x = (each.double() for each in (first.matrix.to_dense(), second.matrix.to_dense(), x))
    p = m1 @ x
    result = outer[0] * x + outer[1] * p + m2 @ (inner[0] * x + inner[1] * p)
    return result, p, [float((a * b.double()).sum()) for a in (x, p) for b in against]


def check(nodes, density, width, outer, inner, seed=0):
    first, second = drawn(nodes, density, seed), drawn(nodes, density, seed + 1)
    torch.manual_seed(seed)
    x, *against = torch.randn(3, nodes, width)
    result, p, dots = chained(first, second, x, outer, inner, keep=True, against=tuple(against))
    right, right_p, right_dots = expected(first, second, x, outer, inner, against)
    torch.testing.assert_close(result.double(), right, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(p.double(), right_p, rtol=1e-4, atol=1e-4)
    assert dots == pytest.approx(right_dots, rel=1e-4, abs=1e-2)
    # What is not wanted changes nothing.
    alone, none, no_dots = chained(first, second, x, outer, inner)
    torch.testing.assert_close(alone.double(), right, rtol=1e-4, atol=1e-4)
    assert (none, no_dots) == (None, [])


@pytest.mark.parametrize("width", [NARROW, COMPILED, COMPILED + 9])
@pytest.mark.parametrize("nodes", [1, 7, ROWS, 2 * ROWS + 1])
def test_it_is_the_dense_formula(nodes, width):
    check(nodes, 0.2, width, (0.7, 1.3), (-2.1, -0.4))


@pytest.mark.parametrize("width", [NARROW, COMPILED])
def test_matrices_without_entries(width):
    check(6, 0.0, width, (0.7, 1.3), (-2.1, -0.4))


@pytest.mark.parametrize("width", [NARROW, COMPILED])
def test_no_rows_at_all(width):
    none = SparseOperator.from_scipy(sp.csr_matrix((0, 0), dtype=np.float32))
    x = torch.empty(0, width)
    result, p, dots = chained(none, none, x, (1, 1), (1, 1), keep=True, against=(x, x))
    assert result.shape == p.shape == (0, width)
    assert dots == [0, 0, 0, 0]


factors = st.tuples(*[st.one_of(st.just(0.0), st.floats(-5, 5))] * 2)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 150), st.sampled_from([0.0, 0.02, 0.5]), st.integers(1, 70), factors, factors)
def test_any_size_and_factors(nodes, density, width, outer, inner):
    check(nodes, density, width, outer, inner, seed=nodes)


def test_the_compiled_loop_is_what_runs(monkeypatch):
    calls = []
    original = module.over_rows
    monkeypatch.setattr(module, "over_rows", lambda *args: calls.append(1) or original(*args))
    first, second, x = drawn(9, 0.3, 0), drawn(9, 0.3, 1), torch.randn(9, COMPILED)
    chained(first, second, x, (1, 1), (1, 1))
    assert len(calls) == 1
    chained(first, second, x[:, :NARROW], (1, 1), (1, 1))
    chained(first, second, x, (1, 1), (0, 0))  # there is no second product
    assert len(calls) == 1


def test_two_threads_give_the_same_matrices_as_one(monkeypatch):
    monkeypatch.setattr(compiled, "WORTH_A_THREAD", 1)
    first, second = drawn(300, 0.1, 0), drawn(300, 0.1, 1)
    x, *against = torch.randn(3, 300, COMPILED)
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            results.append(chained(first, second, x, (1, 2), (3, 4), keep=True, against=tuple(against)))
    finally:
        torch.set_num_threads(threads)
    one, two = results
    assert torch.equal(one[0], two[0])
    assert torch.equal(one[1], two[1])
    # Sums in another order: their rounding is that of their terms, not of what is left of them.
    assert one[2] == pytest.approx(two[2], rel=1e-5, abs=1e-3)


def test_inputs_stay_as_they_were():
    first, second, x = drawn(70, 0.1, 0), drawn(70, 0.1, 1), torch.randn(70, COMPILED)
    before = x.clone()
    chained(first, second, x, (1, 1), (1, 1), keep=True, against=(x, x))
    assert torch.equal(x, before)


def test_sizes_that_do_not_go_together_are_refused():
    # Compiled code would read out of bounds.
    first, second = drawn(9, 0.3, 0), drawn(8, 0.3, 1)
    with pytest.raises(ValueError, match=r"do not go with \(9, 32\)"):
        chained(first, second, torch.randn(9, COMPILED), (1, 1), (1, 1))
    with pytest.raises(ValueError, match=r"do not go with \(9,\)"):
        chained(first, first, torch.randn(9), (1, 1), (1, 1))
    x = torch.randn(9, COMPILED)
    with pytest.raises(ValueError, match=r"dot products need matrices of \(9, 32\)"):
        chained(first, first, x, (1, 1), (1, 1), against=(x, x[:5]))
