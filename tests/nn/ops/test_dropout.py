"""Dropout from random bytes and bits: what it drops, how it scales, and that none is used twice."""

import pytest
import torch

from otherhalf.nn.ops.dropout import STEPS, dropout


@pytest.mark.parametrize("p", [0.1, 0.25, 0.5, 0.9])
def test_entries_are_zero_or_scaled_and_the_mean_stays(p):
    torch.manual_seed(0)
    out = dropout(torch.ones(1000, 1000), p)
    share = round(p * 256) / 256  # p in whole 256ths
    kept = out[out != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - share)))
    # A million draws: the deviation of the share is at most 0.0005, of the mean at most 0.003 (p = 0.9).
    assert float((out == 0).float().mean()) == pytest.approx(share, abs=0.0025)
    assert float(out.mean()) == pytest.approx(1.0, abs=0.015)


def test_values_are_scaled_not_replaced():
    torch.manual_seed(0)
    x = torch.arange(1.0, 1001.0)
    out = dropout(x, 0.5)
    assert torch.equal(out[out != 0], 2 * x[out != 0])
    assert 0 < int((out == 0).sum()) < 1000


@pytest.mark.parametrize(("p", "decisions"), [(0.25, 8), (0.5, 64)])  # of one word: its bytes, its bits
def test_each_decision_falls_at_the_same_rate_and_independently(p, decisions):
    torch.manual_seed(0)
    dropped = (dropout(torch.ones(100_000 * decisions), p) == 0).view(-1, decisions).double()
    rates = dropped.mean(dim=0)  # one deviation is at most 0.0016
    torch.testing.assert_close(rates, torch.full_like(rates, p), atol=0.008, rtol=0)
    correlation = torch.corrcoef(dropped.T) - torch.eye(decisions)  # one deviation is 0.003
    assert float(correlation.abs().max()) < 0.02


def test_a_seed_determines_what_is_dropped():
    x = torch.ones(50, 3)
    torch.manual_seed(3)
    first, second = dropout(x, 0.5), dropout(x, 0.5)
    torch.manual_seed(3)
    assert torch.equal(dropout(x, 0.5), first)
    assert not torch.equal(first, second)


def test_none_dropped_gives_the_input_itself_and_draws_nothing():
    x = torch.randn(5, 5)
    before = torch.get_rng_state()
    assert dropout(x, 0.0) is x
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("p", [1.0, 1 - 1 / (4 * STEPS)])
def test_everything_dropped_is_zero_not_nan(p):
    assert torch.equal(dropout(torch.ones(7, 3), p), torch.zeros(7, 3))


@pytest.mark.parametrize("shape", [(), (1,), (7,), (8,), (9,), (3, 5, 7), (0, 4)])
def test_any_shape(shape):
    torch.manual_seed(0)
    out = dropout(torch.ones(shape), 0.5)
    assert out.shape == shape
    assert set(out.flatten().tolist()) <= {0.0, 2.0}


def test_transposed_input_and_double_precision():
    torch.manual_seed(0)
    x = torch.arange(1.0, 601.0, dtype=torch.float64).view(20, 30).T
    out = dropout(x, 0.5)
    assert out.dtype == torch.float64
    assert torch.equal(out[out != 0], 2 * x[out != 0])


def test_gradient_flows_through_kept_entries_only():
    torch.manual_seed(0)
    x = torch.full((100,), 3.0, requires_grad=True)
    out = dropout(x, 0.5)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach() / 3.0)
