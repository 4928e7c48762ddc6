"""Bit-equal with several threads too: the other tests run with one, which hides sums taken in any order."""

import numpy as np
import pytest
import torch

from otherhalf import GOALClassifier, split
from otherhalf.complement.ranking import ranking_loss, true_scores
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.nn.models.acmgcn import AdaptiveChannelMixing
from otherhalf.nn.models.gat import GraphAttention
from otherhalf.nn.ops import compiled
from otherhalf.nn.ops.attention import Neighbourhoods
from otherhalf.nn.ops.sparse import SparseOperator, mean_adjacency
from otherhalf.system.adjacency import symmetric_adjacency

NODES = 500
REPEATS = 8


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setattr(compiled, "WORTH_A_THREAD", 1)  # else the graphs here are too small to be shared out
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def z():
    return torch.randn(NODES, 64, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def adjacency():
    return symmetric_adjacency(np.random.default_rng(1).integers(0, NODES, (2, 20 * NODES)), NODES)


def test_ranking_loss(z):
    # Every node stands in some twenty lists, so that its gradient is a sum of many.
    lists = torch.randint(0, NODES, (NODES, 20), generator=torch.Generator().manual_seed(1))
    scores = true_scores(lists)

    def gradient():
        leaf = z.clone().requires_grad_()
        ranking_loss(leaf, lists, scores).backward()
        return leaf.grad

    first = gradient()
    assert all(torch.equal(gradient(), first) for _ in range(REPEATS))


@pytest.mark.parametrize("scale", [1.0, 200.0], ids=["small scores", "large scores"])
def test_graph_attention(z, adjacency, scale):
    around = Neighbourhoods.from_scipy(adjacency)
    torch.manual_seed(0)
    conv = GraphAttention(64, 16)
    with torch.no_grad():
        conv.to_source.mul_(scale)
    assert_bit_equal(conv, z, around)


def test_adaptive_channel_mixing(z, adjacency):
    mean, rows = mean_adjacency(adjacency, self_loops=True), SparseOperator.from_scipy(adjacency)
    torch.manual_seed(0)
    assert_bit_equal(AdaptiveChannelMixing(64, 16, row_width=NODES), z, mean, rows)


def assert_bit_equal(layer, z, *operators):
    def once():
        leaf = z.clone().requires_grad_()
        out = layer(leaf, *operators)
        grads = torch.autograd.grad((out**2).sum(), [leaf, *layer.parameters()])
        return torch.cat([part.flatten() for part in (out, *grads)])

    first = once()
    assert bool(torch.isfinite(first).all())
    assert all(torch.equal(once(), first) for _ in range(REPEATS))


@pytest.mark.parametrize("kind", ["gat", "acmgcn"])
def test_a_baseline(kind):
    graph = contextual_sbm(num_nodes=600, num_features=16, seed=0)
    parts = split(graph, seed=0)
    fits = [BaselineClassifier(kind, seed=0, epochs=4).fit(graph, parts) for _ in range(2)]
    assert fits[0].history_ == fits[1].history_
    assert np.array_equal(fits[0].predict_proba(graph), fits[1].predict_proba(graph))


@pytest.mark.parametrize("encoder", ["gcn", "structure"])
def test_a_whole_fit(encoder):
    graph = contextual_sbm(num_nodes=600, num_features=16, seed=0)
    parts = split(graph, seed=0)
    fits = [GOALClassifier(seed=0, encoder=encoder, epochs=10).fit(graph, parts) for _ in range(2)]
    assert np.array_equal(fits[0].predict_proba(graph), fits[1].predict_proba(graph))
    assert np.array_equal(fits[0].missing_half_.pairs, fits[1].missing_half_.pairs)
