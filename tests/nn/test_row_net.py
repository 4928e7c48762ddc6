"""The classifier over rows: its convolution is the Complemented Graph Convolution, row by row."""

import numpy as np
import pytest
import torch

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.conv import ComplementedGraphConv
from otherhalf.nn.ops.sparse import normalized_adjacency
from otherhalf.nn.row_net import TERMS, RowBatch, RowNet
from otherhalf.system.adjacency import symmetric_adjacency

SMALL = Architecture(hidden=8, layers=2, dropout=0.5, norm="layer")


@pytest.fixture
def halves():
    draw = np.random.default_rng(0)
    made = [symmetric_adjacency(draw.integers(0, 12, (2, 20)), 12) for _ in range(2)]
    return [normalized_adjacency(each) for each in made]


@pytest.fixture
def terms(halves):
    a_o, a_t = halves
    x = torch.randn(12, 5, generator=torch.manual_seed(0))
    return dict(zip(TERMS, (x, a_o @ x, a_t @ x, a_t @ (a_o @ x)), strict=True))


def net(**options):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return RowNet(5, 3, 1, 4, SMALL, coefficients=(1.0, 2.0, 0.5, 0.3), **options)


def batch(terms, rows=slice(None)):
    draw = torch.Generator().manual_seed(2)
    hop, messages, scores = (torch.randn(12, width, generator=draw)[rows] for width in (5, 4, 3))
    return RowBatch({name: each[rows] for name, each in terms.items()}, (hop,), messages, scores)


def test_the_convolution_of_rows_is_that_of_the_layer(halves, terms):
    layer = ComplementedGraphConv(5, 8, (1.0, 2.0, 0.5, 0.3), learn_coefficients=True)
    expected = layer.propagate(terms["x"], *halves)
    assert torch.allclose(net().convolved(terms), expected, atol=1e-6)


def test_gradients_of_the_coefficients_are_those_of_autograd(terms):
    module, probe = net(), torch.randn(12, 5)
    (module.convolved(terms) * probe).sum().backward()
    theta = module.coefficients_of.theta.detach().clone().requires_grad_()
    a, b, c, d = 5 * torch.sigmoid(theta)
    x, o, t, to = (terms[name] for name in TERMS)
    ((a * x + b * o - c * t - d * to) * probe).sum().backward()
    assert torch.allclose(module.coefficients_of.theta.grad, theta.grad, atol=1e-5)


def test_terms_of_an_empty_half_are_left_out(terms):
    module = net()
    absent = {**terms, "t": torch.zeros(12, 5), "to": torch.zeros(12, 5)}
    present = {name: terms[name] for name in ("x", "o")}
    assert torch.allclose(module.convolved(present), module.convolved(absent))


def test_each_row_is_computed_by_itself(terms):
    module = net().eval()
    rows = torch.tensor([7, 2, 2])
    assert torch.allclose(module(batch(terms, rows)), module(batch(terms))[rows], atol=1e-6)


def test_scores_are_added_and_messages_standardised(terms):
    module = net().eval()
    module.standardise(torch.full((4,), 3.0), torch.full((4,), 2.0))
    assert torch.allclose(module.message_deviation, torch.full((4,), 2.001))
    full = batch(terms)
    without = RowBatch(full.terms, full.hops, full.messages)
    assert torch.allclose(module(full) - module(without), full.scores, atol=1e-5)  # τ starts at 1
    with pytest.raises(ValueError, match="label messages"):
        module(RowBatch(full.terms, full.hops))


def test_a_plain_model_reads_features_and_hops_only(terms):
    module = RowNet(5, 3, 1, 0, SMALL, convolves=False, scores=False).eval()
    full = batch(terms)
    assert torch.equal(module(full), module(RowBatch({"x": full.terms["x"]}, full.hops)))
    assert module.coefficients() == []
    assert RowNet(5, 3, 0, 0, SMALL, convolves=False, scores=False).eval()(full).shape == (12, 3)
