"""Every kind by name: built with the frame it is given, called with the operators it is made for."""

import pytest
import scipy.sparse as sp
import torch

from otherhalf.graph import Graph
from otherhalf.nn.backbone import Architecture, NodeInputs
from otherhalf.nn.models.gat import Neighbourhoods
from otherhalf.nn.models.registry import KINDS, build, operators
from otherhalf.nn.ops.sparse import SparseOperator

SHAPE = Architecture(hidden=6, dropout=0.0)
HALF, THIRD, S, Q = 1 / 2, 1 / 3, 2**-0.5, 6**-0.5
WITH_LOOPS = [[HALF, Q, 0], [Q, THIRD, Q], [0, Q, HALF]]
OPERATORS = {  # of the path 0 – 1 – 2
    "mlp": [],
    "gcn": [WITH_LOOPS],
    "appnp": [WITH_LOOPS],
    "gprgnn": [WITH_LOOPS],
    "jknet": [WITH_LOOPS],
    "sage": [[[0, 1, 0], [HALF, 0, HALF], [0, 1, 0]]],
    "chebynet": [[[0, S, 0], [S, 0, S], [0, S, 0]]],
    "linkx": [],
    "acmgcn": [[[HALF, HALF, 0], [THIRD, THIRD, THIRD], [0, HALF, HALF]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]],
    "structure": [],
}


@pytest.mark.parametrize("kind", OPERATORS)
def test_operators_of_a_path_by_hand(path, kind):
    rows = SparseOperator.from_scipy(path.adjacency)
    found = operators(kind, path, NodeInputs(torch.ones(3, 1), rows))
    assert len(found) == len(OPERATORS[kind])
    for operator, expected in zip(found, OPERATORS[kind], strict=True):
        torch.testing.assert_close(operator.matrix.to_dense(), torch.tensor(expected, dtype=torch.float32))


def test_gat_is_the_one_with_neighbourhoods(path):
    (around,) = operators("gat", path, NodeInputs(torch.ones(3, 1)))
    assert isinstance(around, Neighbourhoods)
    assert set(OPERATORS) | {"gat"} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_features_give_what_dense_ones_give(graph, inputs, kind):
    torch.manual_seed(0)
    model = build(kind, 4, 3, graph.num_nodes, SHAPE)
    x = inputs.features * (inputs.features > 0)
    sparse = NodeInputs(SparseOperator.from_scipy(sp.csr_matrix(x.numpy())), inputs.neighbours)
    given = operators(kind, graph, inputs)
    out = model(sparse, *given)
    assert out.shape == (graph.num_nodes, 3)
    torch.testing.assert_close(out, model(NodeInputs(x, inputs.neighbours), *given))


@pytest.mark.parametrize("kind", KINDS)
def test_which_kinds_read_edges(graph, inputs, kind):
    torch.manual_seed(0)
    model = build(kind, 4, 3, graph.num_nodes, SHAPE)
    fewer = Graph(edges=graph.edges[:, 1:], x=graph.x)
    without = NodeInputs(inputs.features, SparseOperator.from_scipy(fewer.adjacency))
    one, two = (
        model(inputs, *operators(kind, graph, inputs)),
        model(without, *operators(kind, fewer, without)),
    )
    assert torch.equal(one, two) == (kind == "mlp")


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_nodes_is_of_no_account(graph, inputs, kind):
    # Turn the nodes around, and with them whatever the model knows by a node's place.
    torch.manual_seed(0)
    model = build(kind, 4, 3, graph.num_nodes, SHAPE)
    before = model(inputs, *operators(kind, graph, inputs)).detach()
    turned = Graph(edges=graph.num_nodes - 1 - graph.edges, x=graph.x[::-1].copy())
    rows = SparseOperator.from_scipy(turned.adjacency)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("trunk.neighbours.weight", "structure.weight")):
                parameter.copy_(parameter.flip(0))
    given = NodeInputs(inputs.features.flip(0), rows)
    after = model(given, *operators(kind, turned, given))
    torch.testing.assert_close(after.flip(0), before, atol=1e-5, rtol=1e-4)


def test_walks_reach_the_kinds_that_take_them():
    assert build("appnp", 4, 3, 6, SHAPE, steps=3, teleport=0.5).steps == 3
    assert build("appnp", 4, 3, 6, SHAPE, steps=3, teleport=0.5).teleport == 0.5
    assert len(build("gprgnn", 4, 3, 6, SHAPE, steps=3, teleport=0.5).theta) == 4
    assert len(build("chebynet", 4, 3, 6, SHAPE, steps=3).layers[0].linears) == 4
