"""ACM-GCN+ against the formula of its docstring, written out with dense matrices."""

import pytest
import torch

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.acmgcn import ACMGCN, AdaptiveChannelMixing
from otherhalf.nn.models.registry import MODELS
from otherhalf.nn.ops.sparse import SparseOperator, mean_adjacency


def formula(layer, x, adjacency, rows):
    """One layer; ``adjacency`` is A, ``rows`` are the columns of it that the layer knows."""
    looped = adjacency + torch.eye(len(adjacency))
    mean = torch.diag(1 / looped.sum(1)) @ looped
    low = torch.relu(mean @ x @ layer.low.weight)
    high = torch.relu((torch.eye(len(x)) - mean) @ x @ layer.high.weight)
    identity = torch.relu(x @ layer.identity.weight)
    structure = torch.relu(rows @ layer.structure.weight)
    w_low, w_high, w_identity, w_structure = layer.votes
    votes = torch.stack([low @ w_low, high @ w_high, identity @ w_identity, structure @ w_structure], dim=1)
    shares = torch.softmax(torch.sigmoid(votes) @ layer.mix.weight / 4, dim=1)
    views = (low, high, identity, structure)
    return 4 * sum(torch.diag(shares[:, c]) @ view for c, view in enumerate(views))


@pytest.mark.parametrize("known", [14, 11], ids=["all nodes known", "three nodes new"])
def test_layer_equals_the_formula_in_values_and_gradients(graph, inputs, dense, same, known, operators):
    torch.manual_seed(0)
    layer = AdaptiveChannelMixing(4, 5, row_width=known)
    (mean, _), rows = operators("acmgcn", graph), graph.adjacency[:, :known]
    same(
        lambda x: layer(x, mean, SparseOperator.from_scipy(rows)),
        lambda x: formula(layer, x, dense, dense[:, :known]),
        inputs.features,
        list(layer.parameters()),
        formula=True,
    )


def test_model_is_its_layers_with_a_relu_between(graph, prepared, inputs, dense, same):
    torch.manual_seed(0)
    model = ACMGCN(4, 3, graph.num_nodes, Architecture(hidden=5, dropout=0.0))
    first, second = model.layers

    def twice(x):
        return formula(second, torch.relu(formula(first, x, dense, dense)), dense, dense)

    given = prepared.arguments(MODELS["acmgcn"].operators)[1:]
    assert given[1] is inputs.neighbours
    same(
        lambda x: model(NodeInputs(x), *given),
        twice,
        inputs.features,
        list(model.parameters()),
        formula=True,
    )


def test_a_path_by_hand(path):
    layer = AdaptiveChannelMixing(1, 1, row_width=3)
    with torch.no_grad():
        for linear in (layer.low, layer.high, layer.identity):
            linear.weight.fill_(1.0)
        layer.structure.weight.copy_(torch.tensor([[100.0], [1000.0], [10.0]]))
        layer.mix.weight.zero_()  # so that all four views weigh the same, 4 · 1/4
    x = torch.tensor([[1.0], [2.0], [4.0]])
    mean, rows = mean_adjacency(path.adjacency, self_loops=True), SparseOperator.from_scipy(path.adjacency)
    # Means 1.5, 7/3, 3; what is above them 0, 0, 1; themselves 1, 2, 4; rows 1000, 110, 1000.
    expected = torch.tensor([[1.5 + 0 + 1 + 1000], [7 / 3 + 0 + 2 + 110], [3.0 + 1 + 4 + 1000]])
    torch.testing.assert_close(layer(x, mean, rows), expected)


def test_a_vote_sways_a_node_by_its_own_views(path):
    layer = AdaptiveChannelMixing(1, 1, row_width=3)
    with torch.no_grad():
        for linear in (layer.low, layer.high, layer.identity, layer.structure):
            linear.weight.fill_(1.0)
        layer.votes.copy_(torch.tensor([[0.0], [0.0], [1e6], [0.0]]))  # sigmoids ½, ½, 1, ½
        layer.mix.weight.copy_(torch.diag(torch.tensor([0.0, 0.0, 400.0, 0.0])))
    x = torch.tensor([[1.0], [2.0], [4.0]])
    mean, rows = mean_adjacency(path.adjacency, self_loops=True), SparseOperator.from_scipy(path.adjacency)
    torch.testing.assert_close(layer(x, mean, rows), 4 * x)
