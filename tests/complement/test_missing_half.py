"""The missing half: its pairs, what is counted over them, its file, and whose labels it may know."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from otherhalf.complement.encoder import Encoder
from otherhalf.complement.missing_half import (
    Embedding,
    MissingHalf,
    check_trainable,
    complete,
    find_missing_half,
    learn_embedding,
    opposite,
    search_pairs,
)
from otherhalf.data.splits import split as make_split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.errors import InputError
from otherhalf.estimators.settings import ComplementSettings, EncoderSettings, HeadSettings
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import Scaling, node_inputs
from otherhalf.training.loop import History, TrainingSettings

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


# ---------------------------------------------------------------------- the value

# 0 found 1 and 2, 1 found 0 (the same edge again), 3 found 2; node 4 found nothing and was not found.
PAIRS = np.array([[0, 0, 1, 3], [1, 2, 0, 2]])
Y = np.array([0, 0, 1, 1, 0])


def test_adjacency_is_symmetric_and_simple():
    half = MissingHalf(PAIRS, 5, "homophily", 2, 5)
    assert half.adjacency.toarray().tolist() == [
        [0, 1, 1, 0, 0],
        [1, 0, 0, 0, 0],
        [1, 0, 0, 1, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    assert half.num_edges == 3


def test_homophily_counts_pairs_as_found_by_hand():
    half = MissingHalf(PAIRS, 5, "homophily", 2, 5)
    # 0→1 within, 0→2 between, 1→0 within, 3→2 within.
    assert half.homophily(Y) == 3 / 4
    assert half.homophily(Y, np.array([0])) == 1 / 2
    assert half.homophily(Y, np.array([1, 3])) == 1.0
    # Node 2 was found but did not search, so no pair is its own.
    assert half.homophily(Y, np.array([2, 4])) is None


def test_homophily_leaves_out_pairs_with_an_unknown_end():
    half = MissingHalf(PAIRS, 5, "homophily", 2, 5)
    assert half.homophily(np.array([0, 0, -1, -1, 0])) == 1.0  # 0→1 and 1→0 remain
    assert half.homophily(np.array([0, -1, -1, -1, 0])) is None


def test_repr_says_how_it_was_found():
    assert repr(MissingHalf(PAIRS, 5, "homophily", 2, 5)) == (
        "MissingHalf(homophily, 3 edges, 2 most similar of each node)"
    )
    assert repr(MissingHalf(PAIRS, 5, "heterophily", 2, 4)) == (
        "MissingHalf(heterophily, 3 edges, 2 least similar of each node, 4 sampled candidates)"
    )


def test_file_is_plain_numpy(tmp_path):
    path = tmp_path / "half.npz"
    MissingHalf(PAIRS, 5, "heterophily", 2, 4, "gcn").to_npz(path)
    with np.load(path, allow_pickle=False) as file:
        read = {key: file[key] for key in file.files}
    assert read["edge_index"].tolist() == [[0, 0, 2], [1, 2, 3]]  # each undirected edge once
    assert read["pairs"].tolist() == PAIRS.tolist()
    plain = {key: read[key].item() for key in ("num_nodes", "kind", "k", "candidates", "encoder")}
    assert plain == {"num_nodes": 5, "kind": "heterophily", "k": 2, "candidates": 4, "encoder": "gcn"}
    assert [p.name for p in tmp_path.iterdir()] == ["half.npz"]


def test_the_missing_kind_is_the_other_one():
    assert opposite("homophily") == "heterophily"
    assert opposite("heterophily") == "homophily"


# ---------------------------------------------------------------------- the search


@pytest.mark.parametrize("kind", ["homophily", "heterophily"])
def test_pairs_are_the_first_of_a_full_sort(kind):
    torch.manual_seed(0)
    z = torch.randint(-2, 3, (12, 3)).float()  # integers: many equal dot products
    queries, candidates = torch.tensor([5, 0, 11]), torch.tensor([1, 2, 5, 8, 11])
    told = []
    pairs = search_pairs(z, queries, candidates, 3, kind, on_step=lambda *step: told.append(step))
    sign = -1 if kind == "homophily" else 1
    expected = []
    for i in queries.tolist():
        others = [j for j in candidates.tolist() if j != i]
        expected += [(i, j) for j in sorted(others, key=lambda j: (sign * float(z[i] @ z[j]), j))[:3]]
    assert list(zip(*pairs.tolist(), strict=True)) == expected
    assert told[-1] == ("search", 3, 3)


def test_fewer_candidates_than_wanted_give_fewer_pairs():
    z = torch.tensor([[1.0], [2.0], [3.0]])
    pairs = search_pairs(z, torch.arange(3), torch.tensor([0, 1]), 5, "homophily")
    assert pairs.tolist() == [[0, 1, 2, 2], [1, 0, 1, 0]]


class Identity(torch.nn.Module):
    """An encoder or head that changes nothing."""

    def embed(self, inputs, *operators):
        return inputs.features

    def forward(self, z):
        return z


def line_of(values: list[float]) -> tuple[Graph, Embedding]:
    n = len(values)
    graph = Graph(edges=np.stack([np.arange(n - 1), np.arange(1, n)]), x=np.array(values)[:, None])
    return graph, Embedding(Encoder("mlp", Identity(), History()), Identity(), History())


def test_each_kind_takes_its_own_k_and_side():
    graph, embedding = line_of([1.0, 2.0, 3.0, -4.0])  # z_i · z_j is the product of the two numbers
    inputs = node_inputs(graph, Scaling("none"))
    settings = ComplementSettings(k_homophily=1, k_heterophily=2)
    near = complete(graph, inputs, embedding, "homophily", settings, 0)
    assert near.pairs.tolist() == [[0, 1, 2, 3], [2, 2, 1, 0]]
    far = complete(graph, inputs, embedding, "heterophily", settings, 0)
    assert far.pairs.tolist() == [[0, 0, 1, 1, 2, 2, 3, 3], [3, 1, 3, 0, 3, 0, 2, 1]]
    assert (near.k, far.k) == (1, 2)
    assert (near.candidates, near.sampled, near.encoder) == (4, False, "mlp")
    assert far.seconds["search"] >= 0


def test_above_the_limit_candidates_are_sampled_and_the_result_says_so():
    graph, embedding = line_of([float(v) for v in range(1, 31)])
    inputs = node_inputs(graph, Scaling("none"))
    settings = ComplementSettings(k_homophily=3, max_candidates=8)
    half = complete(graph, inputs, embedding, "homophily", settings, seed=0)
    assert half.candidates == 8
    assert half.sampled
    found = sorted(set(half.pairs[1].tolist()))
    # Everyone is nearest to the three largest of the eight; each of those three takes the fourth instead.
    assert len(found) == 4
    assert np.bincount(half.pairs[0], minlength=30).tolist() == [3] * 30  # everyone searched
    top = set(found[1:])
    for node in range(30):
        joined = set(half.pairs[1][half.pairs[0] == node].tolist())
        assert joined == (set(found) - {node} if node in top else top)
    again = complete(graph, inputs, embedding, "homophily", settings, seed=0)
    other = complete(graph, inputs, embedding, "homophily", settings, seed=1)
    assert np.array_equal(half.pairs, again.pairs)
    assert not np.array_equal(half.pairs, other.pairs)


def test_at_the_limit_nothing_is_sampled():
    graph, embedding = line_of([1.0, 2.0, 3.0])
    inputs = node_inputs(graph, Scaling("none"))
    half = complete(graph, inputs, embedding, "homophily", ComplementSettings(max_candidates=3), 0)
    assert not half.sampled


# ---------------------------------------------------------------------- the whole way


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
    inputs = node_inputs(graph, Scaling.fit(graph.x, "auto"))
    embedding = learn_embedding(graph, split, inputs, "homophily", QUICK, 0)
    z = embedding(graph, inputs)
    similarity = (z @ z.T).fill_diagonal_(-torch.inf)
    nearest = similarity.argsort(dim=1, descending=True)[:, :4]
    assert half.pairs[0].tolist() == np.repeat(np.arange(80), 4).tolist()
    assert half.pairs[1].tolist() == nearest.flatten().tolist()


def test_classes_this_far_apart_are_told_apart(graph, split):
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
    # Whoever looked at all labels would be told the opposite.
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


def test_an_unknown_preset_is_refused(graph, split):
    with pytest.raises(InputError, match="no preset 'fast'"):
        find_missing_half(graph, split, preset="fast")


# ---------------------------------------------------------------------- what cannot be learned from

FIVE = Graph(edges=np.array([[0, 1, 2, 3], [1, 2, 3, 4]]), x=np.ones((5, 1)), y=["a", "b", "a", "b", ""])


def test_a_fair_split_passes():
    check_trainable(FIVE, Split(train=[0, 1], val=[2], test=[3]))
    check_trainable(FIVE, Split(train=[0, 1], val=[2], test=[4]))  # a test node needs no label


@pytest.mark.parametrize(
    ("split", "sentence"),
    [
        (Split(train=[], val=[2], test=[3]), "the split has no train nodes to learn from: give it some"),
        (
            Split(train=[0, 1], val=[], test=[3]),
            "the split has no val nodes to stop and select by: give it some",
        ),
        (Split(train=[0, 1, 4], val=[2], test=[]), "a train node of the split has no label"),
        (Split(train=[0, 1], val=[4], test=[]), "a val node of the split has no label"),
        (Split(train=[0, 2], val=[1], test=[]), "all training nodes have one class"),
        (Split(train=[0, 1], val=[2], test=[7]), "the split names node 7, but the graph has 5 nodes"),
    ],
)
def test_a_split_that_cannot_train_is_refused(split, sentence):
    with pytest.raises(InputError, match=sentence):
        check_trainable(FIVE, split)
    with pytest.raises(InputError, match=sentence):
        find_missing_half(FIVE, split)


@pytest.mark.parametrize(
    ("y", "sentence"), [(None, "no node has a label"), (["a"] * 5, "every labelled node has the class 'a'")]
)
def test_a_graph_without_two_classes_is_refused(y, sentence):
    graph = Graph(edges=FIVE.edges, x=FIVE.x, y=y)
    with pytest.raises(InputError, match=sentence):
        check_trainable(graph, Split(train=[0, 1], val=[2], test=[3]))
