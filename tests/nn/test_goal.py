"""GOAL against the dense formula of Section 5 at several depths."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.goal import GOAL
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.ops.sparse import SparseOperator, normalized_adjacency

NODES, FEATURES, CLASSES = 6, 5, 3


def adjacency(*edges: tuple[int, int]) -> np.ndarray:
    a = np.zeros((NODES, NODES), dtype=np.float32)
    for i, j in edges:
        a[i, j] = a[j, i] = 1
    return a


# Node 5 stands alone in the homophilic half, node 2 in the heterophilic one.
HOMOPHILIC = adjacency((0, 1), (1, 2), (2, 0), (3, 4))
HETEROPHILIC = adjacency((0, 3), (1, 4), (1, 5), (4, 5))


def normalised(a: np.ndarray) -> torch.Tensor:
    degree = a.sum(axis=1)
    root = np.diag([1 / np.sqrt(d) if d else 0.0 for d in degree])
    return torch.from_numpy((root @ a @ root).astype(np.float32))


def goal(*, coefficients=(0.9, 1.4, 0.6, 0.3), learn=False, **options) -> GOAL:
    torch.manual_seed(0)
    architecture = Architecture(hidden=16, **{"dropout": 0.0, **options})
    layer_options = {"coefficients": coefficients, "learn_coefficients": learn}
    return GOAL(FEATURES, CLASSES, NODES, architecture, **layer_options)


@pytest.fixture
def x() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(NODES, FEATURES)


@pytest.fixture
def halves() -> tuple[SparseOperator, SparseOperator]:
    return normalized_adjacency(sp.csr_matrix(HOMOPHILIC)), normalized_adjacency(sp.csr_matrix(HETEROPHILIC))


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_equals_the_dense_formula_at_every_depth(x, halves, depth, learn):
    model = goal(layers=depth, learn=learn)
    a_o, a_t = normalised(HOMOPHILIC), normalised(HETEROPHILIC)
    matrix = 0.9 * torch.eye(NODES) + 1.4 * a_o - 0.6 * a_t - 0.3 * (a_t @ a_o)
    weights = [layer.weight.detach().clone().requires_grad_() for layer in model.layers]
    h = x
    for index, weight in enumerate(weights):
        h = matrix @ h @ weight
        if index < depth - 1:
            h = torch.relu(h)
    out = model(NodeInputs(x), *halves)
    assert out.shape == (NODES, CLASSES)
    assert bool((out < 0).any())  # no ReLU at the end
    torch.testing.assert_close(out, h, rtol=1e-4, atol=1e-5)
    out.square().sum().backward()
    h.square().sum().backward()
    for layer, weight in zip(model.layers, weights, strict=True):
        torch.testing.assert_close(layer.weight.grad, weight.grad, rtol=1e-4, atol=1e-5)


def test_the_halves_are_not_interchangeable(x, halves):
    model = goal(layers=2)
    homophilic, heterophilic = halves
    inputs = NodeInputs(x)
    assert not torch.allclose(
        model(inputs, homophilic, heterophilic), model(inputs, heterophilic, homophilic)
    )


def test_sparse_features_give_what_dense_ones_give(x, halves):
    model = goal(layers=2)
    sparse = NodeInputs(SparseOperator.from_scipy(sp.csr_matrix(x.numpy())))
    torch.testing.assert_close(model(sparse, *halves), model(NodeInputs(x), *halves))


def test_every_layer_learns_coefficients_of_its_own(x, halves):
    model = goal(layers=2, learn=True)
    assert model.coefficients() == [pytest.approx((0.9, 1.4, 0.6, 0.3), abs=1e-5)] * 2
    model(NodeInputs(x), *halves).square().sum().backward()
    first, second = (layer.coefficients.theta for layer in model.layers)
    assert first is not second
    assert bool(first.grad.all())
    assert bool(second.grad.all())


def test_fixed_coefficients_of_every_layer():
    assert goal(layers=3).coefficients() == [(0.9, 1.4, 0.6, 0.3)] * 3


def test_the_paper_has_no_bias_and_one_can_be_asked_for(x, halves):
    assert [name for name, _ in goal(layers=2).named_parameters()] == ["layers.0.weight", "layers.1.weight"]
    torch.manual_seed(0)
    model = GOAL(FEATURES, CLASSES, NODES, Architecture(layers=1, dropout=0.0), bias=True)
    inputs = NodeInputs(x)
    before = model(inputs, *halves)
    with torch.no_grad():
        model.layers[0].bias.copy_(torch.tensor([1.0, 2.0, 3.0]))
    torch.testing.assert_close(model(inputs, *halves), before + torch.tensor([1.0, 2.0, 3.0]))
