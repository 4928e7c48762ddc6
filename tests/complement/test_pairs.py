"""Inner products of listed pairs: the same as gathering the rows one by one, forwards and backwards."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement.pairs import ListedPairs, pair_products


def distinct(rows, length, generator):
    return torch.rand(rows, rows, generator=generator).topk(length).indices


def test_by_hand():
    z = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    pairs = ListedPairs(torch.tensor([[2, 1], [-1, 0], [-1, -1]]))
    found = pair_products(z, pairs)
    assert found.tolist() == [17, 11, 11]  # (0, 2), (0, 1), (1, 0)
    found.backward(torch.tensor([1.0, 10.0, 100.0]))
    # z_0 meets z_2 once and z_1 110 times.
    assert z.grad.tolist() == [[5 + 110 * 3, 6 + 110 * 4], [110, 220], [1, 2]]


def test_no_pair_at_all():
    z = torch.ones(2, 3, requires_grad=True)
    found = pair_products(z, ListedPairs(torch.full((2, 4), -1)))
    assert found.shape == (0,)
    found.sum().backward()
    assert z.grad.tolist() == [[0] * 3] * 2


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 9), st.integers(0, 99), st.booleans())
def test_any_lists(rows, length, width, seed, double):
    generator = torch.Generator().manual_seed(seed)
    lists = distinct(rows, min(length, rows), generator)
    lists = lists.where(torch.rand(lists.shape, generator=generator) > 0.2, -1)
    z = torch.randn(rows, width, generator=generator, dtype=torch.float64 if double else torch.float32)
    first, second = z.clone().requires_grad_(), z.clone().requires_grad_()
    source = torch.arange(rows)[:, None].expand_as(lists)[lists >= 0]
    literal = (second[source] * second[lists[lists >= 0]]).sum(1)
    found = pair_products(first, ListedPairs(lists))
    torch.testing.assert_close(found, literal)
    weights = torch.arange(1.0, len(found) + 1, dtype=z.dtype)
    (found * weights).sum().backward()
    (literal * weights).sum().backward()
    torch.testing.assert_close(first.grad, second.grad, rtol=1e-4, atol=1e-4)


def test_two_gradients_are_bit_equal():
    generator = torch.Generator().manual_seed(0)
    lists = distinct(3000, 20, generator)
    z = torch.randn(3000, 16, generator=generator)
    found = []
    for _ in range(2):
        each = z.clone().requires_grad_()
        pair_products(each, ListedPairs(lists)).square().sum().backward()
        found.append(each.grad)
    assert torch.equal(*found)
