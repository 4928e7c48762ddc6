"""The edges of a missing half with the ids of the user's nodes, in every format."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from otherhalf.complement.half_files import check_half_file, edge_table, write_edges
from otherhalf.complement.missing_half import MissingHalf
from otherhalf.errors import InputError
from otherhalf.graph import Graph

GRAPH = Graph(edges=[[0], [3]], x=np.eye(4), y=[0, 1, 0, 1], ids=["ann", "bob", "007", "d,e"])

# bob is like 007 and ann, and unlike d,e; ann is like 007. The pairs are not in the order of the sources.
BOTH = MissingHalf(
    np.array([[1, 0, 1, 1], [2, 2, 0, 3]]),
    4,
    "both",
    2,
    3,
    weights=np.array([0.75, 1.0, 0.25, -1.0], dtype=np.float32),
    method="kernel",
)
# 0 – 1 was found from both ends: it is one edge.
PLAIN = MissingHalf(np.array([[1, 0, 3], [0, 1, 2]]), 4, "homophily", 1, 4)


def rows(table):
    return [tuple(row) for row in table.itertuples(index=False)]


def test_pairs_with_weights_by_hand():
    table = edge_table(BOTH, GRAPH)
    assert list(table) == ["source", "target", "weight", "kind"]
    assert rows(table) == [
        ("ann", "007", 1.0, "homophilic"),
        ("bob", "007", 0.75, "homophilic"),
        ("bob", "ann", 0.25, "homophilic"),
        ("bob", "d,e", 1.0, "heterophilic"),
    ]


def test_edges_without_weights_by_hand():
    assert rows(edge_table(PLAIN, GRAPH)) == [
        ("ann", "bob", 1.0, "homophilic"),
        ("007", "d,e", 1.0, "homophilic"),
    ]


def test_one_kind_is_that_of_the_half_also_where_a_weight_is_zero():
    half = MissingHalf(BOTH.pairs, 4, "heterophily", 2, 3, weights=-np.abs(BOTH.weights) * [1, 0, 1, 1])
    table = edge_table(half, GRAPH)
    assert table["kind"].tolist() == ["heterophilic"] * 4
    assert table["weight"].tolist() == [0.0, 0.75, 0.25, 1.0]


def test_both_kinds_without_weights_say_nothing_of_an_edge():
    half = MissingHalf(PLAIN.pairs, 4, "both", 1, 4)
    assert edge_table(half, GRAPH)["kind"].tolist() == [None, None]


def test_nodes_without_ids_are_known_by_their_places():
    table = edge_table(PLAIN, Graph(edges=[[0], [3]], x=np.eye(4)))
    assert table["source"].tolist() == [0, 2]


@pytest.mark.parametrize("name", ["h.csv", "h.tsv", "h.csv.gz", "h.parquet"])
@pytest.mark.parametrize("half", [BOTH, PLAIN])
def test_tables(tmp_path, name, half):
    path = tmp_path / name
    assert write_edges(path, half, GRAPH) == half.to_table(str(path), GRAPH) == len(half.to_frame(GRAPH))
    if name.endswith("parquet"):
        found = pd.read_parquet(path)
    else:
        found = pd.read_csv(path, sep="\t" if "tsv" in name else ",", dtype={"source": str, "target": str})
    assert rows(found) == rows(edge_table(half, GRAPH))


def test_graphml(tmp_path):
    assert BOTH.to_table(tmp_path / "h.graphml", GRAPH) == 4
    read = nx.read_graphml(tmp_path / "h.graphml")
    assert read.is_directed()
    assert set(read.nodes) == set(GRAPH.ids)
    assert read.edges["bob", "007"] == {"weight": 0.75, "kind": "homophilic"}
    assert read.edges["bob", "d,e"] == {"weight": 1.0, "kind": "heterophilic"}
    PLAIN.to_table(tmp_path / "h.graphml", GRAPH)
    read = nx.read_graphml(tmp_path / "h.graphml")
    assert sorted(map(sorted, read.edges)) == [["007", "d,e"], ["ann", "bob"]]
    assert not read.is_directed()


def test_the_half_of_another_graph():
    other = Graph(edges=[[0], [1]], x=np.eye(5))
    with pytest.raises(InputError, match="is that of a graph with 4 nodes, and this one has 5"):
        edge_table(BOTH, other)


@pytest.mark.parametrize("name", ["half.txt", "half", "half.json"])
def test_an_ending_that_says_nothing(tmp_path, name):
    with pytest.raises(
        InputError, match=rf"{name} does not say by its ending what to write: use \.csv, \.tsv"
    ):
        check_half_file(tmp_path / name, GRAPH)


@pytest.mark.parametrize("name", ["half.csv", "half.graphml", "half.npz"])
def test_the_check_refuses_a_place_before_the_work(tmp_path, name):
    check_half_file(tmp_path / "new" / name, GRAPH)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file is no folder that can be written to"):
        check_half_file(tmp_path / "file" / name, GRAPH)


def test_npz_is_no_table(tmp_path):
    with pytest.raises(InputError, match="neither CSV nor Parquet"):
        BOTH.to_table(tmp_path / "half.npz", GRAPH)
