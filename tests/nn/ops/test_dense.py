"""X W by oneDNN: the same numbers as torch's own product, forwards and backwards."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.ops import dense
from otherhalf.nn.ops.dense import NARROW, dense_product

needs_onednn = pytest.mark.skipif(not dense._has_onednn(), reason="a torch without oneDNN")


def pair(rows, inner, columns, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, inner, generator=generator).requires_grad_()
    weight = torch.randn(inner, columns, generator=generator).requires_grad_()
    return x, weight


def with_gradients(multiply, x, weight):
    """X W, and the gradients of a sum in which every entry counts differently."""
    x, weight = x.detach().clone().requires_grad_(), weight.detach().clone().requires_grad_()
    out = multiply(x, weight)
    counts = torch.arange(1.0, out.numel() + 1).view(out.shape) / out.numel()
    (out * counts).sum().backward()
    return out.detach(), x.grad, weight.grad


def test_by_hand():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    weight = torch.tensor([[1.0], [10.0]], requires_grad=True)
    out = dense_product(x, weight)
    assert out.tolist() == [[21], [43], [65]]
    out.backward(torch.tensor([[1.0], [0.0], [2.0]]))
    assert x.grad.tolist() == [[1, 10], [0, 0], [2, 20]]
    assert weight.grad.tolist() == [[11], [14]]


@needs_onednn
@pytest.mark.parametrize("columns", [1, 7, NARROW, NARROW + 1, 133])
def test_gradients_on_both_sides_of_what_counts_as_narrow(columns):
    x, weight = pair(300, 41, columns)
    for ours, usual in zip(
        with_gradients(dense_product, x, weight), with_gradients(torch.mm, x, weight), strict=True
    ):
        torch.testing.assert_close(ours, usual, rtol=1e-4, atol=1e-4)


@given(rows=st.integers(0, 40), inner=st.integers(0, 20), columns=st.integers(0, 20), seed=st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_any_shape(rows, inner, columns, seed):
    x, weight = pair(rows, inner, columns, seed)
    for ours, usual in zip(
        with_gradients(dense_product, x, weight), with_gradients(torch.mm, x, weight), strict=True
    ):
        torch.testing.assert_close(ours, usual, rtol=1e-4, atol=1e-4)


@needs_onednn
def test_views_need_no_copy_of_the_caller():
    wide, tall = torch.randn(9, 12), torch.randn(8, 20)
    torch.testing.assert_close(dense_product(wide[:, 2:10], tall[:, ::2]), wide[:, 2:10] @ tall[:, ::2])
    torch.testing.assert_close(dense_product(wide.t(), tall[:, :9].t()[:, :5]), wide.t() @ tall[:5, :9].t())


@needs_onednn
def test_a_constant_needs_no_gradient():
    x, weight = pair(6, 5, 4)
    dense_product(x.detach(), weight).sum().backward()
    assert weight.grad is not None
    dense_product(x, weight.detach()).sum().backward()
    assert x.grad is not None


@needs_onednn
def test_only_single_precision_on_a_cpu_goes_to_onednn(monkeypatch):
    def fail(a, b):
        raise AssertionError("oneDNN was asked")

    monkeypatch.setattr(dense, "_times_transposed", fail)
    x, weight = pair(6, 5, 4)
    assert dense_product(x.double(), weight.double()).dtype == torch.float64
    with pytest.raises(AssertionError, match="oneDNN"):
        dense_product(x, weight)


def test_without_onednn_torch_multiplies(monkeypatch):
    monkeypatch.setattr(dense, "_ONEDNN", False)
    x, weight = pair(6, 5, 4)
    assert torch.equal(dense_product(x, weight), x @ weight)


def test_two_products_are_bit_equal():
    x, weight = pair(3000, 70, 12)
    first, second = (with_gradients(dense_product, x, weight) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
