"""Bit-equal with several threads too: the other tests run with one, which hides sums taken in any order."""

import numpy as np
import pytest
import torch

from otherhalf import GOALClassifier, split
from otherhalf.complement.ranking import ranking_loss, true_scores
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.nn.baselines.gat import GraphAttention

NODES = 500
REPEATS = 20


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def z():
    return torch.randn(NODES, 64, generator=torch.Generator().manual_seed(0))


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


def test_graph_attention(z):
    edges = torch.randint(0, NODES, (2, 20 * NODES), generator=torch.Generator().manual_seed(1))
    conv = GraphAttention(64, 16)

    def gradients():
        conv.zero_grad()
        leaf = z.clone().requires_grad_()
        (conv(leaf, edges) ** 2).sum().backward()
        return torch.cat([leaf.grad.flatten(), *(p.grad.flatten() for p in conv.parameters())])

    first = gradients()
    assert all(torch.equal(gradients(), first) for _ in range(REPEATS))


@pytest.mark.parametrize("encoder", ["gcn", "gat", "structure"])
def test_a_whole_fit(encoder):
    graph = contextual_sbm(num_nodes=600, num_features=16, seed=0)
    parts = split(graph, seed=0)
    fits = [GOALClassifier(seed=0, encoder=encoder, epochs=10).fit(graph, parts) for _ in range(2)]
    assert np.array_equal(fits[0].predict_proba(graph), fits[1].predict_proba(graph))
    assert np.array_equal(fits[0].missing_half_.pairs, fits[1].missing_half_.pairs)
