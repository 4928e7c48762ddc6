"""The layer of GCN against PyG's, with the same weights."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.nn import GCNConv

from otherhalf.nn.baselines.gcn import GCN, GraphConv
from otherhalf.nn.skeleton import NodeInputs, Shape
from otherhalf.nn.sparse import SparseOperator, normalized_adjacency

NODES = 6
EDGES = torch.tensor([[0, 1, 2, 0, 3], [1, 2, 3, 2, 4]])  # node 5 stands alone
BOTH_WAYS = torch.cat([EDGES, EDGES.flip(0)], dim=1)


@pytest.fixture
def adjacency() -> SparseOperator:
    ones = np.ones(BOTH_WAYS.shape[1])
    matrix = sp.csr_matrix((ones, tuple(BOTH_WAYS.numpy())), shape=(NODES, NODES))
    return normalized_adjacency(matrix, self_loops=True)


def test_layer_equals_pygs_in_values_and_gradients(adjacency):
    torch.manual_seed(0)
    ours, theirs = GraphConv(4, 3), GCNConv(4, 3)
    with torch.no_grad():
        ours.bias.normal_()
        theirs.lin.weight.copy_(ours.linear.weight.T)
        theirs.bias.copy_(ours.bias)
    x, weights = torch.randn(NODES, 4), torch.randn(NODES, 3)
    x_ours, x_theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    out, expected = ours(x_ours, adjacency), theirs(x_theirs, BOTH_WAYS)
    torch.testing.assert_close(out, expected)
    (out * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(x_ours.grad, x_theirs.grad)
    torch.testing.assert_close(ours.linear.weight.grad, theirs.lin.weight.grad.T)
    torch.testing.assert_close(ours.bias.grad, theirs.bias.grad)


def test_model_is_two_layers_with_a_relu_between(adjacency):
    torch.manual_seed(0)
    model = GCN(4, 3, NODES, Shape(hidden=5, layers=2, dropout=0.0))
    x = torch.randn(NODES, 4)
    a = adjacency.matrix.to_dense()
    w0, w1 = (layer.linear.weight for layer in model.layers)
    hidden = torch.relu(a @ x @ w0)
    torch.testing.assert_close(model(NodeInputs(x), adjacency), a @ hidden @ w1)
    torch.testing.assert_close(model.embed(NodeInputs(x), adjacency), hidden)


def test_sparse_features_give_what_dense_ones_give(adjacency):
    torch.manual_seed(0)
    model = GCN(4, 3, NODES, Shape(hidden=5, dropout=0.0))
    x = torch.randn(NODES, 4) * (torch.rand(NODES, 4) < 0.5)
    sparse = NodeInputs(SparseOperator.from_scipy(sp.csr_matrix(x.numpy())))
    torch.testing.assert_close(model(sparse, adjacency), model(NodeInputs(x), adjacency))


def test_a_default_frame():
    model = GCN(4, 3, NODES)
    assert model.shape == Shape()
