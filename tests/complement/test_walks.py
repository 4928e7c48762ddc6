"""Short walks from every node: dense powers of the same matrix, and what truncation keeps."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement import walks as module
from otherhalf.complement.walks import CACHED, ENDS, RESTART, STEPS, walk_rows
from otherhalf.nn.ops import compiled
from otherhalf.nn.ops.sparse import with_loops

# A path 0 – 1 – 2 and a node 3 without neighbours.
PATH = sp.csr_matrix(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=np.float32))


def random_graph(seed: int, nodes: int, density: float) -> sp.csr_matrix:
    upper = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < density, k=1)
    return sp.csr_matrix((upper | upper.T).astype(np.float32))


def step_matrix(adjacency: sp.csr_matrix) -> np.ndarray:
    """Ŝ in float64; a loop is as heavy as the mean of the node's edges, and 1 without any."""
    dense = adjacency.toarray().astype(np.float64)
    count = (dense > 0).sum(axis=1)
    looped = dense + np.diag(np.where(count, dense.sum(axis=1) / np.maximum(count, 1), 1))
    root = np.diag(looped.sum(axis=1) ** -0.5)
    return root @ looped @ root


def pagerank(s: np.ndarray) -> np.ndarray:
    terms = [(1 - RESTART) ** t * np.linalg.matrix_power(s, t) for t in range(STEPS + 1)]
    return RESTART * np.sum(terms, axis=0)


def assert_same(one: dict, two: dict) -> None:
    for name in ("two_steps", "four_steps", "pagerank"):
        first, second = one[name], two[name]
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(first, part), getattr(second, part))


# ---------------------------------------------------------------------- everything is kept


def test_two_steps_on_a_path_by_hand():
    walks = walk_rows(PATH)
    # With loops the degrees are 2, 3, 2, 1, so that Ŝ has 1/2, 1/√6, 0 | 1/√6, 1/3, 1/√6 | 0, 1/√6, 1/2.
    q = 6**-0.5
    ends, next_to = 1 / 4 + 1 / 6, q / 2 + q / 3
    expected = [
        [ends, next_to, 1 / 6, 0],
        [next_to, 1 / 6 + 1 / 9 + 1 / 6, next_to, 0],
        [1 / 6, next_to, ends, 0],
        [0, 0, 0, 1],
    ]
    np.testing.assert_allclose(walks["two_steps"].toarray(), expected, atol=1e-6)


def test_an_isolated_node_stays_where_it_is():
    walks = walk_rows(PATH)
    for matrix in (walks["two_steps"], walks["four_steps"]):
        assert matrix[3].toarray().tolist() == [[0, 0, 0, 1]]
    row = walks["pagerank"][3].toarray().ravel()
    # All eleven terms stay: 0.15 · (1 + 0.85 + … + 0.85¹⁰) = 1 − 0.85¹¹.
    np.testing.assert_allclose(row, [0, 0, 0, 1 - 0.85**11], rtol=1e-6)


def test_a_graph_without_edges():
    walks = walk_rows(sp.csr_matrix((3, 3), dtype=np.float32))
    assert (
        walks["two_steps"].toarray().tolist() == walks["four_steps"].toarray().tolist() == np.eye(3).tolist()
    )
    np.testing.assert_allclose(walks["pagerank"].toarray(), np.eye(3) * (1 - 0.85**11), rtol=1e-6)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), nodes=st.integers(1, 12), density=st.floats(0.0, 1.0))
def test_with_all_entries_kept_they_are_dense_powers(seed, nodes, density):
    adjacency = random_graph(seed, nodes, density)
    walks, s = walk_rows(adjacency, kept=nodes), step_matrix(adjacency)
    np.testing.assert_allclose(walks["two_steps"].toarray(), s @ s, atol=1e-6)
    np.testing.assert_allclose(walks["four_steps"].toarray(), np.linalg.matrix_power(s, 4), atol=1e-6)
    np.testing.assert_allclose(walks["pagerank"].toarray(), pagerank(s), atol=1e-6)


def test_weights_of_edges_count():
    adjacency = sp.csr_matrix(np.array([[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]], dtype=np.float32))
    s = step_matrix(adjacency)
    np.testing.assert_allclose(walk_rows(adjacency)["two_steps"].toarray(), s @ s, atol=1e-6)


def test_the_callers_matrix_stays_as_it_was():
    before = PATH.copy()
    walk_rows(PATH, kept=2)
    assert (before != PATH).nnz == 0


# ---------------------------------------------------------------------- truncation


def kept_largest(row: dict[int, np.float32], kept: int) -> dict[int, np.float32]:
    """Keep the largest; among equal ones those reached first, which is the order of the dictionary."""
    order = sorted(range(len(row)), key=lambda i: (-list(row.values())[i], i))[:kept]
    return {node: value for i, (node, value) in enumerate(row.items()) if i in order}


def literal_walks(adjacency: sp.csr_matrix, kept: int) -> list[np.ndarray]:
    """The three matrices, entry by entry, in the order and the precision of the compiled loop."""
    n = adjacency.shape[0]
    looped = with_loops(adjacency).toarray()
    scale = np.float32(1) / np.sqrt(looped.sum(axis=1))
    s = ((scale[:, None] * looped) * scale[None]).astype(np.float32)
    found = np.zeros((3, n, n), dtype=np.float32)
    for start in range(n):
        now, total, share = {start: np.float32(1)}, {start: np.float32(RESTART)}, np.float32(RESTART)
        for step in range(1, STEPS + 1):
            share *= np.float32(1 - RESTART)
            after: dict[int, np.float32] = {}
            for node, weight in now.items():
                for other in np.flatnonzero(s[node]):
                    after[other] = after.get(other, np.float32(0)) + weight * s[node, other]
            now = kept_largest(after, kept)
            for node, weight in now.items():
                total[node] = total.get(node, np.float32(0)) + share * weight
            if step in (2, 4):
                for node, weight in now.items():
                    found[step // 4, start, node] = weight
        for node, weight in kept_largest(total, kept).items():
            found[2, start, node] = weight
    return list(found)


def test_truncation_of_a_star_by_hand():
    # A hub 0 with four leaves; with loops the degrees are 5 and 2. One step from a leaf: itself 1/2, the hub
    # 1/√10. Two of five entries are kept, so that step two starts at those two: the leaf has 1/4 + 1/10, the
    # hub (1/2 + 1/5)/√10 = 0.221, each other leaf 1/10.
    star = sp.csr_matrix(np.array([[0, 1, 1, 1, 1], *[[1, 0, 0, 0, 0]] * 4], dtype=np.float32))
    walks = walk_rows(star, kept=2)
    assert walks["two_steps"].getnnz(axis=1).tolist() == [2] * 5
    for leaf in range(1, 5):
        row = walks["two_steps"][leaf].toarray().ravel()
        assert set(np.flatnonzero(row)) == {0, leaf}
        np.testing.assert_allclose(row[[leaf, 0]], [0.35, 0.7 / np.sqrt(10)], rtol=1e-6)
    # From the hub: itself 1/5, and four leaves with the same 1/√10, of which the two reached first are kept:
    # 1 and 2. In step two the hub has 2 · 1/10 and each of these leaves 1/2 · 1/√10 = 0.158, leaf 1 first.
    assert set(np.flatnonzero(walks["two_steps"][0].toarray())) == {0, 1}


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(2, 12),
    density=st.floats(0.1, 1.0),
    kept=st.integers(1, 6),
)
def test_truncation_keeps_the_largest_after_each_step(seed, nodes, density, kept):
    # Distinct weights, so that rounding decides no tie.
    rng = np.random.default_rng(seed)
    adjacency = random_graph(seed, nodes, density).toarray() * np.triu(
        rng.uniform(0.5, 2, (nodes, nodes)), k=1
    )
    adjacency = sp.csr_matrix((adjacency + adjacency.T).astype(np.float32))
    walks = walk_rows(adjacency, kept=kept)
    expected = literal_walks(adjacency, min(kept, nodes))
    for matrix, dense in zip(
        (walks["two_steps"], walks["four_steps"], walks["pagerank"]), expected, strict=True
    ):
        np.testing.assert_allclose(matrix.toarray(), dense, rtol=2e-5, atol=1e-7)
        assert matrix.getnnz(axis=1).max() <= kept


def test_ties_go_to_the_nodes_reached_first():
    # A ring of eight: all nodes have the degree 3 with their loop, so the two sides tie in every step.
    ring = sp.csr_matrix(np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1), dtype=np.float32)
    walks = walk_rows(ring, kept=2)
    # One step: 1/3 each, in the order of the columns. From node 3 the columns 2 and 3 are kept, not 4. Two
    # steps: 1 has 1/9, 2 and 3 have 2/9, 4 has 1/9.
    assert np.flatnonzero(walks["two_steps"][3].toarray()).tolist() == [2, 3]
    # From node 0 the columns are 0, 1, 7: 0 and 1 are kept; then 0 and 1 again.
    assert np.flatnonzero(walks["two_steps"][0].toarray()).tolist() == [0, 1]
    assert_same(walks, walk_rows(ring, kept=2))


@pytest.mark.parametrize("kept", [1, 4, 64])
def test_the_result_does_not_depend_on_threads(monkeypatch, kept):
    monkeypatch.setattr(compiled, "WORTH_A_THREAD", 1)
    adjacency = random_graph(0, 90, 0.1)
    results, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results.append(walk_rows(adjacency, kept=kept))
    finally:
        torch.set_num_threads(before)
    assert_same(*results)


def test_entries_that_are_too_small_for_single_precision():
    # From 0 to 51 over fifty nodes, with edges so weak that two of them multiply to 0. The last node was once
    # listed fifty times, beyond the end of the list. A partner of each node, 52 … 103, keeps its loop heavy.
    weak = np.zeros((104, 104), dtype=np.float32)
    weak[0, 1:51] = weak[1:51, 51] = 1e-30
    weak[np.arange(52), np.arange(52, 104)] = 1
    walks = walk_rows(sp.csr_matrix(weak + weak.T), kept=104)
    reached = [node for node in range(104) if node not in (51, 103)]
    assert np.flatnonzero(walks["two_steps"][0].toarray()).tolist() == reached
    assert walks["two_steps"][0].has_canonical_format
    back = [node for node in range(104) if node not in (0, 52)]
    assert np.flatnonzero(walks["pagerank"][51].toarray()).tolist() == back


def test_columns_are_sorted_and_no_zero_is_stored():
    walks = walk_rows(random_graph(1, 40, 0.15), kept=8)
    for matrix in (walks["two_steps"], walks["four_steps"], walks["pagerank"]):
        assert matrix.shape == (40, 40)
        assert matrix.dtype == np.float32
        assert (matrix.data > 0).all()
        assert matrix.has_canonical_format


@pytest.mark.parametrize("only", [[], [7], [3, 4, 5, 20, 39, 0], list(range(40))])
def test_walks_from_some_nodes_are_those_from_all(only):
    graph = random_graph(1, 40, 0.15)
    every, some = walk_rows(graph, kept=8), walk_rows(graph, kept=8, only=np.array(only, dtype=np.int64))
    for name in ENDS:
        np.testing.assert_array_equal(some[name].toarray(), every[name].toarray()[only])


@pytest.mark.parametrize("starts", [1, 7, 39, 40])
def test_blocks_change_nothing(starts, monkeypatch):
    graph = random_graph(2, 40, 0.15)
    whole = walk_rows(graph, kept=8)
    monkeypatch.setattr(module, "STARTS", starts)
    assert_same(whole, walk_rows(graph, kept=8))


@pytest.mark.parametrize("names", [["two_steps"], ["four_steps"], ["pagerank"], ["pagerank", "two_steps"]])
def test_rows_of_one_kind_are_those_of_all_kinds(names):
    graph = random_graph(3, 30, 0.2)
    every, some = walk_rows(graph, kept=6), walk_rows(graph, names, kept=6)
    assert list(some) == names
    for name in names:
        np.testing.assert_array_equal(some[name].toarray(), every[name].toarray())


def test_a_matrix_beyond_the_cache_changes_nothing():
    """The walks of a small graph stay the same to the bit beside another one that they never reach."""
    small, ends = random_graph(0, 90, 0.08), np.random.default_rng(1).integers(60_000, size=(2, CACHED // 2))
    other = sp.csr_matrix((np.ones(ends.shape[1], np.float32), (ends[0], ends[1])), shape=(60_000, 60_000))
    other = ((other + other.T) > 0).astype(np.float32)
    both = sp.csr_matrix(sp.block_diag([small, other], format="csr"))
    assert small.nnz <= CACHED < both.nnz
    found = walk_rows(both, kept=30, only=np.arange(90))
    assert_same({name: rows[:, :90] for name, rows in found.items()}, walk_rows(small, kept=30))
