"""Edges as GraphML: what networkx reads is what was written, whatever the names are."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.data.graphml import check_graphml_file, write_graphml
from otherhalf.errors import InputError
from otherhalf.graph import Graph

GRAPH = Graph(edges=[[0], [1]], x=np.eye(3), y=["<b>", "", "a & b"], ids=["x", 'y"z', "<script>"])
ENDS = np.array([[0, 2, 1], [1, 0, 0]])
ATTRIBUTES = pd.DataFrame(
    {"weight": np.array([0.1, 2, 1e-9], dtype=np.float32), "kind": ["homophilic", None, "a<b"]}
)


def test_networkx_reads_it(tmp_path):
    write_graphml(tmp_path / "g.graphml", GRAPH, ENDS, ATTRIBUTES, directed=True)
    read = nx.read_graphml(tmp_path / "g.graphml")
    assert read.is_directed()
    assert dict(read.nodes(data=True)) == {"x": {"label": "<b>"}, 'y"z': {}, "<script>": {"label": "a & b"}}
    assert sorted(read.edges(data=True)) == [
        ("<script>", "x", {"weight": 2.0}),
        ("x", 'y"z', {"weight": 0.1, "kind": "homophilic"}),
        ('y"z', "x", {"weight": 1e-9, "kind": "a<b"}),
    ]


def test_undirected(tmp_path):
    write_graphml(tmp_path / "g.graphml", GRAPH, ENDS[:, :2], ATTRIBUTES[:2], directed=False)
    read = nx.read_graphml(tmp_path / "g.graphml")
    assert not read.is_directed()
    assert read.number_of_edges() == 2


# Line ends, quotes and signs of XML, which a reader must give back; nothing that XML does not have.
NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn"), include_characters="\n\t\r"), min_size=1, max_size=5
)


@given(names=st.lists(NAMES, min_size=2, max_size=4, unique=True))
def test_any_name_is_read_back(tmp_path_factory, names):
    graph = Graph(edges=[[0], [1]], x=np.eye(len(names)), ids=names)
    path = tmp_path_factory.mktemp("graphml") / "g.graphml"
    ends = np.array([[0], [1]])
    write_graphml(path, graph, ends, pd.DataFrame({"weight": [1.0]}), directed=True)
    read = nx.read_graphml(path)
    assert list(read.nodes) == names
    assert list(read.edges) == [(names[0], names[1])]


@pytest.mark.parametrize(
    ("ids", "y", "wrong"), [(["a\x01", "b"], None, "node id"), (None, ["c\x02", "d"], "class")]
)
def test_what_xml_cannot_hold(tmp_path, ids, y, wrong):
    graph = Graph(edges=[[0], [1]], x=np.eye(2), ids=ids, y=y)
    with pytest.raises(
        InputError, match=rf"the {wrong} .* GraphML cannot hold: write \.csv or \.parquet instead"
    ):
        check_graphml_file(tmp_path / "g.graphml", graph)


def test_a_write_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(IndexError):
        write_graphml(tmp_path / "g.graphml", GRAPH, ENDS + 2, ATTRIBUTES, directed=True)
    assert list(tmp_path.iterdir()) == []
