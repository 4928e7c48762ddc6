"""Features smoothed around a few nodes: dense powers, and the same bits as those of all nodes."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement import smoothing as module
from otherhalf.complement.smoothing import smoothed_around, surroundings
from otherhalf.nn.ops.sparse import normalized_adjacency

# A path 0 – 1 – 2 – 3 – 4, and a node 5 without neighbours.
PATH = sp.csr_matrix(np.diag([1.0, 1, 1, 1, 0], 1) + np.diag([1.0, 1, 1, 1, 0], -1), dtype=np.float32)


@pytest.fixture(autouse=True)
def whole_graphs_are_around(monkeypatch):
    monkeypatch.setattr(module, "MOST_AROUND", 1.0)


def test_surroundings_of_a_path_by_hand():
    assert [each.tolist() for each in surroundings(PATH, np.array([3, 3]), 2)] == [
        [3],
        [2, 3, 4],
        [1, 2, 3, 4],
    ]
    assert [each.tolist() for each in surroundings(PATH, np.array([5]), 1)] == [[5], [5]]
    assert [each.tolist() for each in surroundings(PATH, np.array([], dtype=int), 1)] == [[], []]


def test_too_many_around(monkeypatch):
    monkeypatch.setattr(module, "MOST_AROUND", 0.5)
    assert surroundings(PATH, np.array([0]), 2) is not None
    assert surroundings(PATH, np.array([0]), 3) is None


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(1, 12),
    density=st.floats(0.0, 0.6),
    columns=st.sampled_from([1, 5, 40]),
    steps=st.integers(0, 4),
)
def test_rows_around_are_those_of_all(seed, nodes, density, columns, steps):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) * (rng.random((nodes, nodes)) < density), k=1)
    adjacency = sp.csr_matrix(upper + upper.T, dtype=np.float32)
    x = rng.standard_normal((nodes, columns)).astype(np.float32)
    asked = np.unique(rng.integers(0, nodes, 3))
    reached = surroundings(adjacency, asked, steps)
    found = smoothed_around(adjacency, lambda rows: x[rows], reached)

    operator, h = normalized_adjacency(adjacency, self_loops=True), torch.from_numpy(x)
    for _ in range(steps):
        h = operator @ h
    np.testing.assert_array_equal(found, h.numpy()[asked])

    dense = adjacency.toarray().astype(np.float64)
    count = (dense > 0).sum(axis=1)
    dense += np.diag(np.where(count, dense.sum(axis=1) / np.maximum(count, 1), 1))
    root = np.diag(dense.sum(axis=1) ** -0.5)
    expected = np.linalg.matrix_power(root @ dense @ root, steps) @ x
    np.testing.assert_allclose(found, expected[asked], rtol=1e-4, atol=1e-5)
