"""The layer of GraphSAGE against PyG's, with the same weights."""

import torch
from torch_geometric.nn import SAGEConv

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.sage import GraphSAGE, MeanAggregation


def test_layer_equals_pygs_in_values_and_gradients(graph, inputs, edge_index, same, operators):
    torch.manual_seed(0)
    ours, theirs = MeanAggregation(4, 3), SAGEConv(4, 3)  # theirs has its bias at the neighbours
    (mean,) = operators("sage", graph)
    same(
        lambda x: ours(x, mean),
        lambda x: theirs(x, edge_index),
        inputs.features,
        parameters=[(ours.own.bias, theirs.lin_l.bias)],
        linears=[(ours.own.weight, theirs.lin_r.weight), (ours.neighbours.weight, theirs.lin_l.weight)],
    )


def test_a_path_by_hand(path, operators):
    layer = MeanAggregation(1, 1)
    with torch.no_grad():
        layer.own.weight.fill_(1.0)
        layer.own.bias.fill_(100.0)
        layer.neighbours.weight.fill_(10.0)
    x = torch.tensor([[1.0], [2.0], [4.0]])
    out = layer(x, *operators("sage", path))
    torch.testing.assert_close(out, torch.tensor([[121.0], [127.0], [124.0]]))


def test_model_is_its_layers_with_a_relu_between(graph, inputs, operators):
    torch.manual_seed(0)
    model = GraphSAGE(4, 3, graph.num_nodes, Architecture(hidden=5, dropout=0.0))
    (mean,) = operators("sage", graph)
    first, second = model.layers
    torch.testing.assert_close(model(inputs, mean), second(torch.relu(first(inputs.features, mean)), mean))
