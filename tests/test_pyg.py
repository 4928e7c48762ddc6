"""The missing half in PyG's terms, and the layer that takes it."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import NodeLoader
from torch_geometric.nn import SAGEConv
from torch_geometric.transforms import Compose, ToUndirected

from otherhalf import Graph, InputError, Split, find_missing_half, split
from otherhalf.complement.settings import ComplementSettings, EncoderSettings, HeadSettings
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.nn import ComplementedGraphConv
from otherhalf.pyg import AddMissingHalf, NeighbourSampler
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


# ---------------------------------------------------------------------- neighbour sampling


def loader(data, fanout, **options):
    return NodeLoader(data, NeighbourSampler(data, fanout), **options)


def test_a_batch_of_pyg_s_loader_has_edges_of_the_graph():
    data = GRAPH.to_pyg()
    data.number = torch.arange(data.edge_index.shape[1])  # an attribute of every edge goes along
    torch.manual_seed(0)
    met = []
    for batch in loader(data, [3, 2], batch_size=50, shuffle=True):
        seeds = batch.n_id[: batch.batch_size]
        met += seeds.tolist()
        assert len(set(batch.n_id.tolist())) == len(batch.n_id)
        torch.testing.assert_close(batch.x, data.x[batch.n_id])
        torch.testing.assert_close(data.edge_index[:, batch.number], batch.n_id[batch.edge_index])
        incoming = torch.bincount(batch.edge_index[1], minlength=len(batch.n_id))
        degree = torch.bincount(data.edge_index[1], minlength=data.num_nodes)[batch.n_id]
        torch.testing.assert_close(incoming[: batch.batch_size], degree[: batch.batch_size].clamp(max=3))
        assert (incoming[batch.batch_size :] <= 2).all()
        assert batch.num_sampled_nodes[0] == batch.batch_size
        assert sum(batch.num_sampled_nodes) == len(batch.n_id)
        assert sum(batch.num_sampled_edges) == batch.edge_index.shape[1]
    assert sorted(met) == list(range(data.num_nodes))


def test_with_all_neighbours_a_layer_of_pyg_gives_what_it_gives_on_the_graph():
    data = GRAPH.to_pyg()
    torch.manual_seed(0)
    first, last = SAGEConv(data.num_features, 8), SAGEConv(8, 3)
    whole = last(first(data.x, data.edge_index).relu(), data.edge_index)
    for batch in loader(data, [-1, -1], batch_size=40):
        found = last(first(batch.x, batch.edge_index).relu(), batch.edge_index)[: batch.batch_size]
        torch.testing.assert_close(found, whole[batch.n_id[: batch.batch_size]])


def test_torch_s_seed_decides_the_batches():
    data = GRAPH.to_pyg()

    def nodes(seed, **options):
        torch.manual_seed(seed)
        return [batch.n_id.tolist() for batch in loader(data, [2, 2], batch_size=60, **options)]

    assert nodes(0) == nodes(0) != nodes(1)


def test_messages_of_a_directed_graph_go_from_source_to_target():
    data = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]]))  # 0 → 1 → 2
    (batch,) = loader(data, [5], input_nodes=torch.tensor([2]), batch_size=1)
    assert batch.n_id.tolist() == [2, 1]
    assert batch.edge_index.tolist() == [[1], [0]]
