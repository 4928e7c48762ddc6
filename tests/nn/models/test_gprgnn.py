"""GPR-GNN against its sum over powers of a dense matrix, and against APPNP where it starts."""

import pytest
import torch
from torch_geometric.utils import to_dense_adj

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.appnp import APPNP
from otherhalf.nn.models.gprgnn import GPRGNN
from otherhalf.nn.models.mlp import MLP
from otherhalf.training.loop import TrainingSettings, train

SHAPE = Architecture(hidden=6, dropout=0.0)


@pytest.mark.parametrize("steps", [1, 2, 5, 10])
def test_model_equals_the_dense_formula(graph, inputs, edge_index, same, steps, operators):
    torch.manual_seed(0)
    model = GPRGNN(4, 3, graph.num_nodes, SHAPE, steps=steps, teleport=0.2)
    with torch.no_grad():
        model.theta.normal_()
    (adjacency,) = operators("gprgnn", graph)
    looped = to_dense_adj(edge_index, max_num_nodes=graph.num_nodes)[0] + torch.eye(graph.num_nodes)
    root = torch.diag(looped.sum(1) ** -0.5)
    a = root @ looped @ root

    def formula(x):
        logits = MLP.forward(model, NodeInputs(x))
        return sum(theta * torch.linalg.matrix_power(a, k) @ logits for k, theta in enumerate(model.theta))

    parameters = list(model.parameters())
    assert any(p is model.theta for p in parameters)
    same(lambda x: model(NodeInputs(x), adjacency), formula, inputs.features, parameters, formula=True)


@pytest.mark.parametrize(("steps", "teleport"), [(1, 0.3), (10, 0.1), (4, 0.0), (3, 1.0)])
def test_it_starts_as_appnp(graph, inputs, steps, teleport, operators):
    torch.manual_seed(0)
    ours = GPRGNN(4, 3, graph.num_nodes, SHAPE, steps=steps, teleport=teleport)
    torch.manual_seed(0)
    appnp = APPNP(4, 3, graph.num_nodes, SHAPE, steps=steps, teleport=teleport)
    given = operators("gprgnn", graph)
    assert float(ours.theta.detach().sum()) == pytest.approx(1)
    torch.testing.assert_close(ours(inputs, *given), appnp(inputs, *given))


def test_the_start_by_hand():
    assert GPRGNN(4, 3, 5, steps=2, teleport=0.25).theta.tolist() == pytest.approx([0.25, 0.1875, 0.5625])


def test_a_path_by_hand(path, operators):
    model = GPRGNN(1, 2, 3, Architecture(layers=1, dropout=0.0), steps=1)
    with torch.no_grad():
        model.layers[0].weight.copy_(torch.tensor([[1.0, 0.0]]))
        model.theta.copy_(torch.tensor([3.0, -2.0]))
    x = torch.tensor([[1.0], [2.0], [4.0]])
    s = 6**-0.5  # with self loops the degrees are 2, 3 and 2
    walked = torch.tensor([1 / 2 + 2 * s, 5 * s + 2 / 3, 2 * s + 2])
    out = model(NodeInputs(x), *operators("gprgnn", path))
    torch.testing.assert_close(out[:, 0], 3 * x[:, 0] - 2 * walked)


def test_weight_decay_leaves_the_strengths_alone(graph, inputs, operators):
    model = GPRGNN(4, 3, graph.num_nodes, SHAPE)
    before = model.theta.detach().clone()
    nothing = lambda batch: 0.0 * model(inputs, *operators("gprgnn", graph))[batch].sum()  # noqa: E731
    everyone = [torch.arange(graph.num_nodes)]
    train(model, nothing, everyone, lambda: (0.0,), TrainingSettings(weight_decay=1.0, epochs=1))
    assert torch.equal(model.theta, before)


def test_predictions_are_dropped_before_they_are_propagated_in_training_only(graph, inputs, operators):
    torch.manual_seed(0)
    # One layer that sees all features, and a propagation that changes nothing: what is zero was dropped.
    shape = Architecture(layers=1, dropout=0.0)
    model = GPRGNN(4, 3, graph.num_nodes, shape, steps=1, teleport=1.0, walk_dropout=0.3)
    given = operators("gprgnn", graph)
    with torch.no_grad():
        model.layers[0].bias.fill_(1.0)  # so that no prediction is zero by itself
        share = float((torch.cat([model(inputs, *given) for _ in range(200)]) == 0).float().mean())
        assert share == pytest.approx(0.3, abs=0.05)
        assert (model.eval()(inputs, *given) != 0).all()
