"""The layer of GAT against PyG's, with the same weights."""

import pytest
import scipy.sparse as sp
import torch
from torch_geometric.nn import GATConv

from otherhalf.nn.baselines.gat import GAT, GraphAttention
from otherhalf.nn.skeleton import NodeInputs, Shape
from otherhalf.nn.sparse import SparseOperator

NODES = 6
EDGES = torch.tensor([[0, 1, 2, 0, 3], [1, 2, 3, 2, 4]])  # node 5 stands alone
BOTH_WAYS = torch.cat([EDGES, EDGES.flip(0)], dim=1)
LOOPS = torch.arange(NODES).expand(2, -1)
WITH_LOOPS = torch.cat([BOTH_WAYS, LOOPS], dim=1)


@pytest.mark.parametrize(("width", "per_head", "side_by_side"), [(16, 2, True), (3, 3, False)])
@pytest.mark.parametrize(
    "edges", [WITH_LOOPS, torch.cat([EDGES, LOOPS], dim=1)], ids=["undirected", "directed"]
)
def test_layer_equals_pygs_in_values_and_gradients(width, per_head, side_by_side, edges):
    torch.manual_seed(0)
    ours = GraphAttention(4, width)
    theirs = GATConv(4, per_head, heads=8, concat=side_by_side, add_self_loops=False)
    with torch.no_grad():
        ours.bias.normal_()
        theirs.lin.weight.copy_(ours.linear.weight.T)
        theirs.att_src.copy_(ours.to_source)
        theirs.att_dst.copy_(ours.to_target)
        theirs.bias.copy_(ours.bias)
    x, weights = torch.randn(NODES, 4), torch.randn(NODES, width)
    x_ours, x_theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    out, expected = ours(x_ours, edges), theirs(x_theirs, edges)
    torch.testing.assert_close(out, expected)
    (out * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(x_ours.grad, x_theirs.grad)
    torch.testing.assert_close(ours.linear.weight.grad, theirs.lin.weight.grad.T)
    torch.testing.assert_close(ours.to_source.grad, theirs.att_src.grad)
    torch.testing.assert_close(ours.to_target.grad, theirs.att_dst.grad)


def test_a_node_alone_attends_to_itself():
    torch.manual_seed(0)
    layer = GraphAttention(4, 8)
    x = torch.randn(NODES, 4)
    torch.testing.assert_close(layer(x, WITH_LOOPS)[5], x[5] @ layer.linear.weight)


def test_sparse_features_give_what_dense_ones_give():
    torch.manual_seed(0)
    model = GAT(4, 3, NODES, Shape(hidden=8, dropout=0.0))
    x = torch.randn(NODES, 4) * (torch.rand(NODES, 4) < 0.5)
    sparse = NodeInputs(SparseOperator.from_scipy(sp.csr_matrix(x.numpy())))
    out = model(sparse, WITH_LOOPS)
    assert out.shape == (NODES, 3)
    torch.testing.assert_close(out, model(NodeInputs(x), WITH_LOOPS))


def test_model_is_its_layers_with_a_relu_between():
    torch.manual_seed(0)
    model = GAT(4, 3, NODES, Shape(hidden=8, layers=2, dropout=0.0))
    x = torch.randn(NODES, 4)
    first, second = model.layers
    hidden = torch.relu(first(x, WITH_LOOPS))
    torch.testing.assert_close(model.embed(NodeInputs(x), WITH_LOOPS), hidden)
    torch.testing.assert_close(model(NodeInputs(x), WITH_LOOPS), second(hidden, WITH_LOOPS))
