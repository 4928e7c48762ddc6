from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from tests.diagnosis.duplicate_graphs import UNDIRECTED, literal, small_graphs, star

import otherhalf.diagnosis.duplicates as module
from otherhalf.data.catalog import load
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.duplicates import find_duplicates
from otherhalf.graph import Graph


def test_identical_nodes_by_hand():
    duplicates = find_duplicates(star())
    assert list(duplicates.first) == UNDIRECTED
    assert duplicates.first["neighbours"].tolist() == [0, 1, 2, 2, 4, 2, -1]
    assert duplicates.first["features"].tolist() == [0, 1, 2, 2, 2, -1, -1]
    assert duplicates.first["neighbours_and_features"].tolist() == [0, 1, 2, 2, 4, -1, -1]
    assert duplicates.to_dict() == {
        "neighbours": {"groups": 1, "nodes": 3},
        "features": {"groups": 1, "nodes": 3},
        "neighbours_and_features": {"groups": 1, "nodes": 2},
    }


def test_out_neighbours_need_direction():
    """Five nodes have no out-neighbours and are not identical; reversed, 2, 3 and 5 point to 0 alone."""
    graph = star(directed=True)
    assert find_duplicates(graph).first["out_neighbours"].tolist() == [0, 1, -1, -1, -1, -1, -1]
    reversed_edges = find_duplicates(replace(graph, edges=graph.edges[::-1]))
    assert list(reversed_edges.first) == ["out_neighbours", *UNDIRECTED]
    assert reversed_edges.first["out_neighbours"].tolist() == [-1, -1, 2, 2, 4, 2, -1]
    assert reversed_edges.first["neighbours"].tolist() == find_duplicates(star()).first["neighbours"].tolist()


def test_labels_are_not_used_and_the_result_is_read_only():
    graph = star()
    duplicates = find_duplicates(graph)
    assert find_duplicates(replace(graph, y=None, classes=None)).to_dict() == duplicates.to_dict()
    with pytest.raises(ValueError, match="read-only"):
        duplicates.first["features"][0] = 5


@given(small_graphs())
@settings(max_examples=200, deadline=None)
def test_against_brute_force(case):
    graph, _ = case
    duplicates = find_duplicates(graph)
    assert ("out_neighbours" in duplicates.first) == graph.directed
    for kind, first in duplicates.first.items():
        expected = literal(graph, kind)
        assert first.tolist() == expected
        sizes = [expected.count(head) for head in set(expected) - {-1}]
        assert duplicates.count(kind) == (sum(s > 1 for s in sizes), sum(s for s in sizes if s > 1))


@pytest.mark.parametrize("different", [1, 3])
def test_colliding_hashes_change_nothing(monkeypatch, different):
    """Even where all rows have one hash."""
    graph = Graph(
        edges=contextual_sbm(60, seed=3).edges,
        x=np.random.default_rng(0).integers(0, 2, (60, 3)),
        directed=True,
    )
    before = find_duplicates(graph)
    assert before.count("features")[1] > 40
    real = module._hashed

    def poor(matrix):
        hashes, lengths = real(matrix)
        return hashes % np.uint64(different), lengths

    monkeypatch.setattr(module, "_hashed", poor)
    after = find_duplicates(graph)
    for kind in before.first:
        np.testing.assert_array_equal(after.first[kind], before.first[kind])


@pytest.mark.parametrize("block", [1, 7, 50])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_blocks_and_storage_change_nothing(monkeypatch, block, make):
    rng = np.random.default_rng(1)
    graph = Graph(edges=rng.integers(0, 30, (2, 40)), x=rng.integers(0, 2, (30, 3)))
    expected = {kind: first.tolist() for kind, first in find_duplicates(graph).first.items()}
    monkeypatch.setattr(module, "BLOCK", block)
    duplicates = find_duplicates(replace(graph, x=make(graph.x)))
    assert {kind: first.tolist() for kind, first in duplicates.first.items()} == expected


# Counted with Python sets as well. The files have no direction.
@pytest.mark.parametrize(
    ("name", "nodes"),
    [("chameleon", 1300), ("squirrel", 2581), ("chameleon_filtered", 46), ("squirrel_filtered", 19)],
)
def test_wikipedia_graphs(data_dir, name, nodes):
    assert find_duplicates(load(data_dir / f"{name}.npz")).count("neighbours")[1] == nodes


def test_the_number_of_columns_costs_no_memory():
    """A matrix may have more columns than the machine has bytes."""
    x = sp.csr_matrix((np.ones(3, np.float32), ([0, 1, 2], [5, 10**12, 10**12])), shape=(4, 10**12 + 1))
    assert module._first_identical(x).tolist() == [0, 1, 1, -1]


def test_the_hash_tells_values_and_columns_apart():
    x = sp.csr_matrix(np.array([[1, 0, 2], [2, 0, 1], [0, 1, 2], [1, 0, 2], [1, 2, 0]], dtype=np.float32))
    hashes, lengths = module._hashed(x)
    assert lengths.tolist() == [2] * 5
    assert len(set(hashes.tolist())) == 4
    assert hashes[0] == hashes[3]
