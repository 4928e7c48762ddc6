"""The compiled attention against torch's own operations, whatever the graph, the widths and the threads."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.ops import compiled
from otherhalf.nn.ops.attention import HEADS, Neighbourhoods, attend

PATH = sp.csr_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))


def test_neighbourhoods_of_a_path_and_their_transposition():
    around = Neighbourhoods.from_scipy(PATH)
    pairs = list(zip(around.rows.tolist(), around.columns.tolist(), strict=True))
    assert pairs == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2)]
    values = torch.arange(1.0, 8.0)
    there, mirrored = torch.zeros(3, 3), torch.zeros(3, 3)
    there[around.rows, around.columns] = values
    mirrored[around.rows, around.columns] = values[around.reverse]
    torch.testing.assert_close(mirrored, there.T)
    assert around.to("cpu") is around
    moved = around.to("cpu:0")  # torch holds it for another device than cpu
    assert all(
        torch.equal(getattr(moved, part), getattr(around, part)) for part in ("crow", "col", "reverse")
    )


def test_a_self_loop_that_is_there_already_counts_once():
    looped = PATH.copy()
    looped.setdiag(1)
    one, two = (Neighbourhoods.from_scipy(a) for a in (PATH, looped))
    assert torch.equal(one.crow, two.crow)
    assert torch.equal(one.col, two.col)


# ---------------------------------------------------------------------- values and gradients


def inputs(nodes, width, seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(nodes, HEADS), (nodes, HEADS), (nodes, HEADS, width), (nodes, HEADS, width)]
    return [torch.randn(shape, generator=generator).to(dtype).requires_grad_() for shape in shapes]


def value_and_gradients(around, nodes, width, seed, dtype):
    sources, targets, h, weights = inputs(nodes, width, seed, dtype)
    out = attend(sources, targets, h, around)
    return out, *torch.autograd.grad((out * weights).sum(), [sources, targets, h])


@settings(deadline=None, max_examples=50)
@given(
    nodes=st.integers(1, 15),
    density=st.floats(0, 1),
    width=st.integers(1, 20),
    threads=st.integers(1, 4),
    seed=st.integers(0, 1000),
)
def test_values_and_gradients_are_those_in_double_precision(nodes, density, width, threads, seed):
    half = sp.random(nodes, nodes, density, format="csr", random_state=seed)
    around = Neighbourhoods.from_scipy(half + half.T)
    expected = value_and_gradients(around, nodes, width, seed, torch.float64)  # torch's own operations
    one = value_and_gradients(around, nodes, width, seed, torch.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "WORTH_A_THREAD", 1)
        patch.setattr(torch, "get_num_threads", lambda: threads)
        several = value_and_gradients(around, nodes, width, seed, torch.float32)
    for a, b, c in zip(one, several, expected, strict=True):
        assert torch.equal(a, b)
        torch.testing.assert_close(a.double(), c, rtol=1e-4, atol=1e-5)


def test_two_nodes_by_hand():
    """Node 0 attends to itself with score 0 and to node 1 with log 3: a quarter and three quarters."""
    around = Neighbourhoods.from_scipy(sp.csr_matrix(np.array([[0, 1], [1, 0]])))
    sources = torch.zeros(2, HEADS)
    sources[1] = np.log(3.0)
    h = torch.tensor([[4.0], [8.0]])[:, None].expand(2, HEADS, 1)
    out = attend(sources, torch.zeros(2, HEADS), h, around)
    torch.testing.assert_close(out, torch.full((2, HEADS, 1), 7.0))


def test_no_head_sees_another():
    around = Neighbourhoods.from_scipy(sp.csr_matrix(np.array([[0, 1], [1, 0]])))
    sources, targets, h, _ = inputs(2, 3, 0, torch.float32)
    before = attend(sources, targets, h, around).detach()
    with torch.no_grad():
        h[:, 5] += 1
        sources[:, 5] *= 2
    changed = (attend(sources, targets, h, around) != before).flatten(2).any(dim=2).any(dim=0)
    assert changed.tolist() == [head == 5 for head in range(HEADS)]


@pytest.mark.parametrize("shape", [(1, HEADS, 2), (3, HEADS, 2), (2, HEADS - 1, 2)])
def test_states_of_other_nodes_or_heads_are_refused(shape):
    around = Neighbourhoods.from_scipy(sp.csr_matrix(np.array([[0, 1], [1, 0]])))
    with pytest.raises(ValueError, match="attention over 2 nodes"):
        attend(torch.zeros(shape[:2]), torch.zeros(shape[:2]), torch.zeros(shape), around)
