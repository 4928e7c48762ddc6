"""The half by leave-one-out: who is joined to whom, by which weight, and that no node reads its own label."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement import descriptions as descriptions_module
from otherhalf.complement import kernel_half, search
from otherhalf.complement.basis import Basis
from otherhalf.complement.descriptions import Descriptions
from otherhalf.complement.kernel_half import (
    TEMPERATURES,
    Spread,
    _pairs,
    fit_kernels,
    learn_kernel_half,
    random_half,
    spread_over,
)
from otherhalf.complement.kernels import Kernel, mixture_block
from otherhalf.complement.missing_half import KINDS, MissingHalf
from otherhalf.complement.ridge import Ridge, centred, fit_landmarks, fit_ridge
from otherhalf.complement.settings import KernelSettings
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.graph import Graph, Split
from otherhalf.nn.inputs import Scaling
from otherhalf.training.loop import Monitor
from otherhalf.training.supervised import Supervision

SETTINGS = KernelSettings(k=4, steps=3)
KERNELS = (Kernel("features", 0.6, 3.0, 0.1), Kernel("two_steps", 0.4, 2.0, 0.0, 0.2))
N = 30
GRAPH = contextual_sbm(N, num_classes=3, num_features=5, average_degree=4, seed=2)
PARTS = split(GRAPH, "uniform", seed=0)
LANDMARKS = KernelSettings(k=4, exact=1, landmarks=7)


def described(graph: Graph = GRAPH, basis: Basis | None = None) -> Descriptions:
    return Descriptions(graph, basis or Basis.of(graph, Scaling.fit(graph.x, "auto")))


def fitted(chosen: KernelSettings = SETTINGS, graph: Graph = GRAPH, parts: Split = PARTS) -> Spread:
    return fit_kernels(described(graph), KERNELS, 0.3, chosen, parts.train, 0)


def kernel_matrix(graph: Graph = GRAPH) -> np.ndarray:
    nodes = np.arange(graph.num_nodes)
    return mixture_block(KERNELS, described(graph), nodes, nodes).double().numpy()


def rows_of(half: MissingHalf) -> list[dict[int, float]]:
    """The targets of every node and their weights."""
    rows: list[dict[int, float]] = [{} for _ in range(half.num_nodes)]
    for source, target, weight in zip(*half.pairs, half.weights, strict=True):
        assert target not in rows[source]
        rows[source][int(target)] = float(weight)
    return rows


# ---------------------------------------------------------------------- scores


def literal_scores(spread: Spread) -> np.ndarray:
    """A regression for every node, without the node where it is a training node; then centred and scaled."""
    kernel, train = kernel_matrix(), PARTS.train
    targets = np.eye(3)[GRAPH.y] - 1 / 3
    scores = np.empty((N, 3))
    for node in range(N):
        others = train[train != node]
        among = kernel[np.ix_(others, others)] + spread.ridge * np.eye(len(others))
        scores[node] = kernel[node, others] @ np.linalg.solve(among, targets[others])
    return spread.temperature * (scores - scores.mean(axis=1, keepdims=True))


def test_scores_equal_regressions_without_the_node():
    spread = fitted()
    found = spread_over(spread, described(), "homophily", 4)
    assert found.scores.dtype == np.float32
    np.testing.assert_allclose(found.scores, literal_scores(spread), atol=2e-3)
    np.testing.assert_allclose(found.scores.sum(axis=1), 0, atol=1e-4)


def test_the_temperature_is_the_likeliest_on_training_nodes():
    spread = fitted()
    scores = torch.from_numpy((literal_scores(spread) / spread.temperature)[PARTS.train])
    codes = torch.from_numpy(GRAPH.y[PARTS.train])
    losses = {t: float(torch.nn.functional.cross_entropy(t * scores, codes)) for t in TEMPERATURES}
    assert spread.temperature == min(losses, key=losses.__getitem__)


def test_all_training_nodes_as_landmarks_give_nearly_the_exact_scores():
    exact = fitted()
    landmarks = fitted(replace(LANDMARKS, landmarks=len(PARTS.train)))
    scores = [
        spread_over(spread, described(), "homophily", 4).scores / spread.temperature
        for spread in (exact, landmarks)
    ]
    np.testing.assert_allclose(*scores, atol=5e-3)


def test_landmarks_are_training_nodes():
    spread = fitted(LANDMARKS)
    assert len(spread.anchors) == 7
    assert set(spread.anchors) <= set(PARTS.train)
    assert spread.fitted.dual.shape == (7, 3)
    assert spread.fitted.own.shape == (len(PARTS.train), 3)
    np.testing.assert_array_equal(spread.train, PARTS.train)
    np.testing.assert_array_equal(spread.candidates, PARTS.train)


@pytest.mark.parametrize("large", [False, True])
def test_on_a_large_graph_landmarks_are_candidates_and_the_result_is_the_same(large, monkeypatch):
    monkeypatch.setattr(kernel_half, "LARGE", N - 1 if large else N)
    spread = fitted(replace(LANDMARKS, max_candidates=9))
    assert len(spread.candidates) == 9
    assert (set(spread.anchors) <= set(spread.candidates)) == large
    found = spread_over(spread, described(), "both", 3)
    assert_sound(found.half, spread.candidates, 3)
    # With anchors that are not all candidates, the scores come from a block of their own.
    other = [node for node in PARTS.train if node not in spread.anchors][:5]
    apart = spread_over(replace(spread, candidates=np.array(other)), described(), "both", 3)
    np.testing.assert_array_equal(apart.scores, found.scores)
    assert_sound(apart.half, np.array(other), 3)


def test_few_training_nodes_of_a_large_graph_are_all_compared(monkeypatch):
    whole = fitted()
    monkeypatch.setattr(kernel_half, "LARGE", 0)
    spread = fitted()
    np.testing.assert_array_equal(spread.candidates, whole.candidates)
    np.testing.assert_array_equal(spread.anchors, PARTS.train)


def test_with_many_training_nodes_the_regression_learns_from_a_sample(monkeypatch):
    # What the others are told has not seen their label: nothing is subtracted from their scores.
    train, whole = PARTS.train, fitted(LANDMARKS)
    monkeypatch.setattr(kernel_half, "MOST_TAUGHT", 9)
    spread = fitted(LANDMARKS)
    np.testing.assert_array_equal(spread.anchors, whole.anchors)
    np.testing.assert_array_equal(spread.candidates, whole.candidates)
    np.testing.assert_array_equal(spread.train, train)
    told = (spread.fitted.own != 0).any(dim=1).numpy()
    assert told.sum() == 9
    kernel = kernel_matrix()
    literal = fit_landmarks(
        torch.from_numpy(kernel[np.ix_(train[told], spread.anchors)]).float(),
        torch.from_numpy(kernel[np.ix_(spread.anchors, spread.anchors)]).float(),
        centred(torch.from_numpy(GRAPH.y[train[told]]), 3),
        0.3,
    )
    torch.testing.assert_close(spread.fitted.dual, literal.dual, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(spread.fitted.own[torch.from_numpy(told)], literal.own, rtol=1e-2, atol=1e-3)


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")  # the temperature
@pytest.mark.parametrize("chosen", [SETTINGS, LANDMARKS], ids=["exact", "landmarks"])
def test_no_score_depends_on_the_nodes_own_label(chosen, monkeypatch):
    # S is linear in the labels: its slopes by a training node's own label are 0 up to rounding.
    labels = centred(torch.from_numpy(GRAPH.y[PARTS.train]), 3).requires_grad_()
    monkeypatch.setattr("otherhalf.complement.kernel_half.centred", lambda codes, classes: labels)
    spread = fitted(chosen)
    block = mixture_block(KERNELS, described(), spread.train, spread.anchors)
    scores = block @ spread.fitted.dual - spread.fitted.own
    own = [torch.autograd.grad(scores[i, 0], labels, retain_graph=True)[0][:, 0] for i in range(len(labels))]
    slopes = torch.stack(own).numpy()
    assert abs(np.diag(slopes)).max() < 1e-5
    assert abs(slopes).max() > 0.05


def test_a_changed_label_moves_all_scores_but_the_nodes_own():
    # The same without autograd: the kernels, the ridge and the temperature are kept, one label is another.
    node = int(PARTS.train[3])
    y = GRAPH.y.copy()
    y[node] = (y[node] + 1) % 3
    other = Graph(edges=GRAPH.edges, x=GRAPH.x, y=y, classes=GRAPH.classes)
    before, after = fitted(), fitted(graph=other)
    first = spread_over(before, described(), "homophily", 4).scores / before.temperature
    second = spread_over(after, described(other), "homophily", 4).scores / after.temperature
    moved = abs(first - second).max(axis=1)
    assert moved[node] < 1e-5
    assert np.delete(moved, node).max() > 0.01


@pytest.mark.parametrize("chosen", [SETTINGS, LANDMARKS], ids=["exact", "landmarks"])
def test_with_weights_of_classes_a_changed_label_does_not_move_its_own_score(chosen):
    node = int(PARTS.train[3])
    y = GRAPH.y.copy()
    y[node] = (y[node] + 1) % 3
    weights = np.array([0.3, 1.0, 4.0], dtype=np.float32)
    scores = []
    for graph in (GRAPH, Graph(edges=GRAPH.edges, x=GRAPH.x, y=y, classes=GRAPH.classes)):
        spread = fit_kernels(described(graph), KERNELS, 0.1, chosen, PARTS.train, 0, weights)
        scores.append(spread_over(spread, described(graph), "homophily", 4).scores / spread.temperature)
    moved = abs(scores[0] - scores[1]).max(axis=1)
    assert moved[node] < 1e-4
    assert np.delete(moved, node).max() > 0.01


# ---------------------------------------------------------------------- pairs


@pytest.mark.parametrize("chosen", [SETTINGS, LANDMARKS], ids=["exact", "landmarks"])
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_the_most_or_least_similar_training_nodes(kind, chosen):
    half = spread_over(fitted(chosen), described(), kind, 4).half
    kernel = kernel_matrix()
    for node, row in enumerate(rows_of(half)):
        candidates = PARTS.train[PARTS.train != node]
        order = candidates[np.argsort(-kernel[node, candidates], kind="stable")]
        expected = {}
        if kind != "heterophily":
            values = kernel[node, order[:4]]
            expected |= dict(zip(order[:4], values / values.sum(), strict=True))
        if kind != "homophily":
            expected |= dict.fromkeys(order[-4:], -0.25)
        assert set(row) == set(expected)
        np.testing.assert_allclose([row[target] for target in expected], list(expected.values()), rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_half_says_of_itself(kind):
    half = spread_over(fitted(), described(), kind, 4).half
    assert (half.kind, half.k, half.num_nodes, half.method) == (kind, 4, N, "kernel")
    assert half.candidates == len(PARTS.train)
    assert not half.sampled
    words = {
        "homophily": "joined by similar features;",
        "heterophily": "joined for lack of similar features;",
    }
    assert half.words.startswith(words.get(kind, "joined by similar features;"))
    assert half.weights.dtype == np.float32


def assert_sound(half: MissingHalf, train: np.ndarray, k: int) -> None:
    """Pairs go to training nodes and never to the node itself; weights add up to 1 or −1 for each kind."""
    source, target = half.pairs
    assert np.isin(target, train).all()
    assert (source != target).all()
    for kind, sign in (("homophily", 1), ("heterophily", -1)):
        part = half.part(kind)
        if half.kind not in (kind, "both"):
            assert part.pairs.shape == (2, 0)
            continue
        assert (sign * part.weights > 0).all()
        others = len(train) - np.isin(np.arange(half.num_nodes), train)
        counts = np.bincount(part.pairs[0], minlength=half.num_nodes)
        np.testing.assert_array_equal(counts, np.minimum(k, others))
        sums = np.bincount(part.pairs[0], part.weights, minlength=half.num_nodes)
        np.testing.assert_allclose(sums, sign * (counts > 0), atol=1e-5)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    k=st.integers(1, 12),
    train=st.integers(2, 8),
    exact=st.booleans(),
)
def test_any_half_is_sound(seed, kind, k, train, exact):
    graph = contextual_sbm(12, num_classes=2, num_features=3, average_degree=2, homophily=0.5, seed=seed)
    nodes = np.random.default_rng(seed).permutation(12)
    parts = Split(nodes[:train], nodes[train : train + 2], nodes[train + 2 :])
    chosen = KernelSettings(exact=12 if exact else 1, landmarks=3)
    found = spread_over(fitted(chosen, graph, parts), described(graph), kind, k)
    assert_sound(found.half, nodes[:train], k)
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("chosen", [SETTINGS, LANDMARKS], ids=["exact", "landmarks"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nodes", [[], [5], [17, 3, 29], list(range(N))[::-1]])
def test_some_nodes_have_the_scores_and_pairs_that_they_have_among_all(kind, chosen, nodes, monkeypatch):
    spread, nodes = fitted(chosen), np.array(nodes, dtype=np.int64)
    for small in (N, 0):  # small graphs are described whole
        monkeypatch.setattr(descriptions_module, "SMALL", small)
        every = spread_over(spread, spread.descriptions(GRAPH), kind, 4)
        some = spread_over(spread, spread.descriptions(GRAPH, nodes), kind, 4, nodes=nodes)
        np.testing.assert_allclose(some.scores, every.scores[nodes], rtol=1e-4, atol=1e-5)
        rows, expected = rows_of(some.half), rows_of(every.half)
        assert (some.half.num_nodes, some.half.candidates) == (N, every.half.candidates)
        for node in range(N):
            assert rows[node] == (expected[node] if node in nodes else {})


def test_blocks_change_nothing(monkeypatch):
    # Blocks of one row each; progress is reported after each of them.
    seen = []
    spread = fitted()
    whole = spread_over(spread, described(), "both", 4)
    monkeypatch.setattr(search, "BLOCK_ENTRIES", 1)
    found = spread_over(
        spread, described(), "both", 4, monitor=Monitor(on_step=lambda *step: seen.append(step))
    )
    np.testing.assert_array_equal(found.half.pairs, whole.half.pairs)
    np.testing.assert_allclose(found.half.weights, whole.half.weights, rtol=1e-5)
    np.testing.assert_allclose(found.scores, whole.scores, atol=1e-5)
    assert seen == [("spread", node + 1, N) for node in range(N)]


@pytest.mark.parametrize("exact", [True, False])
def test_candidates_are_a_sample_above_their_limit(exact):
    # The limit once had no effect on the exact regression.
    chosen = KernelSettings(k=3, max_candidates=5, exact=N if exact else 1, landmarks=7)
    spread = fitted(chosen)
    assert len(spread.candidates) == 5
    assert len(spread.anchors) == (len(PARTS.train) if exact else 7)
    found = spread_over(spread, described(), "homophily", 3)
    assert found.half.candidates == 5
    assert_sound(found.half, spread.candidates, 3)
    if exact:  # the scores are those over all training nodes
        np.testing.assert_allclose(found.scores, literal_scores(spread), atol=2e-3)


def test_shares_of_tiny_similarities_still_add_up_to_one():
    # 1e-30 and 3e-30 were once divided by 1e-12.
    found = torch.tensor([[0, 1], [1, -1], [0, 1]])
    values = torch.tensor([[1e-30, 3e-30], [1e-44, float("nan")], [0.5, 0.0]])
    pairs, weights = _pairs(np.array([4, 5, 8]), np.array([7, 9]), found, values)
    assert pairs.tolist() == [[4, 4, 5, 8], [7, 9, 9, 7]]
    np.testing.assert_allclose(weights, [0.25, 0.75, 1, 1], rtol=1e-6)


def test_a_node_that_is_similar_to_nothing_is_joined_to_nothing():
    # Node 0 has a degree far from all others, and the kernel looks at little else: exp(−1000 Δ²) is 0.
    edges = np.array([[0] * 19 + [20, 21], [*range(1, 20), 21, 22]])
    graph = Graph(edges=edges, x=np.eye(23), y=np.arange(23) % 2)
    parts = Split(np.arange(1, 12), np.arange(12, 16), np.array([0, *range(16, 23)]))
    kernels = (Kernel("features", 1.0, 1.0, 0.0, 1000.0),)
    spread = fit_kernels(described(graph), kernels, 0.3, SETTINGS, parts.train, 0)
    found = spread_over(spread, described(graph), "homophily", 3)
    rows = rows_of(found.half)
    assert rows[0] == {}
    assert len(rows[12]) == 3
    assert found.scores[0].tolist() == [0, 0]
    assert np.isfinite(found.scores).all()


# ---------------------------------------------------------------------- the whole way


def test_the_whole_way_on_a_synthetic_graph():
    graph = contextual_sbm(200, num_classes=3, homophily=0.1, signal=2.0, seed=1)
    parts = split(graph, "uniform", seed=0)
    spread, found = learn_kernel_half(
        graph, Scaling.fit(graph.x, "auto"), "homophily", KernelSettings(steps=10), Supervision(parts)
    )
    assert_sound(found.half, parts.train, 10)
    assert set(found.half.seconds) == {"choose", "spread"}
    assert all(seconds > 0 for seconds in found.half.seconds.values())
    right = found.scores.argmax(axis=1) == graph.y
    # The given edges join unlike nodes, the found half like ones, and as well around test nodes.
    assert right[parts.test].mean() > 0.75
    homophily = {part: found.half.homophily(graph.y, getattr(parts, part)) for part in ("train", "test")}
    assert homophily["test"] > 0.6
    assert abs(homophily["train"] - homophily["test"]) < 0.12
    assert abs(right[parts.train].mean() - right[parts.test].mean()) < 0.12
    assert spread.kernels
    opposite = spread_over(spread, described(graph, spread.basis), "heterophily", 10).half
    assert opposite.homophily(graph.y) < 0.25


def test_two_runs_are_bit_equal_and_test_labels_are_out_of_reach():
    graph = contextual_sbm(90, num_classes=3, homophily=0.3, signal=1.5)
    parts = split(graph, "uniform")
    y = graph.y.copy()
    y[parts.test] = np.random.default_rng(0).permutation(y[parts.test])
    assert (y != graph.y).any()
    results = []
    for labels in (graph.y, graph.y, y):
        same = Graph(edges=graph.edges, x=graph.x, y=labels, classes=graph.classes)
        scaling = Scaling.fit(same.x, "auto")
        results.append(learn_kernel_half(same, scaling, "both", SETTINGS, Supervision(parts)))
    (first, found), *others = results
    for spread, other in others:
        assert spread.kernels == first.kernels
        assert (spread.ridge, spread.temperature) == (first.ridge, first.temperature)
        np.testing.assert_array_equal(other.scores, found.scores)
        np.testing.assert_array_equal(other.half.pairs, found.half.pairs)
        np.testing.assert_array_equal(other.half.weights, found.half.weights)


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_nodes_than_k(kind):
    graph = contextual_sbm(9, num_classes=2, num_features=3, average_degree=2)
    nodes = np.argsort(graph.y, kind="stable")[[0, 8, 1, 7, 2, 3, 4, 5, 6]]
    parts = Split(nodes[:4], nodes[4:6], nodes[6:])
    scaling = Scaling.fit(graph.x, "auto")
    _, found = learn_kernel_half(graph, scaling, kind, KernelSettings(k=20, steps=2), Supervision(parts))
    assert_sound(found.half, nodes[:4], 20)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_directed_graph(sparse):
    rng = np.random.default_rng(0)
    x = (rng.random((60, 20)) < 0.2).astype(np.float32)
    graph = Graph(
        edges=rng.integers(0, 60, (2, 150)),
        x=sp.csr_matrix(x) if sparse else x,
        y=np.arange(60) % 2,
        directed=True,
    )
    parts = split(graph, "uniform")
    scaling = Scaling.fit(graph.x, "auto")
    _, found = learn_kernel_half(graph, scaling, "homophily", SETTINGS, Supervision(parts))
    assert_sound(found.half, parts.train, 4)
    assert np.isfinite(found.scores).all()


# ---------------------------------------------------------------------- new nodes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chosen", [SETTINGS, LANDMARKS], ids=["exact", "landmarks"])
def test_isolated_new_nodes_leave_everything_of_known_nodes_as_it_was(chosen, kind):
    spread = fitted(chosen)
    x = np.concatenate([GRAPH.x, GRAPH.x[:3] + 1])
    grown = Graph(edges=GRAPH.edges, x=x, y=np.append(GRAPH.y, [-1] * 3), classes=GRAPH.classes)
    before = spread_over(spread, described(), kind, 4)
    after = spread_over(spread, described(grown, spread.basis), kind, 4)
    np.testing.assert_allclose(after.scores[:N], before.scores, atol=1e-5)
    assert after.scores.shape == (N + 3, 3)
    assert after.half.num_nodes == N + 3
    known = after.half.pairs[0] < N
    np.testing.assert_array_equal(after.half.pairs[:, known], before.half.pairs)
    np.testing.assert_allclose(after.half.weights[known], before.half.weights, rtol=1e-4)
    assert_sound(after.half, PARTS.train, 4)


def test_a_new_node_like_a_known_one_has_its_score():
    # A new node with the features and the neighbours of an unlabelled node; the kernels look at these only.
    node = int(PARTS.test[0])
    beside = GRAPH.adjacency[node].indices
    kernels = (Kernel("features", 0.5), Kernel("neighbours", 0.5, 2.0, 0.0, 0.0))
    spread = fit_kernels(described(), kernels, 0.3, SETTINGS, PARTS.train, 0)
    edges = np.concatenate([GRAPH.edges, [np.full(len(beside), N), beside]], axis=1)
    x = np.concatenate([GRAPH.x, GRAPH.x[[node]]])
    grown = Graph(edges=edges, x=x, y=np.append(GRAPH.y, -1), classes=GRAPH.classes)
    found = spread_over(spread, described(grown, spread.basis), "homophily", 4)
    np.testing.assert_allclose(found.scores[N], found.scores[node], atol=1e-5)
    rows = rows_of(found.half)
    assert rows[N] == pytest.approx(rows[node], rel=1e-4)


def test_a_spread_read_from_a_file_gives_the_same():
    # Anchors and candidates are then two arrays with the same values.
    spread = fitted()
    again = replace(
        spread,
        anchors=spread.anchors.copy(),
        fitted=Ridge(spread.fitted.dual.clone(), spread.fitted.own.clone()),
    )
    first, second = (spread_over(each, described(), "both", 4) for each in (spread, again))
    np.testing.assert_allclose(first.scores, second.scores, atol=1e-6)
    np.testing.assert_array_equal(first.half.pairs, second.half.pairs)


def test_the_fit_is_that_of_the_exact_regression():
    spread = fitted()
    among = mixture_block(KERNELS, described(), spread.train, spread.train)
    expected = fit_ridge(among, centred(torch.from_numpy(GRAPH.y[PARTS.train]), 3), 0.3)
    torch.testing.assert_close(spread.fitted.dual, expected.dual)
    assert spread.anchors is spread.candidates


# ---------------------------------------------------------------------- a random half


@pytest.mark.parametrize("kind", KINDS)
def test_a_random_half(kind):
    train = np.array([1, 4, 5, 8])
    found = random_half(10, train, 3, 0, kind)
    half = found.half
    assert found.scores is None
    assert (half.kind, half.k, half.candidates, half.words) == (kind, 3, 4, "joined at random")
    assert np.isin(half.pairs[1], train).all()
    assert (half.pairs[0] != half.pairs[1]).all()
    for each, sign in (("homophily", 1), ("heterophily", -1)):
        if kind in (each, "both"):
            part = half.part(each)
            assert np.bincount(part.pairs[0]).tolist() == [3] * 10
            np.testing.assert_allclose(np.bincount(part.pairs[0], part.weights), sign, rtol=1e-6)


def test_a_random_half_depends_on_its_seed():
    halves = [random_half(50, np.arange(20), 3, seed).half.pairs for seed in (0, 0, 1)]
    np.testing.assert_array_equal(halves[0], halves[1])
    assert (halves[0] != halves[2]).any()


def test_a_random_half_is_uniform_over_the_training_nodes():
    train = np.array([0, 3, 4, 9])
    source, target = random_half(10_000, train, 4, 0).half.pairs
    # 10,000 of 40,000 each, with the standard deviation √(40,000 · ¼ · ¾) = 87.
    assert abs(np.bincount(target)[train] - 10_000).max() < 5 * 87
    # A training node draws from the three others.
    source, target = random_half(10, train, 10_000, 0).half.pairs
    counts = np.bincount(target[source == 3], minlength=10)
    assert counts[3] == 0
    assert abs(counts[[0, 4, 9]] - 10_000 / 3).max() < 5 * 47  # √(10,000 · ⅓ · ⅔)
