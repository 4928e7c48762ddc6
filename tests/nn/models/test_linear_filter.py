"""Linear filters against dense kernels and their spectra; the printed pair is one layer."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import otherhalf as oh
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs, Scaling
from otherhalf.nn.models.linear_filter import FILTERS, LinearFilter, LinearFilterNetwork
from otherhalf.nn.ops.sparse import normalized_adjacency
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.adjacency import symmetric_adjacency
from otherhalf.training.loop import TrainingSettings, seeded
from otherhalf.training.supervised import Supervision, fit_supervised

# A path 0 – 1 – 2 and a node alone: Â has 1/√2 at (0, 1) and (1, 2).
PATH = normalized_adjacency(symmetric_adjacency(np.array([[0, 1], [1, 2]]), 4))
DENSE = torch.tensor([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]) / 2**0.5
KERNELS = {
    "low as printed": DENSE,
    "high as printed": -DENSE,
    "low": (torch.eye(4) + DENSE) / 2,
    "high": (torch.eye(4) - DENSE) / 2,
}
RESPONSES = {
    "low as printed": lambda v: 1 - v,
    "high as printed": lambda v: v - 1,
    "low": lambda v: 1 - v / 2,
    "high": lambda v: v / 2,
}


def kernel_of(kind):
    """What the layer does to every node's own signal, with W = 1."""
    layer = LinearFilter(4, 4, kind=kind)
    with torch.no_grad():
        layer.linear.weight.copy_(torch.eye(4))
        return layer(torch.eye(4), PATH)


@pytest.mark.parametrize("kind", FILTERS)
def test_the_kernel_is_the_dense_one(kind):
    torch.testing.assert_close(kernel_of(kind), KERNELS[kind])


@pytest.mark.parametrize("kind", FILTERS)
def test_the_kernel_has_the_stated_response(kind):
    # U diag(F(λ)) Uᵀ with L̂ = I − Â = U diag(λ) Uᵀ, as Appendix B.1 defines a filter.
    values, vectors = torch.linalg.eigh(torch.eye(4) - DENSE)
    expected = vectors @ torch.diag(RESPONSES[kind](values)) @ vectors.T
    torch.testing.assert_close(kernel_of(kind), expected, atol=1e-6, rtol=1e-5)


def test_low_takes_away_the_highest_frequency_and_high_the_lowest():
    lowest, highest = torch.tensor([1, 2**0.5, 1, 0]), torch.tensor([1, -(2**0.5), 1, 0])
    torch.testing.assert_close(kernel_of("low") @ highest, torch.zeros(4))
    torch.testing.assert_close(kernel_of("low") @ lowest, lowest)
    torch.testing.assert_close(kernel_of("high") @ lowest, torch.zeros(4))
    torch.testing.assert_close(kernel_of("high") @ highest, highest)


@given(st.integers(0, 2**20), st.integers(1, 5), st.integers(1, 5))
def test_one_layer_equals_the_dense_formula(seed, width_in, width_out):
    torch.manual_seed(seed)
    x = torch.randn(4, width_in)
    for kind, kernel in KERNELS.items():
        layer = LinearFilter(width_in, width_out, kind=kind)
        torch.testing.assert_close(layer(x, PATH), kernel @ x @ layer.linear.weight, atol=1e-5, rtol=1e-4)


def test_the_printed_pair_is_one_layer_with_the_sign_in_the_weights():
    torch.manual_seed(0)
    low, high = (LinearFilterNetwork(3, 2, 4, kind=f"{kind} as printed").eval() for kind in ("low", "high"))
    negate(low, high)
    inputs = NodeInputs(torch.randn(4, 3))
    assert torch.equal(low(inputs, PATH), high(inputs, PATH))


def test_the_printed_pair_trains_alike_to_the_last_bit():
    graph = contextual_sbm(80, 2, 6, average_degree=6, homophily=0.2, seed=0)
    split = oh.split(graph, "uniform", seed=0)
    arguments = PreparedGraph(graph, Scaling.fit(graph.x, "auto")).arguments(["normalized"])
    low, high = (LinearFilterNetwork(6, 2, 80, kind=f"{kind} as printed") for kind in ("low", "high"))
    negate(low, high)
    histories = []
    for module in (low, high):
        with seeded(0):  # the same dropout
            histories.append(
                fit_supervised(module, arguments, graph, TrainingSettings(epochs=20), Supervision(split))
            )
    assert histories[0] == histories[1]
    assert torch.equal(low(*arguments), high(*arguments))
    assert torch.equal(low.layers[0].linear.weight, -high.layers[0].linear.weight)


def negate(source, target):
    """Give ``target`` the weights of ``source`` with their signs turned."""
    target.load_state_dict({key: -value for key, value in source.state_dict().items()})


def test_the_architecture_is_the_backbones():
    model = LinearFilterNetwork(5, 3, 4, Architecture(hidden=7, layers=3), kind="high")
    assert [tuple(layer.linear.weight.shape) for layer in model.layers] == [(5, 7), (7, 7), (7, 3)]


def test_an_unknown_filter_is_refused():
    with pytest.raises(InputError, match=r"filter must be one of low, high, .*, not 'band'"):
        LinearFilterNetwork(3, 2, 4, kind="band")
