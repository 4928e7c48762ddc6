"""LINKX against PyG's with the same weights, and against its formula.

PyG's has three things that ours has not, which are taken out of it here: a bias of the adjacency rows' map,
one of the second part of W (both only add to other biases), and batch normalisation after the activations of
the last MLP (ours comes before them, and only if the architecture has it).
"""

import pytest
import torch
from torch import nn
from torch_geometric.nn.models import LINKX as Theirs

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.linkx import LINKX
from otherhalf.nn.ops.sparse import SparseOperator


def ours_of(graph, layers):
    torch.manual_seed(0)
    model = LINKX(4, 3, graph.num_nodes, Architecture(hidden=6, layers=layers, dropout=0.0))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.normal_(parameter)
    return model


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_model_equals_pygs_in_values_and_gradients(graph, inputs, edge_index, same, layers):
    ours = ours_of(graph, layers)
    theirs = Theirs(graph.num_nodes, 4, 6, 3, num_layers=layers)
    theirs.final_mlp.norms = nn.ModuleList(nn.Identity() for _ in theirs.final_mlp.norms)
    trunk, width = ours.trunk, 6
    with torch.no_grad():
        theirs.edge_lin.bias.zero_()
        theirs.cat_lin2.bias.zero_()
        theirs.cat_lin1.weight.copy_(trunk.mix.weight[:width].T)
        theirs.cat_lin2.weight.copy_(trunk.mix.weight[width:].T)
    pairs = list(zip(ours.layers, theirs.final_mlp.lins, strict=True))
    same(
        lambda x: ours(NodeInputs(x, inputs.neighbours)),
        lambda x: theirs(x, edge_index),
        inputs.features,
        parameters=[
            (trunk.neighbours.weight, theirs.edge_lin.weight),
            (trunk.features.bias, theirs.node_mlp.lins[0].bias),
            (trunk.mix.bias, theirs.cat_lin1.bias),
            *((a.bias, b.bias) for a, b in pairs),
        ],
        linears=[
            (trunk.features.weight, theirs.node_mlp.lins[0].weight),
            *((a.weight, b.weight) for a, b in pairs),
        ],
    )


def test_model_equals_the_dense_formula(graph, inputs, dense, same):
    model = ours_of(graph, 2)
    trunk, (first, second) = model.trunk, model.layers

    def formula(x):
        of_rows, of_features = (
            dense @ trunk.neighbours.weight,
            x @ trunk.features.weight + trunk.features.bias,
        )
        mixed = torch.cat([of_rows, of_features], dim=1) @ trunk.mix.weight + trunk.mix.bias
        h = torch.relu(mixed + of_rows + of_features)
        return torch.relu(h @ first.weight + first.bias) @ second.weight + second.bias

    def found(x):
        return model(NodeInputs(x, inputs.neighbours))

    same(found, formula, inputs.features, list(model.parameters()), formula=True)


def test_a_path_by_hand(path):
    model = LINKX(1, 1, 3, Architecture(hidden=1, layers=1, dropout=0.0))
    trunk = model.trunk
    with torch.no_grad():
        trunk.neighbours.weight.copy_(torch.tensor([[1.0], [10.0], [100.0]]))
        trunk.features.weight.fill_(-1.0)
        trunk.mix.weight.copy_(torch.tensor([[1.0], [2.0]]))  # so that H = 2 H_A + 3 H_X
        model.layers[0].weight.fill_(1.0)
    rows = SparseOperator.from_scipy(path.adjacency)
    out = model(NodeInputs(torch.tensor([[1.0], [200.0], [4.0]]), rows))
    # H_A: 10, 101, 10. H: 20 − 3, 202 − 600 (which the activation cuts off), 20 − 12.
    torch.testing.assert_close(out, torch.tensor([[17.0], [0.0], [8.0]]))


def test_rows_are_wanted(inputs):
    model = LINKX(4, 3, 14)
    assert model.architecture.trunk == "features+neighbours"
    with pytest.raises(ValueError, match="LINKX reads adjacency rows: give NodeInputs with neighbours"):
        model(NodeInputs(inputs.features))
