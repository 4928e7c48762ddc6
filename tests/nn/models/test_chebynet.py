"""The layer of ChebyNet against PyG's, with the same weights, and against cos(k arccos λ)."""

import pytest
import torch
from torch_geometric.nn import ChebConv

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.chebynet import ChebyNet, ChebyshevConv


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_layer_equals_pygs_in_values_and_gradients(graph, inputs, edge_index, same, steps, operators):
    torch.manual_seed(0)
    ours, theirs = ChebyshevConv(4, 3, steps=steps), ChebConv(4, 3, K=steps + 1, normalization="sym")
    (adjacency,) = operators("chebynet", graph)
    same(
        lambda x: ours(x, adjacency),
        lambda x: theirs(x, edge_index, lambda_max=2.0),
        inputs.features,
        parameters=[(ours.bias, theirs.bias)],
        linears=[(a.weight, b.weight) for a, b in zip(ours.linears, theirs.lins, strict=True)],
    )


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_every_term_is_a_chebyshev_polynomial_of_the_spectrum(graph, inputs, steps, operators):
    (adjacency,) = operators("chebynet", graph)
    values, vectors = torch.linalg.eigh(-adjacency.matrix.to_dense().double())
    layer = ChebyshevConv(graph.num_nodes, graph.num_nodes, steps=steps)
    for k, chosen in enumerate(layer.linears):
        with torch.no_grad():
            for linear in layer.linears:
                linear.weight.zero_()
            chosen.weight.copy_(torch.eye(graph.num_nodes))
        expected = vectors @ torch.diag(torch.cos(k * torch.arccos(values.clamp(-1, 1)))) @ vectors.T
        found = layer(torch.eye(graph.num_nodes), adjacency)
        torch.testing.assert_close(found, expected.float(), atol=1e-5, rtol=1e-4)


def test_a_path_by_hand(path, operators):
    layer = ChebyshevConv(1, 1, steps=2)
    with torch.no_grad():
        for linear, weight in zip(layer.linears, (1.0, 10.0, 100.0), strict=True):
            linear.weight.fill_(weight)
    x = torch.tensor([[1.0], [2.0], [4.0]])
    s = 2**-0.5  # each edge joins degrees 1 and 2
    once = torch.tensor([[-2 * s], [-5 * s], [-2 * s]])  # L̃ x = −Â x
    twice = 2 * torch.tensor([[2.5], [2.0], [2.5]]) - x  # 2 Â² x − x; Â² averages the ends, keeps the middle
    out = layer(x, *operators("chebynet", path))
    torch.testing.assert_close(out, x + 10 * once + 100 * twice)


def test_model_hands_its_degree_to_every_layer():
    model = ChebyNet(4, 3, 6, Architecture(layers=3), steps=3)
    assert [len(layer.linears) for layer in model.layers] == [4, 4, 4]
    assert [len(layer.linears) for layer in ChebyNet(4, 3, 6).layers] == [3, 3]
