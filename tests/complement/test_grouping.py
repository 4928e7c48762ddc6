"""The closed form of the grouping loss against the sum over all pairs, written out."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement.grouping import grouping_loss


def over_all_pairs(z: torch.Tensor, y: list[int]) -> torch.Tensor:
    """Section 4.2 as it stands there: every pair (i, j), i ≠ j, one by one."""
    eps = 1e-8
    same = [z[i] @ z[j] for i in range(len(y)) for j in range(len(y)) if i != j and y[i] == y[j]]
    other = [z[i] @ z[j] for i in range(len(y)) for j in range(len(y)) if y[i] != y[j]]
    loss = z.new_zeros(())
    if same:
        loss = loss - torch.log(torch.sigmoid(sum(same) / len(same)) + eps)
    if other:
        loss = loss - torch.log(1 - torch.sigmoid(sum(other) / len(other) + eps))
    return loss


def test_four_nodes_by_hand():
    z = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    # Class 0: z0·z1 = 2. Class 1: z2·z3 = 1. Mean 1.5. Between: z0·z2 = 0, z0·z3 = 1, z1·z2 = 1, z1·z3 = 3.
    expected = math.log(1 + math.exp(-1.5)) + math.log(1 + math.exp(5 / 4))
    assert float(grouping_loss(z, torch.tensor([0, 0, 1, 1]))) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "y",
    [
        [0, 0, 0, 1, 1, 2, 2, 2],
        [0, 0, 0, 0, 0, 0, 0, 1],  # a class with one node
        [5, 5, 5, 5, 5, 5, 5, 5],  # one class: no pair between classes
        [0, 1, 2, 3, 4, 5, 6, 7],  # one node each: no pair within a class
        [7, 2, 7, 2, 100, 7, 2, 7],  # codes need not be 0 … C−1
    ],
)
def test_values_and_gradients_equal_the_sum_over_all_pairs(y):
    torch.manual_seed(0)
    z = torch.randn(8, 3, dtype=torch.float64)
    closed, literal = z.clone().requires_grad_(), z.clone().requires_grad_()
    ours, expected = grouping_loss(closed, torch.tensor(y)), over_all_pairs(literal, y)
    torch.testing.assert_close(ours, expected)
    ours.backward()
    expected.backward()
    torch.testing.assert_close(closed.grad, literal.grad)


@settings(deadline=None, max_examples=50)
@given(
    y=st.lists(st.integers(0, 3), min_size=2, max_size=8),
    width=st.integers(1, 4),
    scale=st.floats(0.01, 2.0),
    seed=st.integers(0, 1000),
)
def test_any_classes(y, width, scale, seed):
    z = scale * torch.randn(len(y), width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(grouping_loss(z, torch.tensor(y)), over_all_pairs(z, y))


def test_large_dot_products_between_classes_give_a_large_loss_not_infinity():
    z = torch.full((4, 1), 20.0, requires_grad=True)  # every dot product is 400, and 1 − sigmoid(400) is 0
    loss = grouping_loss(z, torch.tensor([0, 0, 1, 1]))
    loss.backward()
    assert loss.item() == pytest.approx(400.0, rel=1e-5)
    assert bool(torch.isfinite(z.grad).all())
    assert bool((z.grad > 0).all())


def test_large_negative_dot_products_within_a_class_stop_at_the_epsilon():
    z = torch.tensor([[20.0], [-20.0]])
    assert float(grouping_loss(z, torch.tensor([0, 0]))) == pytest.approx(-math.log(1e-8), rel=1e-6)
