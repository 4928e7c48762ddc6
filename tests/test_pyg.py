"""The missing half in PyG's terms, and the layer that takes it."""

import numpy as np
import pytest
import torch
from torch_geometric.transforms import Compose, ToUndirected

from otherhalf import Graph, InputError, Split, find_missing_half, split
from otherhalf.complement.settings import ComplementSettings, EncoderSettings, HeadSettings
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.nn import ComplementedGraphConv
from otherhalf.pyg import AddMissingHalf
from otherhalf.training.loop import TrainingSettings

SHORT = TrainingSettings(epochs=30)
SETTINGS = ComplementSettings(
    encoder=EncoderSettings("mlp", training=SHORT), head=HeadSettings(training=SHORT), k_homophily=4
)
GRAPH = contextual_sbm(num_nodes=120, num_classes=3, num_features=6, homophily=0.1, signal=3.0, seed=0)


@pytest.fixture(scope="module")
def data():
    return AddMissingHalf(seed=0, settings=SETTINGS)(GRAPH.to_pyg())


def test_it_adds_what_find_missing_half_finds(data):
    half = find_missing_half(GRAPH, split(GRAPH, "uniform", 0), 0, settings=SETTINGS)
    expected = set(zip(*half.adjacency.nonzero(), strict=True))
    assert data.missing_kind == half.kind == "homophily"  # this graph joins unlike nodes
    assert data.missing_edge_index.dtype == torch.int64
    assert set(map(tuple, data.missing_edge_index.T.tolist())) == expected
    assert data.missing_edge_index.shape == (2, 2 * half.num_edges)


def test_both_ways_and_without_loops(data):
    source, target = data.missing_edge_index
    assert set(zip(source.tolist(), target.tolist(), strict=True)) == set(
        zip(target.tolist(), source.tolist(), strict=True)
    )
    assert (source != target).all()
    assert data.is_undirected()
    assert data.validate()


def test_the_data_given_is_not_changed():
    data = GRAPH.to_pyg()
    AddMissingHalf(settings=SETTINGS)(data)
    assert "missing_edge_index" not in data
    assert "missing_edge_index" in Compose([ToUndirected(), AddMissingHalf(settings=SETTINGS)])(data)


def test_options_reach_the_search(data):
    other = AddMissingHalf(settings=SETTINGS, follow="homophily")(GRAPH.to_pyg())
    assert other.missing_kind == "heterophily"


def test_masks_of_the_data_are_its_split():
    one, two = split(GRAPH, seed=1), split(GRAPH, seed=2)
    masked = Graph(edges=GRAPH.edges, x=GRAPH.x, y=GRAPH.y, fixed_splits=(one, two)).to_pyg()
    for number, parts in enumerate((one, two)):
        found = AddMissingHalf(fixed=number, settings=SETTINGS)(masked)
        half = find_missing_half(GRAPH, parts, 0, settings=SETTINGS)
        expected = np.stack(half.adjacency.nonzero())
        assert np.array_equal(found.missing_edge_index.numpy(), expected)
    with pytest.raises(InputError, match="fixed must be from 0 to 1, the columns of the masks, not 2"):
        AddMissingHalf(fixed=2, settings=SETTINGS)(masked)


def test_test_labels_play_no_part():
    parts = split(GRAPH, seed=1)
    y = GRAPH.y.copy()
    y[parts.test] = (y[parts.test] + 1) % 3
    fixed = (Split(parts.train, parts.val, parts.test),)
    found = [
        AddMissingHalf(settings=SETTINGS)(
            Graph(edges=GRAPH.edges, x=GRAPH.x, y=labels, fixed_splits=fixed).to_pyg()
        ).missing_edge_index
        for labels in (GRAPH.y, y)
    ]
    assert torch.equal(*found)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = ComplementedGraphConv(6, 16, learn_coefficients=True, bias=True)
        self.second = ComplementedGraphConv(16, 3, learn_coefficients=True, bias=True)

    def forward(self, data):
        halves = (data.missing_edge_index, data.edge_index)  # the homophilic half first, here the missing one
        return self.second(torch.relu(self.first(data.x, *halves)), *halves)


def test_the_layer_learns_in_a_module_of_ones_own(data):
    assert data.missing_kind == "homophily"
    torch.manual_seed(0)
    parts = split(GRAPH, "uniform", 0)
    train, test = torch.from_numpy(parts.train.copy()), torch.from_numpy(parts.test.copy())
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(data)[train], data.y[train]).backward()
        optimizer.step()
    right = net(data).argmax(dim=1) == data.y
    assert right[test].float().mean() > 0.8  # chance would give 1/3
    assert all(parameter.grad is not None for parameter in net.parameters())
