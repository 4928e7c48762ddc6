"""With all neighbours, training on samples is full-batch training; predictions never depend on a draw."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.nn import functional as F

from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.models.registry import MODELS, build, resolve_options
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.nn.sampling import ALL
from otherhalf.nn.subgraph import Subgraphs
from otherhalf.training import sampled
from otherhalf.training.loop import TrainingSettings, seeded
from otherhalf.training.sampled import Shuffled, check_fanout, fit_sampled, logits_in_blocks
from otherhalf.training.supervised import Supervision, fit_supervised

PROPAGATED = ("appnp", "gprgnn")
SAMPLED = tuple(name for name in MODELS if name not in PROPAGATED)


def made(*, sparse: bool = False, weighted: bool = False) -> Graph:
    """60 nodes with an isolated one and, if wanted, sparse features and weights of the edges."""
    graph = contextual_sbm(num_nodes=60, num_classes=3, num_features=24, homophily=0.6, signal=2.0, seed=0)
    keep = (graph.edges != 7).all(axis=0)
    edges = graph.edges[:, keep]
    x = np.where(np.abs(graph.x) > np.quantile(np.abs(graph.x), 0.9), graph.x, 0) if sparse else graph.x
    weights = np.random.default_rng(0).uniform(0.5, 3, edges.shape[1]) if weighted else None
    return Graph(edges=edges, x=sp.csr_matrix(x) if sparse else x, y=graph.y, weights=weights)


def module_of(kind, graph, *, norm="layer", residual=True):
    torch.manual_seed(0)
    shape = Architecture(hidden=16, layers=2, dropout=0.0, norm=norm, residual=residual)
    return build(kind, *graph.sizes, shape, resolve_options(kind, {}))


def ready(kind, graph):
    return PreparedGraph(graph, Scaling("none")), MODELS[kind].operators, resolve_options(kind, {})


def hops(kind):
    return (ALL,) * (2 * resolve_options(kind, {}).get("steps", 1))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", SAMPLED)
def test_all_neighbours_give_the_loss_and_the_gradients_of_the_full_batch(kind, sparse, weighted):
    graph = made(sparse=sparse, weighted=weighted)
    prepared, operators, options = ready(kind, graph)
    assert isinstance(prepared.inputs.features, torch.Tensor) == (not sparse)
    nodes, y = np.random.default_rng(0).permutation(60)[:20], torch.from_numpy(graph.y.copy())
    gradients, losses = [], []
    for way in ("whole", "all", "more than the largest degree"):
        module = module_of(kind, graph)
        if way == "whole":
            logits = module(*prepared.arguments(operators))[torch.from_numpy(nodes)]
        else:
            fanout = hops(kind) if way == "all" else (60,) * len(hops(kind))
            fanout = check_fanout(module, operators, options, fanout)
            subgraphs = Subgraphs(prepared, operators, fanout, len(module.layers))
            logits = module.on_sample(*subgraphs.batch(nodes, 0))
        loss = F.cross_entropy(logits, y[nodes])
        loss.backward()
        losses.append(loss.detach())
        gradients.append([p.grad for p in module.parameters()])
    for found, grads in zip(losses[1:], gradients[1:], strict=True):
        torch.testing.assert_close(found, losses[0])
        for one, other in zip(grads, gradients[0], strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", SAMPLED)
@pytest.mark.parametrize("block", [10**6, 7])
def test_logits_in_blocks_are_those_of_the_whole_graph(kind, sparse, block, monkeypatch):
    if block < 60:
        monkeypatch.setattr(sampled, "WHOLE", 0)
        monkeypatch.setattr(sampled, "BLOCK", block)
    graph = made(sparse=sparse)
    prepared, operators, options = ready(kind, graph)
    module = module_of(kind, graph).eval()
    with torch.no_grad():
        whole = module(*prepared.arguments(operators))
    found = logits_in_blocks(module, prepared, operators, options)
    torch.testing.assert_close(found, whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["sage", "gcn", "chebynet"])
def test_a_row_of_a_sample_is_on_average_that_of_the_whole_graph(kind):
    """One linear layer: the mean of its logits over many samples."""
    graph = made(weighted=True)
    prepared, operators, _ = ready(kind, graph)
    torch.manual_seed(0)
    options = {"steps": 1} if kind == "chebynet" else {}
    module = build(kind, *graph.sizes, Architecture(layers=1, dropout=0.0), options)
    nodes = np.arange(60)
    subgraphs = Subgraphs(prepared, operators, (2,), 1)
    with torch.no_grad():
        whole = module(*prepared.arguments(operators))
        draws = torch.stack([module.on_sample(*subgraphs.batch(nodes, seed)) for seed in range(600)])
    error = draws.std(dim=0) / 600**0.5
    assert ((draws.mean(dim=0) - whole).abs() <= 5 * error + 1e-5).all()
    assert error.max() > 0


def test_one_batch_of_all_neighbours_trains_as_the_full_batch():
    graph = made()
    parts = split(graph, "uniform", 0)
    settings, supervision = TrainingSettings(epochs=5, patience=5), Supervision(parts)
    prepared, operators, options = ready("sage", graph)
    histories = []
    for way in ("whole", "sampled"):
        module = module_of("sage", graph)
        with seeded(0):
            if way == "whole":
                arguments = prepared.arguments(operators)
                histories.append(fit_supervised(module, arguments, graph, settings, supervision))
            else:
                args = (operators, options, (ALL, ALL), 1000, settings, supervision)
                histories.append(fit_sampled(module, prepared, *args))
    np.testing.assert_allclose(histories[0].losses, histories[1].losses, rtol=1e-4)
    np.testing.assert_allclose(histories[0].scores, histories[1].scores, rtol=1e-3)


def test_the_seed_decides():
    graph = made()
    prepared, operators, options = ready("sage", graph)
    settings, supervision = TrainingSettings(epochs=2), Supervision(split(graph, "uniform", 0))

    def losses(seed, threads=1):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            with seeded(seed):
                module = module_of("sage", graph)
                torch.manual_seed(seed)
                args = (operators, options, (2, 2), 10, settings, supervision)
                return fit_sampled(module, prepared, *args).losses
        finally:
            torch.set_num_threads(before)

    assert losses(0) == losses(0) != losses(1)
    # Dense products add in another order with two threads; the samples are the same.
    np.testing.assert_allclose(losses(0), losses(0, threads=2), rtol=1e-4)


def test_an_epoch_has_every_node_once():
    batches = Shuffled(torch.arange(23), 10)
    assert len(batches) == 3
    first, second = list(batches), list(batches)
    assert sorted(torch.cat(first).tolist()) == sorted(torch.cat(second).tolist()) == list(range(23))
    assert torch.cat(first).tolist() != torch.cat(second).tolist()
    assert {len(each) for each in first} == {7, 8}
    assert len(batches[0]) == 8


def test_what_cannot_be_sampled_is_refused():
    graph = made()
    for kind in PROPAGATED:
        with pytest.raises(InputError, match="propagates its predictions over the whole graph"):
            check_fanout(module_of(kind, graph), MODELS[kind].operators, {}, (2, 2))
    with pytest.raises(InputError, match="norm='batch' takes its mean over all nodes of a step"):
        check_fanout(module_of("sage", graph, norm="batch"), ("mean",), {}, (2, 2))
    with pytest.raises(InputError, match=r"fanout has 1 numbers, and this model reads 2 hops .* give 2"):
        check_fanout(module_of("sage", graph), ("mean",), {}, (2,))
    assert check_fanout(module_of("mlp", graph), (), {}, (2, 2)) == ()  # it reads no neighbours
