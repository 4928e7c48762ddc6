"""The backbone of all models against dense formulas, for every option of the architecture."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn
from torch.nn import functional as F

from otherhalf.errors import InputError
from otherhalf.nn import backbone
from otherhalf.nn.backbone import TRUNKS, Architecture, Backbone, SparseLinear
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models import registry
from otherhalf.nn.ops.sparse import SparseOperator
from otherhalf.system.fields import check

NODES, FEATURES, CLASSES = 6, 5, 3
HIDDEN = 32  # wide enough that no layer's ReLU is dead at every node, which would prove nothing


class Mix(nn.Module):
    """A layer that needs an operator: M h W."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.linear = SparseLinear(in_channels, out_channels, bias=False)

    def forward(self, x, matrix):
        return matrix @ self.linear(x)


class Mixed(Backbone):
    layer = Mix


@pytest.fixture
def dense() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(NODES, FEATURES) * (torch.rand(NODES, FEATURES) < 0.6)


@pytest.fixture
def rows() -> torch.Tensor:
    # A path 0 – 1 – 2 – 3 – 4 – 5.
    return torch.from_numpy(np.eye(NODES, k=1, dtype=np.float32) + np.eye(NODES, k=-1, dtype=np.float32))


@pytest.fixture
def matrix() -> torch.Tensor:
    torch.manual_seed(2)
    return torch.randn(NODES, NODES)


def as_inputs(x: torch.Tensor, rows: torch.Tensor, *, sparse: bool) -> NodeInputs:
    features = SparseOperator.from_scipy(sp.csr_matrix(x.numpy())) if sparse else x
    return NodeInputs(features, SparseOperator.from_scipy(sp.csr_matrix(rows.numpy())))


def build(**options) -> Backbone:
    torch.manual_seed(0)
    architecture = Architecture(hidden=HIDDEN, **{"dropout": 0.0, **options})
    model = Mixed(FEATURES, CLASSES, NODES, architecture)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):  # a bias left at zero would not show that it is used
            nn.init.normal_(parameter)
    return model


def linear(layer: SparseLinear, x: torch.Tensor) -> torch.Tensor:
    return x @ layer.weight + (0 if layer.bias is None else layer.bias)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_layers_with_a_relu_between(dense, rows, matrix, sparse):
    model = build(layers=3)
    w0, w1, w2 = (layer.linear.weight for layer in model.layers)
    h1 = F.relu(matrix @ dense @ w0)
    h2 = F.relu(matrix @ h1 @ w1)
    inputs = as_inputs(dense, rows, sparse=sparse)
    torch.testing.assert_close(model(inputs, matrix), matrix @ h2 @ w2)
    assert bool((h2 > 0).any())
    torch.testing.assert_close(model.embed(inputs, matrix), h2)


@pytest.mark.parametrize("sparse", [False, True])
def test_residual_adds_a_linear_map_of_each_layers_input(dense, rows, matrix, sparse):
    model = build(layers=2, residual=True)
    w0, w1 = (layer.linear.weight for layer in model.layers)
    r0, r1 = model.residuals
    h1 = F.relu(matrix @ dense @ w0 + linear(r0, dense))
    expected = matrix @ h1 @ w1 + linear(r1, h1)
    out = model(as_inputs(dense, rows, sparse=sparse), matrix)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm", ["layer", "batch"])
def test_norm_stands_before_the_activation_and_not_at_the_end(dense, rows, matrix, norm):
    model = build(layers=2, norm=norm)
    w0, w1 = (layer.linear.weight for layer in model.layers)
    h = matrix @ dense @ w0
    over = 1 if norm == "layer" else 0  # over the entries of a node, or over the nodes
    normed = (h - h.mean(over, keepdim=True)) / (h.var(over, unbiased=False, keepdim=True) + 1e-5).sqrt()
    expected = matrix @ F.relu(normed + model.norms[0].bias) @ w1
    torch.testing.assert_close(model(as_inputs(dense, rows, sparse=False), matrix), expected)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("trunk", ["features", "features+neighbours"])
def test_trunk_and_linear_output_over_all_hidden_states(dense, rows, matrix, trunk, sparse):
    model = build(layers=2, trunk=trunk, output="linear")
    first = linear(model.trunk.features, dense)
    if trunk == "features+neighbours":
        first = first + rows @ model.trunk.neighbours.weight
    h0 = F.relu(first)
    h1 = F.relu(matrix @ h0 @ model.layers[0].linear.weight)
    h2 = F.relu(matrix @ h1 @ model.layers[1].linear.weight)
    states = torch.cat([h0, h1, h2], dim=1)
    inputs = as_inputs(dense, rows, sparse=sparse)
    torch.testing.assert_close(model.embed(inputs, matrix), states)
    torch.testing.assert_close(model(inputs, matrix), linear(model.prediction, states))


def test_trunk_before_a_single_prediction_layer(dense, rows, matrix):
    model = build(layers=1, trunk="features")
    h0 = F.relu(linear(model.trunk.features, dense))
    inputs = as_inputs(dense, rows, sparse=True)
    torch.testing.assert_close(model.embed(inputs, matrix), h0)
    torch.testing.assert_close(model(inputs, matrix), matrix @ h0 @ model.layers[0].linear.weight)


@pytest.mark.parametrize("trunk", ["auto", "oak"])
def test_a_trunk_that_no_model_can_build_is_refused(trunk):
    # Settings may say auto; who builds the model must have decided before.
    with pytest.raises(InputError) as caught:
        build(trunk=trunk)
    assert str(caught.value) == f"trunk must be one of {', '.join(TRUNKS)} in a model, not {trunk!r}"


def test_the_settings_of_goal_may_leave_the_trunk_open():
    check(Architecture(trunk="auto"))
    with pytest.raises(
        InputError,
        match=r"trunk must be one of none, features, features\+neighbours, features\+labels, auto, not 'oak'",
    ):
        check(Architecture(trunk="oak"))


def test_labels_are_added_to_the_trunk(dense, rows, matrix):
    labels = torch.eye(CLASSES)[[0, 2, 1, 0, 0, 2]]
    model = build(trunk="features+labels", output="linear", layers=1).eval()
    x = as_inputs(dense, rows, sparse=True)
    first = F.relu(
        dense @ model.trunk.features.weight + model.trunk.features.bias + labels @ model.trunk.labels.weight
    )
    second = F.relu(matrix @ (first @ model.layers[0].linear.weight))
    expected = torch.cat([first, second], dim=1) @ model.prediction.weight + model.prediction.bias
    torch.testing.assert_close(model(x.showing(labels), matrix), expected)
    with pytest.raises(ValueError, match="reads labels: give NodeInputs with labels"):
        model(x, matrix)


def test_one_layer_has_no_embedding(dense, rows, matrix):
    with pytest.raises(ValueError, match="has no hidden state: use two or more layers"):
        build(layers=1).embed(as_inputs(dense, rows, sparse=True), matrix)


@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
@pytest.mark.parametrize("output", ["layer", "linear"])
def test_every_parameter_learns(dense, rows, matrix, norm, output):
    model = build(layers=3, norm=norm, residual=True, trunk="features+neighbours", output=output)
    model(as_inputs(dense, rows, sparse=True), matrix).square().sum().backward()
    unused = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert unused == []


# ---------------------------------------------------------------------- dropout


def test_dropout_stands_at_the_input_of_every_layer(dense, rows, matrix, monkeypatch):
    seen = []
    monkeypatch.setattr(backbone, "dropout", lambda h, p: seen.append((h.shape[1], p)) or h)
    model = build(layers=2, dropout=0.3, residual=True, trunk="features", output="linear")
    inputs = as_inputs(dense, rows, sparse=False)
    model(inputs, matrix)
    # Trunk, two layers, and the prediction from all three hidden states of width 32.
    assert seen == [(FEATURES, 0.3), (32, 0.3), (32, 0.3), (96, 0.3)]
    seen.clear()
    model.eval()
    model(inputs, matrix)
    assert {p for _, p in seen} == {0.0}


def test_the_residual_map_reads_what_its_layer_reads(dense, rows, matrix, monkeypatch):
    # Dropout that doubles everything shows where it has been.
    monkeypatch.setattr(backbone, "dropout", lambda h, p: 2 * h)
    model = build(layers=1, dropout=0.5, residual=True)
    expected = matrix @ (2 * dense) @ model.layers[0].linear.weight + linear(model.residuals[0], 2 * dense)
    torch.testing.assert_close(model(as_inputs(dense, rows, sparse=False), matrix), expected)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["mlp", "sage", "chebynet"])
def test_a_layer_that_absorbs_the_residual_map_says_the_same(dense, rows, kind, sparse, monkeypatch):
    model = registry.build(kind, FEATURES, CLASSES, NODES, Architecture(hidden=8, residual=True, dropout=0.0))
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    operator = SparseOperator.from_scipy(sp.csr_matrix(rows.numpy() / 2), symmetric=True)
    inputs = as_inputs(dense, rows, sparse=sparse)

    def outcome() -> list[torch.Tensor]:
        model.zero_grad()
        logits = model(inputs, *([] if kind == "mlp" else [operator]))
        (logits**2).sum().backward()
        return [logits.detach(), *(p.grad.clone() for p in model.parameters())]

    assert all(layer.absorbs_residual for layer in model.layers)
    absorbed = outcome()
    monkeypatch.setattr(type(model.layers[0]), "absorbs_residual", False)
    torch.testing.assert_close(absorbed, outcome(), rtol=1e-4, atol=1e-4)


def test_sparse_features_are_dropped_in_training_only(dense, rows, matrix):
    model = build(layers=1, dropout=0.5)
    inputs = as_inputs(dense, rows, sparse=True)
    torch.manual_seed(4)
    first, second = model(inputs, matrix), model(inputs, matrix)
    assert not torch.equal(first, second)
    torch.manual_seed(4)
    assert torch.equal(model(inputs, matrix), first)
    model.eval()
    torch.testing.assert_close(model(inputs, matrix), matrix @ dense @ model.layers[0].linear.weight)


# ---------------------------------------------------------------------- linear maps


def test_sparse_linear_gradients_equal_dense_ones(dense, rows):
    layer = SparseLinear(FEATURES, 4)
    nn.init.normal_(layer.bias)
    weights = torch.randn(NODES, 4)
    from_sparse = layer(as_inputs(dense, rows, sparse=True).features)
    torch.testing.assert_close(from_sparse, linear(layer, dense))
    gradients = [
        torch.autograd.grad((out * weights).sum(), list(layer.parameters()))
        for out in (from_sparse, linear(layer, dense))
    ]
    for ours, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, expected)
