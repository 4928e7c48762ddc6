"""Ranking lists against a literal sort, and ListNet against a literal loop."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement import ranking, search
from otherhalf.complement.ranking import ABSENT, ranking_lists, ranking_loss, true_scores
from otherhalf.nn.ops import compiled


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norms) if norms else 0.0


def literal_lists(x: np.ndarray, y: np.ndarray, nodes: np.ndarray, k: int) -> list[list[int]]:
    """The K most similar of i's class, then the K least similar of the others; both by falling cosine.

    Among equals the first in ``nodes`` is chosen first: the least similar are taken from the lower end with
    ties to the lower position, and stand there in the reverse of that order.
    """
    lists = []
    for i, node in enumerate(nodes):
        scored = [(cosine(x[node], x[other]), j) for j, other in enumerate(nodes) if j != i]
        intra = [(c, j) for c, j in scored if y[nodes[j]] == y[node]]
        inter = [(c, j) for c, j in scored if y[nodes[j]] != y[node]]
        nearest = [j for _, j in sorted(intra, key=lambda pair: (-pair[0], pair[1]))[:k]]
        farthest = [j for _, j in sorted(inter)[:k]][::-1]
        lists.append(nearest + farthest)
    return lists


def present(lists: torch.Tensor) -> list[list[int]]:
    return [[j for j in row if j != ABSENT] for row in lists.tolist()]


# Directions in the plane, at these degrees; nodes 1 and 6 do not train.
DEGREES = np.array([0, 45, 10, 30, 80, 100, 20, 170])
PLANE = np.stack([np.cos(np.radians(DEGREES)), np.sin(np.radians(DEGREES))], axis=1).astype(np.float32)
PLANE *= np.array([[1], [2], [3], [1], [5], [1], [1], [0.1]], dtype=np.float32)  # lengths play no part
LABELS = np.array([0, 9, 0, 0, 1, 1, 9, 1])
TRAIN = np.array([0, 2, 3, 4, 5, 7])  # at 0, 10, 30 | 80, 100, 170 degrees


def test_lists_by_hand():
    lists = ranking_lists(PLANE, LABELS, TRAIN, 2)
    assert lists.tolist() == [
        # positions in TRAIN: own class by falling cosine, then the two farthest of the other, farthest last
        [1, 2, 4, 5],  # 0°: 10°, 30° | 100°, 170°
        [0, 2, 4, 5],  # 10°: 0°, 30° | 100°, 170°
        [1, 0, 4, 5],  # 30°: 10° (20 away), 0° | 100°, 170°
        [4, 5, 1, 0],  # 80°: 100°, 170° | 10°, 0°
        [3, 5, 1, 0],  # 100°: 80°, 170° | 10°, 0°
        [4, 3, 1, 0],  # 170°: 100°, 80° | 10°, 0°
    ]


def test_short_lists_are_padded_in_place():
    # K = 3 where a class has two others: the third place of the first half stays empty.
    lists = ranking_lists(PLANE, LABELS, TRAIN, 3)
    assert lists[0].tolist() == [1, 2, ABSENT, 3, 4, 5]
    assert present(ranking_lists(PLANE, LABELS, TRAIN, 100)) == literal_lists(PLANE, LABELS, TRAIN, 100)


def test_a_class_with_one_training_node_has_others_only():
    nodes = np.array([0, 2, 7])  # 0° and 10° of class 0, 170° alone
    lists = ranking_lists(PLANE, LABELS, nodes, 2)
    assert present(lists) == [[1, 2], [0, 2], [1, 0]]
    assert lists[2, :2].tolist() == [ABSENT, ABSENT]


def test_one_class_alone_has_no_others():
    lists = ranking_lists(PLANE, LABELS, np.array([0, 2, 3]), 2)
    assert present(lists) == [[1, 2], [0, 2], [1, 0]]


def test_labels_outside_the_training_nodes_are_not_read():
    expected = ranking_lists(PLANE, LABELS, TRAIN, 2)
    other = LABELS.copy()
    other[[1, 6]] = 0
    assert torch.equal(ranking_lists(PLANE, other, TRAIN, 2), expected)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("block", [search.BLOCK_ENTRIES, 7])
def test_ties_go_to_the_node_that_comes_first(sparse, block, monkeypatch):
    # One axis per node out of three, with a sign: every cosine is exactly −1, 0 or 1, so ties abound.
    monkeypatch.setattr(search, "BLOCK_ENTRIES", block)
    rng = np.random.default_rng(0)
    x = np.zeros((20, 200), dtype=np.float32)
    x[np.arange(20), rng.integers(3, size=20)] = rng.choice([-2.0, 1.0, 0.0], size=20)
    y = rng.integers(3, size=20)
    nodes = rng.permutation(20)[:16]  # not in the order of their numbers
    expected = literal_lists(x, y, nodes, 3)
    assert present(ranking_lists(sp.csr_matrix(x) if sparse else x, y, nodes, 3)) == expected


def sparse_rows(seed: int, count: int) -> tuple[sp.csr_matrix, np.ndarray, np.ndarray]:
    """Rows of one or two equal entries, or none, their classes, and training nodes in any order."""
    rng = np.random.default_rng(seed)
    x = np.zeros((count, 300), dtype=np.float32)
    for row in x:
        row[rng.integers(8, size=rng.integers(3))] = 1
    return sp.csr_matrix(x), rng.integers(3, size=count), rng.permutation(count)[: max(2, count - 3)]


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), count=st.integers(2, 20), k=st.integers(1, 6), most=st.integers(1, 20))
def test_an_inverted_index_gives_the_same_lists(seed, count, k, most):
    x, y, nodes = sparse_rows(seed, count)
    expected = ranking_lists(x, y, nodes, k, max_candidates=most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "LEAST_PAIRS", 0)
        patch.setattr(ranking, "top_k", None)  # it is not used
        found = ranking_lists(x, y, nodes, k, max_candidates=most)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_lists_of_an_index_hold_the_same_cosines_up_to_rounding(threads, monkeypatch):
    x = sp.random(900, 700, density=0.02, random_state=0, dtype=np.float32, format="csr")
    y = np.random.default_rng(0).integers(4, size=900)
    expected = ranking_lists(x, y, np.arange(900), 10)
    monkeypatch.setattr(ranking, "LEAST_PAIRS", 0)
    monkeypatch.setattr(compiled, "WORTH_A_THREAD", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = ranking_lists(x, y, np.arange(900), 10)
    finally:
        torch.set_num_threads(before)
    unit = x.toarray().astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = torch.from_numpy(unit @ unit.T)
    assert (found != ABSENT).all()
    torch.testing.assert_close(cosines.gather(1, found), cosines.gather(1, expected), rtol=0, atol=1e-6)
    labels = torch.from_numpy(y)
    assert (labels[found[:, :10]] == labels[:, None]).all()
    assert (labels[found[:, 10:]] != labels[:, None]).all()


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), count=st.integers(2, 15), classes=st.integers(1, 4), k=st.integers(1, 6))
def test_lists_equal_a_literal_sort(seed, count, classes, k):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, 4)).astype(np.float32)
    y = rng.integers(classes, size=count)
    nodes = rng.permutation(count)
    assert present(ranking_lists(x, y, nodes, k)) == literal_lists(x, y, nodes, k)


def test_max_candidates_bounds_who_may_stand_in_a_list():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((40, 4)).astype(np.float32), rng.integers(3, size=40)
    nodes = np.arange(40)
    lists = ranking_lists(x, y, nodes, 4, max_candidates=10, seed=1)
    listed = set(lists[lists != ABSENT].tolist())
    assert 4 < len(listed) <= 10
    assert lists.shape == (40, 8)  # everyone still has a list
    # Within the ten it is the same sort as ever: leave out those who were not drawn.
    chosen = sorted(np.random.default_rng(1).choice(40, 10, replace=False).tolist())
    full = literal_lists(x, y, nodes, 100)
    for i, row in enumerate(present(lists)):
        intra = [j for j in full[i] if j in chosen and y[j] == y[i]][:4]
        inter = [j for j in full[i] if j in chosen and y[j] != y[i]][-4:]
        assert row == intra + inter
    assert torch.equal(ranking_lists(x, y, nodes, 4, max_candidates=10, seed=1), lists)
    assert not torch.equal(ranking_lists(x, y, nodes, 4, max_candidates=10, seed=2), lists)


@pytest.mark.parametrize("enough", [6, 7, None])
def test_max_candidates_that_bound_nothing(enough):
    expected = ranking_lists(PLANE, LABELS, TRAIN, 2)
    assert torch.equal(ranking_lists(PLANE, LABELS, TRAIN, 2, max_candidates=enough), expected)


# ---------------------------------------------------------------------- true scores


def test_true_scores_count_the_places_above_the_end():
    lists = torch.tensor([[4, 2, 0, 1], [3, ABSENT, ABSENT, 2], [ABSENT] * 4])
    scores = true_scores(lists)
    inf = float("inf")
    assert scores.tolist() == [[3, 2, 1, 0], [1, -inf, -inf, 0], [-inf] * 4]


# ---------------------------------------------------------------------- ListNet


def literal_listnet(z: torch.Tensor, lists: list[list[int]]) -> torch.Tensor:
    """−Σ_i Σ_q p(y_i)_q log p(ŷ_i)_q, with every softmax written out."""
    loss = z.new_zeros(())
    for i, row in enumerate(lists):
        predicted = [z[i] @ z[j] for j in row]
        truth = [float(len(row) - 1 - place) for place in range(len(row))]
        for q in range(len(row)):
            p_true = math.exp(truth[q]) / sum(math.exp(t) for t in truth)
            p_predicted = predicted[q].exp() / sum(p.exp() for p in predicted)
            loss = loss - p_true * p_predicted.log()
    return loss


def test_two_nodes_in_one_list_by_hand():
    z = torch.tensor([[1.0], [2.0], [3.0]])
    lists = torch.tensor([[1, 2], [ABSENT, ABSENT], [ABSENT, ABSENT]])
    # The truth is softmax(1, 0), the prediction softmax(1·2, 1·3).
    first = math.e / (math.e + 1)
    expected = -(first * math.log(1 / (1 + math.e)) + (1 - first) * math.log(math.e / (1 + math.e)))
    assert float(ranking_loss(z, lists, true_scores(lists))) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "lists",
    [
        [[1, 2, 3, 4], [0, 2, 4, 3], [4, 3, 1, 0], [2, 1, 0, 4], [3, 0, 2, 1]],
        [
            [1, ABSENT, 3, 4],
            [ABSENT, ABSENT, 4, 3],
            [4, 3, ABSENT, 0],
            [ABSENT] * 4,
            [ABSENT, 0, ABSENT, ABSENT],
        ],
    ],
    ids=["full", "padded"],
)
def test_values_and_gradients_equal_the_literal_loop(lists):
    torch.manual_seed(0)
    z = torch.randn(5, 3, dtype=torch.float64)
    ours_z, literal_z = z.clone().requires_grad_(), z.clone().requires_grad_()
    padded = torch.tensor(lists)
    ours = ranking_loss(ours_z, padded, true_scores(padded).double())
    expected = literal_listnet(literal_z, present(padded))
    torch.testing.assert_close(ours, expected)
    ours.backward()
    expected.backward()
    torch.testing.assert_close(ours_z.grad, literal_z.grad)


def test_empty_lists_add_nothing_and_no_nan():
    z = torch.randn(3, 2, requires_grad=True)
    lists = torch.full((3, 4), ABSENT)
    loss = ranking_loss(z, lists, true_scores(lists))
    loss.backward()
    assert loss.item() == 0.0
    assert not z.grad.any()


def test_large_scores_stay_finite():
    z = torch.tensor([[100.0], [100.0], [-100.0]], requires_grad=True)
    lists = torch.tensor([[2, 1], [2, 0], [0, 1]])  # z·z is ±10⁴: an exponential of it would overflow
    loss = ranking_loss(z, lists, true_scores(lists))
    loss.backward()
    # Nodes 0 and 1: the truth gives e/(1+e) to the node with −10⁴, 2·10⁴ below the other. Node 2: a draw.
    expected = 2 * 2e4 * math.e / (1 + math.e) + math.log(2)
    assert loss.item() == pytest.approx(expected, rel=1e-5)
    assert bool(torch.isfinite(z.grad).all())


def test_a_node_ranked_rightly_costs_less():
    lists = torch.tensor([[1, 2], [ABSENT, ABSENT], [ABSENT, ABSENT]])
    scores = true_scores(lists)
    right, wrong = torch.tensor([[1.0], [2.0], [0.0]]), torch.tensor([[1.0], [0.0], [2.0]])
    assert float(ranking_loss(right, lists, scores)) < float(ranking_loss(wrong, lists, scores))
