"""JKNet against PyG's GCN with jumping knowledge, with the same weights."""

import pytest
import torch
from torch_geometric.nn import JumpingKnowledge
from torch_geometric.nn.models import GCN as Theirs

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.jknet import JKNet


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_model_equals_pygs_in_values_and_gradients(graph, inputs, edge_index, same, layers, operators):
    torch.manual_seed(0)
    ours = JKNet(4, 3, graph.num_nodes, Architecture(hidden=6, layers=layers, dropout=0.0))
    theirs = Theirs(4, 6, layers, 3, jk="cat")
    (adjacency,) = operators("jknet", graph)
    pairs = list(zip(ours.layers, theirs.convs, strict=True))
    same(
        lambda x: ours(NodeInputs(x), adjacency),
        lambda x: theirs(x, edge_index),
        inputs.features,
        parameters=[(ours.prediction.bias, theirs.lin.bias), *((a.bias, b.bias) for a, b in pairs)],
        linears=[
            (ours.prediction.weight, theirs.lin.weight),
            *((a.linear.weight, b.lin.weight) for a, b in pairs),
        ],
    )


def test_the_embedding_is_jumping_knowledge_over_the_hidden_states(graph, inputs, operators):
    torch.manual_seed(0)
    model = JKNet(4, 3, graph.num_nodes, Architecture(hidden=6, layers=2, dropout=0.0))
    (adjacency,) = operators("jknet", graph)
    first = torch.relu(model.layers[0](inputs.features, adjacency))
    second = torch.relu(model.layers[1](first, adjacency))
    torch.testing.assert_close(model.embed(inputs, adjacency), JumpingKnowledge("cat")([first, second]))


def test_the_rest_of_the_architecture_is_kept():
    given = Architecture(hidden=5, layers=3, norm="layer", residual=True)
    model = JKNet(4, 3, 6, given)
    assert model.prediction.weight.shape == (15, 3)
    kept = model.architecture
    assert (kept.norm, kept.residual, kept.output) == ("layer", True, "linear")
    assert JKNet(4, 3, 6).prediction.weight.shape == (2 * Architecture().hidden, 3)
