"""The MLP against its formula, with and without adjacency rows."""

import numpy as np
import scipy.sparse as sp
import torch

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.mlp import MLP, DenseLayer
from otherhalf.nn.ops.sparse import SparseOperator

NODES = 5
ROWS = np.eye(NODES, k=1, dtype=np.float32) + np.eye(NODES, k=-1, dtype=np.float32)


def inputs() -> NodeInputs:
    torch.manual_seed(1)
    return NodeInputs(torch.randn(NODES, 4), SparseOperator.from_scipy(sp.csr_matrix(ROWS)))


def mlp(**options) -> MLP:
    torch.manual_seed(0)
    model = MLP(4, 3, NODES, Architecture(hidden=6, dropout=0.0, **options))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return model


def test_layer_passes_over_operators():
    layer = DenseLayer(4, 3)
    x = inputs().features
    torch.testing.assert_close(layer(x, "whatever stands here"), x @ layer.weight + layer.bias)


def test_two_layers_with_a_relu_between():
    model = mlp(layers=2)
    first, second = model.layers
    hidden = torch.relu(inputs().features @ first.weight + first.bias)
    torch.testing.assert_close(model.embed(inputs()), hidden)
    torch.testing.assert_close(model(inputs()), hidden @ second.weight + second.bias)


def test_without_the_trunk_no_edge_is_looked_at():
    given = inputs()
    model = mlp(layers=2)
    assert torch.equal(model(given), model(NodeInputs(given.features)))


def test_with_the_trunk_a_node_is_known_by_its_neighbours():
    model = mlp(layers=1, trunk="features+neighbours")
    given, trunk, (last,) = inputs(), model.trunk, model.layers
    hidden = torch.relu(
        given.features @ trunk.features.weight
        + trunk.features.bias
        + torch.from_numpy(ROWS) @ trunk.neighbours.weight
    )
    torch.testing.assert_close(model(given), hidden @ last.weight + last.bias)
