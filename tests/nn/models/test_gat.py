"""The layer of GAT against PyG's with the same weights, and against a dense softmax."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch_geometric.nn import GATConv

from otherhalf.graph import Graph
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.gat import GAT, GraphAttention
from otherhalf.nn.ops.attention import HEADS, Neighbourhoods

ALONE = -1  # the last node of the graph has no neighbour
WIDTHS = [(16, 2, True), (3, 3, False)]


@pytest.fixture
def around(graph) -> Neighbourhoods:
    return Neighbourhoods.from_scipy(graph.adjacency)


def parameters_of(layer):
    return [layer.linear.weight, layer.to_source, layer.to_target, layer.bias]


def dense_attention(layer, x, adjacency):
    """The formula of the docstring, over all pairs of nodes."""
    mask = (adjacency + torch.eye(len(adjacency))) > 0
    h = (x @ layer.linear.weight).view(len(x), HEADS, -1)
    sources, targets = (h * layer.to_source).sum(-1), (h * layer.to_target).sum(-1)
    scores = F.leaky_relu(sources[None] + targets[:, None], 0.2)  # [i, j, head]
    shares = torch.softmax(scores.masked_fill(~mask[:, :, None], -torch.inf), dim=1)
    heads = torch.einsum("ijk,jkd->ikd", shares, h)
    return (heads.flatten(1) if layer.side_by_side else heads.mean(1)) + layer.bias


@pytest.mark.parametrize(("width", "per_head", "side_by_side"), WIDTHS)
def test_layer_equals_pygs_in_values_and_gradients(
    width, per_head, side_by_side, around, inputs, edge_index, same
):
    torch.manual_seed(0)
    ours = GraphAttention(4, width)
    theirs = GATConv(4, per_head, heads=8, concat=side_by_side)
    same(
        lambda x: ours(x, around),
        lambda x: theirs(x, edge_index),
        inputs.features,
        parameters=[
            (ours.to_source, theirs.att_src),
            (ours.to_target, theirs.att_dst),
            (ours.bias, theirs.bias),
        ],
        linears=[(ours.linear.weight, theirs.lin.weight)],
    )


@pytest.mark.parametrize("width", [16, 3])
def test_gradients_in_double_precision(width, around, inputs):
    torch.manual_seed(0)
    layer = GraphAttention(4, width).double()
    names = [name for name, _ in layer.named_parameters()]

    def out(x, *parameters):
        return torch.func.functional_call(layer, dict(zip(names, parameters, strict=True)), (x, around))

    x = inputs.features.double().requires_grad_()
    assert torch.autograd.gradcheck(out, (x, *layer.parameters()), fast_mode=True)


# ---------------------------------------------------------------------- large scores


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [16, 3])
@pytest.mark.parametrize("largest", [1.0, 59.0, 61.0, 500.0, 2000.0])
def test_any_scores_gives_what_a_dense_softmax_gives(largest, width, dtype, around, inputs, dense, same):
    torch.manual_seed(0)
    layer = GraphAttention(4, width).to(dtype)
    x = inputs.features.to(dtype)
    with torch.no_grad():
        h = (x @ layer.linear.weight).view(len(x), HEADS, -1)
        parts = [(h * part).sum(-1).abs().max() for part in (layer.to_source, layer.to_target)]
        scale = largest / float(sum(parts))
        layer.to_source.mul_(scale)
        layer.to_target.mul_(scale)
    same_up_to_scale(layer, x, around, dense, scale, same)


def same_up_to_scale(layer, x, around, dense, scale, same):
    # Scores of 500 are exact to 3e-5 in single precision, which is the relative error of their exponentials;
    # and the gradient of x is as much larger as the scores are. So the error may grow with the scale.
    if x.dtype == torch.float64:
        adjacency = dense.double()
        formula = lambda x: dense_attention(layer, x, adjacency)  # noqa: E731
        same(lambda x: layer(x, around), formula, x, parameters_of(layer), formula=True)
        return
    leaf = x.clone().requires_grad_()
    out = layer(leaf, around)
    weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(1))
    found = torch.autograd.grad((out * weights).sum(), [leaf, *parameters_of(layer)])
    double = GraphAttention(x.shape[1], out.shape[1]).double()
    double.load_state_dict(layer.state_dict())
    leaf = x.double().requires_grad_()
    truth = dense_attention(double, leaf, dense)
    expected = torch.autograd.grad((truth * weights).sum(), [leaf, *parameters_of(double)])
    for a, b in zip((out, *found), (truth, *expected), strict=True):
        assert bool(torch.isfinite(a).all())
        error = float((a - b).detach().abs().max())
        assert error <= 3e-6 * max(scale, 10.0) * max(float(b.detach().abs().max()), 1.0)


@pytest.mark.parametrize("lowest", [-59.9, -60.1, -500.0, -1e4])
def test_a_node_far_below_all_others_still_attends_to_itself(lowest):
    # Node 2 stands alone, and every exponential of its row would be exp(lowest) with one shift for all rows.
    graph = Graph(edges=np.array([[0], [1]]), x=np.ones((3, 1)))
    layer = value_is_score(to_target=0.0)
    x = torch.tensor([[0.0], [-1.0], [lowest]], requires_grad=True)
    out = layer(x, Neighbourhoods.from_scipy(graph.adjacency))
    torch.testing.assert_close(out[2], torch.full((8,), lowest))
    out[2, 0].backward()
    torch.testing.assert_close(x.grad, torch.tensor([[0.0], [0.0], [1.0]]), atol=2e-5, rtol=0)


@pytest.mark.parametrize("to_target", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("values", [[500.0, -500.0, 0.0], [-500.0, -499.0, 500.0], [500.0, 499.0, 498.0]])
def test_scores_of_hundreds_either_way(path, values, to_target, same):
    layer = value_is_score(to_target).double()
    around = Neighbourhoods.from_scipy(path.adjacency)
    adjacency = torch.from_numpy(path.adjacency.toarray()).double()
    x = torch.tensor(values, dtype=torch.float64)[:, None]
    single = value_is_score(to_target)(x.float(), around)
    torch.testing.assert_close(single, dense_attention(layer, x, adjacency).float(), atol=1e-3, rtol=1e-5)
    same(lambda x: layer(x, around), lambda x: dense_attention(layer, x, adjacency), x, [], formula=True)


def value_is_score(to_target):
    """Eight heads of width one with h_j = x_j and the score x_j + to_target · x_i."""
    layer = GraphAttention(1, HEADS)
    with torch.no_grad():
        layer.linear.weight.fill_(1.0)
        layer.to_source.fill_(1.0)
        layer.to_target.fill_(to_target)
    return layer


# ---------------------------------------------------------------------- by hand


def test_a_path_by_hand(path):
    layer = value_is_score(to_target=0.0)
    x = torch.tensor([[1.0], [2.0], [4.0]])
    out = layer(x, Neighbourhoods.from_scipy(path.adjacency))
    e1, e2, e4 = np.exp([1.0, 2.0, 4.0])
    expected = [
        (e1 + 2 * e2) / (e1 + e2),
        (e1 + 2 * e2 + 4 * e4) / (e1 + e2 + e4),
        (2 * e2 + 4 * e4) / (e2 + e4),
    ]
    assert out[:, 0].tolist() == pytest.approx(expected)
    assert torch.equal(out, out[:, :1].expand(-1, 8))


def test_a_node_alone_attends_to_itself(around, inputs):
    torch.manual_seed(0)
    layer = GraphAttention(4, 8)
    x = inputs.features
    torch.testing.assert_close(layer(x, around)[ALONE], x[ALONE] @ layer.linear.weight)


def test_model_is_its_layers_with_a_relu_between(around, inputs):
    torch.manual_seed(0)
    model = GAT(4, 3, around.num_nodes, Architecture(hidden=8, layers=2, dropout=0.0))
    first, second = model.layers
    assert (first.side_by_side, second.side_by_side) == (True, False)
    hidden = torch.relu(first(inputs.features, around))
    torch.testing.assert_close(model.embed(inputs, around), hidden)
    torch.testing.assert_close(model(NodeInputs(inputs.features), around), second(hidden, around))
