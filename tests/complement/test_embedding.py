"""Topology complementation: the search over an embedding, how it is learned, and whose labels it may know."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from otherhalf import find_missing_half
from otherhalf.complement import embedding as search_over
from otherhalf.complement.embedding import Embedding, learn_missing_half, search_missing_half, search_pairs
from otherhalf.complement.encoder import Encoder
from otherhalf.complement.settings import ComplementSettings, EncoderSettings, HeadSettings
from otherhalf.data.splits import split as make_split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import Monitor, TrainingSettings
from otherhalf.training.supervised import Supervision

SHORT = TrainingSettings(epochs=6, patience=100)
QUICK = ComplementSettings(
    encoder=EncoderSettings("mlp", Architecture(hidden=16), SHORT),
    head=HeadSettings(width=8, ranking_k=3, training=SHORT),
    k_homophily=4,
    k_heterophily=3,
)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return contextual_sbm(num_nodes=80, num_classes=3, num_features=6, average_degree=6, signal=4.0, seed=1)


@pytest.fixture(scope="module")
def split(graph) -> Split:
    return make_split(graph, "uniform", seed=0)


# ---------------------------------------------------------------------- the search


@pytest.fixture(params=["plain", "by blocks"])
def way(request, monkeypatch):
    """Both ways of the search."""
    monkeypatch.setattr(search_over, "LEAST_PAIRS", 0 if request.param == "by blocks" else 10**9)


@pytest.mark.parametrize("kind", ["homophily", "heterophily"])
def test_pairs_are_the_first_of_a_full_sort(kind, way):
    torch.manual_seed(0)
    z = torch.randint(-2, 3, (12, 3)).float()  # integers: many equal dot products
    queries, candidates = torch.tensor([5, 0, 11]), torch.tensor([1, 2, 5, 8, 11])
    steps = []
    monitor = Monitor(on_step=lambda *step: steps.append(step))
    pairs = search_pairs(z, queries, candidates, 3, kind, monitor=monitor)
    sign = -1 if kind == "homophily" else 1
    expected = []
    for i in queries.tolist():
        others = [j for j in candidates.tolist() if j != i]
        expected += [(i, j) for j in sorted(others, key=lambda j: (sign * float(z[i] @ z[j]), j))[:3]]
    assert list(zip(*pairs.tolist(), strict=True)) == expected
    assert steps[-1] == ("search", 3, 3)


@pytest.mark.parametrize("kind", ["homophily", "heterophily"])
def test_both_ways_find_the_same_pairs(kind, monkeypatch):
    z = torch.randint(-2, 3, (40, 3), generator=torch.Generator().manual_seed(0)).float()
    some = torch.tensor([3, 1, 30, 7])
    for queries, candidates in ((torch.arange(40), torch.arange(40)), (some, some), (torch.arange(40), some)):
        expected = search_pairs(z, queries, candidates, 5, kind)
        with monkeypatch.context() as patch:
            patch.setattr(search_over, "LEAST_PAIRS", 0)
            patch.setattr(search_over, "top_k", None)  # it is not used
            assert np.array_equal(search_pairs(z, queries, candidates, 5, kind), expected)


def test_products_that_overflow_and_long_lists_are_left_to_the_plain_way(monkeypatch):
    monkeypatch.setattr(search_over, "LEAST_PAIRS", 0)
    monkeypatch.setattr(search_over, "inner_top_k", None)
    everyone = torch.arange(3)
    z = torch.tensor([[1e30], [-1e30], [1.0]])
    assert search_pairs(z, everyone, everyone, 1, "heterophily").tolist() == [[0, 1, 2], [1, 0, 1]]
    assert search_pairs(z / 1e30, everyone, everyone, search_over.MOST_K + 1, "homophily").shape == (2, 6)


def test_fewer_candidates_than_wanted_give_fewer_pairs(way):
    z = torch.tensor([[1.0], [2.0], [3.0]])
    pairs = search_pairs(z, torch.arange(3), torch.tensor([0, 1]), 5, "homophily")
    assert pairs.tolist() == [[0, 1, 2, 2], [1, 0, 1, 0]]


class Identity(torch.nn.Module):
    """An encoder or head that changes nothing."""

    def embed(self, inputs, *operators):
        return inputs.features

    def forward(self, z):
        return z


def line_of(values: list[float]) -> tuple[PreparedGraph, Embedding]:
    n = len(values)
    graph = Graph(edges=np.stack([np.arange(n - 1), np.arange(1, n)]), x=np.array(values)[:, None])
    embedding = Embedding(Encoder("mlp", Identity(), History()), Identity(), History())
    return PreparedGraph(graph, Scaling("none")), embedding


def test_each_kind_takes_its_own_k_and_side():
    prepared, embedding = line_of([1.0, 2.0, 3.0, -4.0])  # z_i · z_j is the product of the two numbers
    settings = ComplementSettings(k_homophily=1, k_heterophily=2)
    near = search_missing_half(prepared, embedding, "homophily", settings, 0)
    assert near.pairs.tolist() == [[0, 1, 2, 3], [2, 2, 1, 0]]
    far = search_missing_half(prepared, embedding, "heterophily", settings, 0)
    assert far.pairs.tolist() == [[0, 0, 1, 1, 2, 2, 3, 3], [3, 1, 3, 0, 3, 0, 2, 1]]
    assert (near.k, far.k) == (1, 2)
    assert (near.candidates, near.sampled, near.encoder) == (4, False, "mlp")
    assert far.seconds["search"] >= 0


def test_above_the_limit_candidates_are_sampled_and_the_result_says_so():
    prepared, embedding = line_of([float(v) for v in range(1, 31)])
    settings = ComplementSettings(k_homophily=3, max_candidates=8)
    half = search_missing_half(prepared, embedding, "homophily", settings, seed=0)
    assert half.candidates == 8
    assert half.sampled
    joined_to = sorted(set(half.pairs[1].tolist()))
    # Everyone is nearest to the three largest of the eight; each of those three takes the fourth instead.
    assert len(joined_to) == 4
    assert np.bincount(half.pairs[0], minlength=30).tolist() == [3] * 30  # everyone searched
    top = set(joined_to[1:])
    for node in range(30):
        joined = set(half.pairs[1][half.pairs[0] == node].tolist())
        assert joined == (set(joined_to) - {node} if node in top else top)
    again = search_missing_half(prepared, embedding, "homophily", settings, seed=0)
    other = search_missing_half(prepared, embedding, "homophily", settings, seed=1)
    assert np.array_equal(half.pairs, again.pairs)
    assert not np.array_equal(half.pairs, other.pairs)


def test_at_the_limit_nothing_is_sampled():
    prepared, embedding = line_of([1.0, 2.0, 3.0])
    half = search_missing_half(prepared, embedding, "homophily", ComplementSettings(max_candidates=3), 0)
    assert not half.sampled


def test_an_embedding_that_is_not_finite_is_one_clear_sentence():
    prepared, embedding = line_of([1.0, 2.0, 3.0])
    embedding.head.forward = lambda z: z * torch.inf
    with pytest.raises(InputError, match="the embedding of some nodes is not finite: bring the features"):
        search_missing_half(prepared, embedding, "homophily", ComplementSettings(), 0)


# ---------------------------------------------------------------------- learned


@pytest.mark.parametrize(
    ("follow", "kind", "k"), [("homophily", "heterophily", 3), ("heterophily", "homophily", 4)]
)
def test_find_missing_half(graph, split, follow, kind, k):
    stages = []
    half = find_missing_half(
        graph, split, seed=0, follow=follow, settings=QUICK, on_step=lambda stage, *_: stages.append(stage)
    )
    assert (half.kind, half.k, half.num_nodes, half.encoder) == (kind, k, 80, "mlp")
    assert np.bincount(half.pairs[0]).tolist() == [k] * 80
    assert (half.pairs[0] != half.pairs[1]).all()
    dense = half.adjacency.toarray()
    assert (dense == dense.T).all()
    assert set(np.unique(dense)) == {0, 1}
    assert not dense.diagonal().any()
    assert list(dict.fromkeys(stages)) == ["encoder-mlp", "head", "search"]
    assert {"diagnose", "search", "total"} <= half.seconds.keys()


def test_pairs_are_those_of_the_learned_embedding(graph, split):
    half = find_missing_half(graph, split, seed=0, follow="heterophily", settings=QUICK)
    prepared = PreparedGraph(graph, Scaling.fit(graph.x, "auto"))
    embedding, again = learn_missing_half(prepared, "homophily", QUICK, Supervision(split))
    assert np.array_equal(half.pairs, again.pairs)
    z = embedding(prepared)
    assert torch.equal(z, embedding.head(embedding.encoder.embed(prepared)))
    assert not z.requires_grad
    similarity = (z @ z.T).fill_diagonal_(-torch.inf)
    nearest = similarity.argsort(dim=1, descending=True)[:, :4]
    assert half.pairs[0].tolist() == np.repeat(np.arange(80), 4).tolist()
    assert half.pairs[1].tolist() == nearest.flatten().tolist()


def test_classes_this_far_apart_are_separated(graph, split):
    # By chance a third of the pairs would lie within a class.
    training = TrainingSettings(epochs=60)
    settings = replace(
        QUICK,
        encoder=replace(QUICK.encoder, training=training),
        head=replace(QUICK.head, training=training),
    )
    near, far = (
        find_missing_half(graph, split, follow=follow, settings=settings)
        for follow in ("heterophily", "homophily")
    )
    assert near.homophily(graph.y, split.test) > 0.7
    assert far.homophily(graph.y, split.test) < 0.15


def test_a_seed_determines_the_half(graph, split):
    halves = [find_missing_half(graph, split, seed, follow="homophily", settings=QUICK) for seed in (0, 0, 1)]
    assert np.array_equal(halves[0].pairs, halves[1].pairs)
    assert not np.array_equal(halves[0].pairs, halves[2].pairs)


def test_the_verdict_decides_which_half_is_missing(graph, split):
    # Four edges in five within a class, and features that show it: homophily by either measure.
    for follow in ("ks", "labels"):
        assert find_missing_half(graph, split, follow=follow, settings=QUICK).kind == "heterophily"


@pytest.mark.parametrize("kind", ["mlp", "gcn", "structure"])
@pytest.mark.parametrize("follow", ["ks", "labels"])
@pytest.mark.parametrize("change", ["permuted", "unknown"])
def test_labels_outside_train_and_val_are_out_of_reach(graph, split, kind, follow, change):
    visible = np.concatenate([split.train, split.val])
    outside = np.setdiff1d(np.arange(80), visible)
    y = graph.y.copy()
    y[outside] = np.roll(y[outside], 1) if change == "permuted" else -1
    assert (y != graph.y).any()
    other = replace(graph, y=y, classes=graph.classes)
    settings = replace(QUICK, encoder=replace(QUICK.encoder, kind=kind))
    halves = [find_missing_half(g, split, follow=follow, settings=settings) for g in (graph, other)]
    assert halves[0].kind == halves[1].kind
    assert np.array_equal(halves[0].pairs, halves[1].pairs)


def test_the_verdict_of_the_labels_is_that_of_train_and_val_alone():
    graph = contextual_sbm(num_nodes=100, num_classes=3, num_features=6, average_degree=14, homophily=0.95)
    split = make_split(graph, "uniform", seed=0, ratios=(0.15, 0.1, 0.75))
    visible = np.concatenate([split.train, split.val])
    y = graph.y.copy()
    y[split.test] = np.random.default_rng(0).permutation(y[split.test])
    other = replace(graph, y=y, classes=graph.classes)
    # With all labels the verdict would be the opposite.
    assert diagnose(other).follow("labels") == "heterophily"
    assert diagnose(other, nodes=visible).follow("labels") == "homophily"
    assert find_missing_half(other, split, follow="labels", settings=QUICK).kind == "heterophily"


def test_labels_of_training_nodes_do_matter(graph, split):
    # Else the test above could not fail.
    y = graph.y.copy()
    y[split.train] = np.roll(y[split.train], 1)
    other = replace(graph, y=y, classes=graph.classes)
    first, second = (find_missing_half(g, split, follow="homophily", settings=QUICK) for g in (graph, other))
    assert not np.array_equal(first.pairs, second.pairs)


def test_every_stage_has_a_checkpoint_and_a_second_run_trains_nothing(graph, split, tmp_path):
    prepared, steps = PreparedGraph(graph, Scaling.fit(graph.x, "auto")), []
    monitor = Monitor(tmp_path, "run", lambda *step: steps.append(step))
    _, half = learn_missing_half(prepared, "homophily", QUICK, Supervision(split, monitor=monitor))
    assert {path.name for path in tmp_path.iterdir()} == {"encoder-mlp.safetensors", "head.safetensors"}
    trained = [(stage, epoch, 6) for stage in ("encoder-mlp", "head") for epoch in range(1, 7)]
    assert steps == [*trained, ("search", 80, 80)]
    steps.clear()
    _, again = learn_missing_half(prepared, "homophily", QUICK, Supervision(split, monitor=monitor))
    assert steps == [("search", 80, 80)]
    assert np.array_equal(half.pairs, again.pairs)
