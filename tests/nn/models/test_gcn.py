"""The layer of GCN against PyG's, with the same weights."""

import scipy.sparse as sp
import torch
from torch_geometric.nn import GCNConv

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.gcn import GCN, GraphConv
from otherhalf.nn.ops.sparse import SparseOperator


def test_layer_equals_pygs_in_values_and_gradients(graph, inputs, edge_index, same, operators):
    torch.manual_seed(0)
    ours, theirs = GraphConv(4, 3), GCNConv(4, 3)
    (adjacency,) = operators("gcn", graph)
    same(
        lambda x: ours(x, adjacency),
        lambda x: theirs(x, edge_index),
        inputs.features,
        parameters=[(ours.bias, theirs.bias)],
        linears=[(ours.linear.weight, theirs.lin.weight)],
    )


def test_a_path_by_hand(path, operators):
    layer = GraphConv(1, 1)
    with torch.no_grad():
        layer.linear.weight.fill_(1.0)
        layer.bias.fill_(10.0)
    x = torch.tensor([[1.0], [2.0], [4.0]])
    s = 6**-0.5  # with self loops the degrees are 2, 3 and 2
    expected = [[10 + 1 / 2 + 2 * s], [10 + 5 * s + 2 / 3], [10 + 2 * s + 2]]
    out = layer(x, *operators("gcn", path))
    torch.testing.assert_close(out, torch.tensor(expected))


def test_model_is_two_layers_with_a_relu_between(graph, inputs, operators):
    torch.manual_seed(0)
    model = GCN(4, 3, graph.num_nodes, Architecture(hidden=5, layers=2, dropout=0.0))
    (adjacency,) = operators("gcn", graph)
    x, a = inputs.features, adjacency.matrix.to_dense()
    w0, w1 = (layer.linear.weight for layer in model.layers)
    hidden = torch.relu(a @ x @ w0)
    torch.testing.assert_close(model(inputs, adjacency), a @ hidden @ w1)
    torch.testing.assert_close(model.embed(inputs, adjacency), hidden)


def test_sparse_features_give_what_dense_ones_give(graph, inputs, operators):
    torch.manual_seed(0)
    model = GCN(4, 3, graph.num_nodes, Architecture(hidden=5, dropout=0.0))
    (adjacency,) = operators("gcn", graph)
    x = inputs.features * (inputs.features > 0)
    sparse = NodeInputs(SparseOperator.from_scipy(sp.csr_matrix(x.numpy())))
    torch.testing.assert_close(model(sparse, adjacency), model(NodeInputs(x), adjacency))


def test_the_default_architecture():
    model = GCN(4, 3, 6)
    assert model.architecture == Architecture()
