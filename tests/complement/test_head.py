"""The head: its formula, its two losses, and the score by which its weights are kept."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from otherhalf.complement import head as head_module
from otherhalf.complement.grouping import grouping_loss
from otherhalf.complement.head import VALIDATION_K, Head, train_head
from otherhalf.complement.ranking import ranking_lists, ranking_loss, true_scores
from otherhalf.complement.settings import HeadSettings
from otherhalf.data.splits import split as make_split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.graph import Graph, Split
from otherhalf.training.loop import Monitor, TrainingSettings, seeded
from otherhalf.training.supervised import Supervision


@pytest.fixture(scope="module")
def graph() -> Graph:
    return contextual_sbm(num_nodes=90, num_classes=3, num_features=6, average_degree=6, signal=1.5, seed=1)


@pytest.fixture(scope="module")
def split(graph) -> Split:
    return make_split(graph, "uniform", seed=0)


@pytest.fixture(scope="module")
def z_gnn() -> torch.Tensor:
    return torch.randn(90, 5, generator=torch.Generator().manual_seed(0))


def head_settings(epochs: int = 1, **options) -> HeadSettings:
    return HeadSettings(width=8, ranking_k=3, training=TrainingSettings(epochs=epochs), **options)


def test_an_mlp_with_a_relu_between_and_none_at_the_end():
    torch.manual_seed(0)
    head = Head(5, HeadSettings(width=8, layers=3))
    first, second, third = head.layers
    z = torch.randn(7, 5)
    expected = third(torch.relu(second(torch.relu(first(z)))))
    assert torch.equal(head(z), expected)
    assert bool((expected < 0).any())


def test_dropout_in_training_only():
    torch.manual_seed(0)
    head = Head(5, HeadSettings(width=8, dropout=0.5))
    z = torch.randn(7, 5)
    assert not torch.equal(head(z), head(z))
    head.eval()
    assert torch.equal(head(z), head(z))


@pytest.mark.parametrize("mean", [True, False])
def test_first_loss_is_grouping_plus_ranking_on_the_training_nodes(graph, split, z_gnn, mean):
    settings = head_settings(mean_ranking_loss=mean)
    _, history = train_head(graph, z_gnn, settings, Supervision(split), most_similar=True)
    with seeded(0):
        z = Head(5, settings)(z_gnn[np.array(split.train)]).detach()
    lists = ranking_lists(graph.x, graph.y, split.train, 3)
    rank = ranking_loss(z, lists, true_scores(lists)) / (len(split.train) if mean else 1)
    group = grouping_loss(z, torch.from_numpy(graph.y[split.train]))
    assert history.losses[0] == pytest.approx(float(group + rank), rel=1e-5)


@pytest.mark.parametrize("most_similar", [True, False])
def test_score_counts_what_validation_nodes_find_among_training_nodes(graph, split, z_gnn, most_similar):
    head, history = train_head(graph, z_gnn, head_settings(), Supervision(split), most_similar=most_similar)
    z = head(z_gnn).detach().double().numpy()
    hits = []
    for i in split.val:
        by_dot = sorted(split.train, key=lambda j: z[i] @ z[j], reverse=most_similar)[:VALIDATION_K]
        hits += [(graph.y[j] == graph.y[i]) == most_similar for j in by_dot]
    assert history.scores == [[pytest.approx(np.mean(hits))]]
    assert 0 < np.mean(hits) < 1


def test_fewer_training_nodes_than_are_looked_up(graph, z_gnn):
    few = Split(train=[0, 1, 2, 3], val=[4, 5, 6], test=[7])
    _, history = train_head(graph, z_gnn, head_settings(), Supervision(few), most_similar=True)
    same = np.mean([[graph.y[i] == graph.y[j] for j in few.train] for i in few.val])
    assert history.scores == [[pytest.approx(same)]]  # all four are looked up, whatever the embedding


def test_training_lowers_the_loss_and_keeps_the_best_weights(graph, split):
    z_gnn = torch.from_numpy(np.array(graph.x))
    head, history = train_head(graph, z_gnn, head_settings(60), Supervision(split), most_similar=True)
    assert history.losses[-1] < 0.9 * history.losses[0]
    assert history.best_score[0] > 0.4  # one in three by chance
    assert not head.training


def test_a_seed_determines_the_head_and_the_callers_numbers_go_on(graph, split, z_gnn):
    before = torch.get_rng_state()
    settings = head_settings(5, dropout=0.3)
    first, history = train_head(graph, z_gnn, settings, Supervision(split), most_similar=True)
    assert torch.equal(torch.get_rng_state(), before)
    again, same = train_head(graph, z_gnn, settings, Supervision(split), most_similar=True)
    assert history == same
    assert torch.equal(first(z_gnn), again(z_gnn))
    other, _ = train_head(graph, z_gnn, settings, Supervision(split, 1), most_similar=True)
    assert not torch.equal(first(z_gnn), other(z_gnn))


def test_labels_of_other_nodes_are_out_of_reach(graph, split, z_gnn):
    outside = np.setdiff1d(np.arange(90), np.concatenate([split.train, split.val]))
    y = graph.y.copy()
    y[outside] = -1
    changed = replace(graph, y=y, classes=graph.classes)
    first, history = train_head(graph, z_gnn, head_settings(5), Supervision(split), most_similar=False)
    second, same = train_head(changed, z_gnn, head_settings(5), Supervision(split), most_similar=False)
    assert history == same
    assert torch.equal(first(z_gnn), second(z_gnn))


def test_candidates_of_the_ranking_lists_are_bounded(graph, split, z_gnn):
    settings = head_settings(max_candidates=6)
    _, history = train_head(graph, z_gnn, settings, Supervision(split), most_similar=True)
    with seeded(0):
        z = Head(5, settings)(z_gnn[np.array(split.train)]).detach()
    lists = ranking_lists(graph.x, graph.y, split.train, 3, max_candidates=6, seed=0)
    rank = ranking_loss(z, lists, true_scores(lists)) / len(split.train)
    group = grouping_loss(z, torch.from_numpy(graph.y[split.train]))
    assert history.losses[0] == pytest.approx(float(group + rank), rel=1e-5)


def test_every_epoch_is_reported(graph, split, z_gnn):
    steps = []
    monitor = Monitor(on_step=lambda *step: steps.append(step))
    train_head(graph, z_gnn, head_settings(3), Supervision(split, monitor=monitor), most_similar=True)
    assert steps == [("head", 1, 3), ("head", 2, 3), ("head", 3, 3)]


def test_the_score_is_of_samples_where_there_are_many_nodes(graph, split, z_gnn, monkeypatch):
    monkeypatch.setattr(head_module, "VALIDATION_NODES", 5)
    monkeypatch.setattr(head_module, "VALIDATION_CANDIDATES", 7)
    _, history = train_head(graph, z_gnn, head_settings(), Supervision(split, 3), most_similar=True)
    rng = np.random.default_rng(3)
    val, train = (
        np.sort(rng.choice(part, n, replace=False)) for part, n in ((split.val, 5), (split.train, 7))
    )
    same = np.mean(graph.y[val][:, None] == graph.y[train][None, :])  # all seven are looked up
    assert history.scores == [[pytest.approx(same)]]
