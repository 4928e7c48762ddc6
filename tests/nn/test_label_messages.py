"""Label messages: histograms by hand, dense products, and no way back to the node's own label."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.nn.label_messages import LabelWalk, label_rows, label_walks, messages
from otherhalf.nn.ops.sparse import mean_matrix

# The path 0 – 1 – 2 – 3, and node 4 alone. Training nodes: 0 (class 1), 2 (class 0), 3 (class 1).
EDGES = np.array([[0, 1, 2], [1, 2, 3]])
ADJACENCY = sp.coo_matrix((np.ones(3), EDGES), shape=(5, 5))
PATH = sp.csr_matrix(ADJACENCY + ADJACENCY.T, dtype=np.float32)
MEAN = mean_matrix(PATH)
Y = label_rows(np.array([1, 0, 1]), np.array([0, 2, 3]), 5, 2)


def random_matrix(seed: int, nodes: int, density: float = 0.5) -> sp.csr_matrix:
    rng = np.random.default_rng(seed)
    dense = rng.random((nodes, nodes)) * (rng.random((nodes, nodes)) < density)
    np.fill_diagonal(dense, 0)
    return sp.csr_matrix(dense.astype(np.float32))


def test_label_rows_by_hand():
    assert Y.tolist() == [[0, 1], [0, 0], [1, 0], [0, 1], [0, 0]]


def test_read_only_arrays_are_taken():
    codes, nodes = np.array([1]), np.array([2])
    for array in (codes, nodes):
        array.setflags(write=False)
    assert label_rows(codes, nodes, 3, 2).tolist() == [[0, 0], [0, 0], [0, 1]]


# ---------------------------------------------------------------------- by hand


def test_one_step_by_hand():
    (walk,) = label_walks([(MEAN,)])
    assert walk.returning is None
    # Node 1 has the neighbours 0 and 2, node 2 has 1 (no label) and 3.
    assert walk(Y).tolist() == [[0, 0], [0.5, 0.5], [0, 0.5], [1, 0], [0, 0]]


def test_two_steps_by_hand():
    (walk,) = label_walks([(MEAN, MEAN)])
    # Two steps from 0: to 1, then half to 0 itself, which is taken away, and half to 2.
    # From 1: half to 0 and back; half to 2, then half back and half to 3: 1/4 reaches 3.
    # From 2: half to 1, then half to 0: 1/4; half to 3 and back. From 3: to 2, then half to 1, half back.
    assert walk(Y).tolist() == [[0.5, 0], [0, 0.25], [0, 0.25], [0, 0], [0, 0]]
    assert walk.returning.tolist() == [0.5, 0.5 + 0.25, 0.25 + 0.5, 0.5, 0]


def test_histograms_side_by_side_in_the_order_of_the_walks():
    walks = label_walks([(MEAN,), (MEAN, MEAN)])
    found = messages(walks, Y)
    assert found.shape == (5, 4)
    assert torch.equal(found, torch.cat([walks[0](Y), walks[1](Y)], dim=1))


def test_the_first_matrix_is_the_first_step():
    # 0 → 1 by A, 1 → 2 by B: node 0 reads the label of 2; the other way round it reads nothing.
    a = sp.csr_matrix(([1.0], ([0], [1])), shape=(3, 3), dtype=np.float32)
    b = sp.csr_matrix(([1.0], ([1], [2])), shape=(3, 3), dtype=np.float32)
    y = label_rows(np.array([0]), np.array([2]), 3, 1)
    forward, backward = label_walks([(a, b), (b, a)])
    assert forward(y).flatten().tolist() == [1, 0, 0]
    assert backward(y).flatten().tolist() == [0, 0, 0]


# ---------------------------------------------------------------------- against dense products


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), nodes=st.integers(2, 12), classes=st.integers(1, 4))
def test_messages_equal_the_dense_formula(seed, nodes, classes):
    a, b = random_matrix(seed, nodes), random_matrix(seed + 1, nodes)
    labels = torch.randn(nodes, classes, generator=torch.Generator().manual_seed(seed))
    first, second = a.toarray(), b.toarray()
    product = first @ second
    expected = [
        first @ labels.numpy(),
        (product - np.diag(np.diag(product))) @ labels.numpy(),
        second @ labels.numpy(),
        (second @ first - np.diag(np.diag(second @ first))) @ labels.numpy(),
    ]
    found = messages(label_walks([(a,), (a, b), (b,), (b, a)]), labels)
    np.testing.assert_allclose(found.numpy(), np.concatenate(expected, axis=1), atol=1e-5)


def test_a_matrix_that_is_used_twice_is_kept_once():
    walks = label_walks([(MEAN,), (MEAN, MEAN)])
    assert walks[0].steps[0] is walks[1].steps[0] is walks[1].steps[1]


# ---------------------------------------------------------------------- no way back


def own_slopes(walk: LabelWalk, nodes: int) -> torch.Tensor:
    """The slope of every node's message by its own label."""
    labels = torch.zeros(nodes, 1, requires_grad=True)
    found = walk(labels)
    return torch.stack(
        [torch.autograd.grad(m, labels, retain_graph=True)[0][i, 0] for i, (m,) in enumerate(found)]
    )


@pytest.mark.parametrize("steps", [(MEAN,), (MEAN, MEAN)], ids=["one step", "two steps"])
def test_no_message_depends_on_the_nodes_own_label(steps):
    # All degrees are powers of two, so that nothing is rounded and the slopes are exactly 0.
    (walk,) = label_walks([steps])
    assert own_slopes(walk, 5).tolist() == [0] * 5


def test_without_the_subtraction_a_label_would_come_back():
    (walk,) = label_walks([(MEAN, MEAN)])
    assert own_slopes(LabelWalk(walk.steps), 5).tolist() == [0.5, 0.75, 0.75, 0.5, 0]


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), nodes=st.integers(2, 10))
def test_no_message_over_two_halves_depends_on_the_nodes_own_label(seed, nodes):
    # A symmetric half and one that goes to few nodes only, with weights that add up to 1.
    upper = sp.triu(random_matrix(seed, nodes) > 0, k=1)
    given_half = mean_matrix(sp.csr_matrix((upper + upper.T).astype(np.float32)))
    found = random_matrix(seed + 1, nodes).toarray() * (np.arange(nodes) < (nodes + 1) // 2)
    sums = found.sum(axis=1, keepdims=True)
    found_half = sp.csr_matrix(np.divide(found, sums, out=np.zeros_like(found), where=sums > 0))
    for steps in (
        (given_half, found_half),
        (found_half, given_half),
        (given_half, given_half),
        (found_half,),
    ):
        (walk,) = label_walks([steps])
        assert float(own_slopes(walk, nodes).abs().max()) < 1e-6


def test_a_changed_label_changes_all_messages_but_the_nodes_own():
    walks = label_walks([(MEAN,), (MEAN, MEAN)])
    changed = Y.clone()
    changed[2] = torch.tensor([0.0, 1.0])
    moved = (messages(walks, changed) != messages(walks, Y)).any(dim=1)
    assert moved.tolist() == [True, True, False, True, False]


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("place", [0, 1])
def test_a_diagonal_is_refused(place):
    looped = mean_matrix(PATH, self_loops=True)
    steps = [(looped, MEAN), (MEAN, looped)][place]
    with pytest.raises(ValueError, match="must have no diagonal: leave out self loops"):
        label_walks([(MEAN,), steps])


def test_stored_zeros_on_the_diagonal_are_no_diagonal():
    stored = sp.csr_matrix(([0.0, 1.0], ([0, 0], [0, 1])), shape=(2, 2), dtype=np.float32)
    (walk,) = label_walks([(stored,)])
    assert walk(torch.tensor([[3.0], [5.0]])).tolist() == [[5.0], [0.0]]
