"""APPNP against PyG's propagation over the same MLP's logits."""

import pytest
import torch
from torch_geometric.nn import APPNP as Propagation

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.appnp import APPNP
from otherhalf.nn.models.mlp import MLP

SHAPE = Architecture(hidden=6, dropout=0.0)


@pytest.mark.parametrize(("steps", "teleport"), [(1, 0.3), (10, 0.1), (4, 0.0), (3, 1.0)])
def test_model_equals_pygs_propagation_over_the_logits(
    graph, inputs, edge_index, same, steps, teleport, operators
):
    torch.manual_seed(0)
    ours = APPNP(4, 3, graph.num_nodes, SHAPE, steps=steps, teleport=teleport)
    theirs, propagate = MLP(4, 3, graph.num_nodes, SHAPE), Propagation(K=steps, alpha=teleport)
    (adjacency,) = operators("appnp", graph)
    same(
        lambda x: ours(NodeInputs(x), adjacency),
        lambda x: propagate(theirs(NodeInputs(x)), edge_index),
        inputs.features,
        parameters=list(zip(ours.parameters(), theirs.parameters(), strict=True)),
    )


def test_a_path_by_hand(path, operators):
    model = APPNP(1, 2, 3, Architecture(layers=1, dropout=0.0), steps=1, teleport=0.25)
    with torch.no_grad():
        model.layers[0].weight.copy_(torch.tensor([[1.0, -1.0]]))
    x = torch.tensor([[1.0], [2.0], [4.0]])
    (a,) = operators("appnp", path)
    s = 6**-0.5  # with self loops the degrees are 2, 3 and 2
    propagated = torch.tensor([1 / 2 + 2 * s, 5 * s + 2 / 3, 2 * s + 2])
    expected = 0.75 * propagated + 0.25 * x[:, 0]
    torch.testing.assert_close(model(NodeInputs(x), a), torch.stack([expected, -expected], dim=1))


def test_the_defaults_are_the_papers():
    model = APPNP(4, 3, 5)
    assert (model.steps, model.teleport, model.architecture) == (10, 0.1, Architecture())
