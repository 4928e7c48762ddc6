"""A graph in a notebook: sizes, classes, and names that are text."""

import numpy as np
import scipy.sparse as sp
from tests.system.test_html import texts

from otherhalf.data.graph_html import MOST_CLASSES, graph_html
from otherhalf.graph import Graph

GRAPH = Graph(
    edges=[[0, 1, 1, 2], [1, 2, 2, 2]],
    x=sp.csr_matrix(np.eye(5)),
    y=["<script>alert(1)</script>", "b", "b", "b", ""],
    name="a <b> graph",
    weights=[1, 2, 3, 4],
)


def cells(graph):
    return [text for text in texts(graph_html(graph)) if text.strip()]


def test_by_hand():
    assert graph_html(GRAPH) == GRAPH._repr_html_()
    assert cells(GRAPH) == [
        *("Graph a <b> graph", "nodes", "5", "edges", "2 undirected, with weights"),
        *("features", "5, sparse (20.0% are not 0)"),
        *("without an edge", "2 nodes", "without a label", "1 node"),
        *("dropped", "1 self loop, 1 repeated edge"),
        *("class", "nodes", "share", "b", "3", "75%", "<script>alert(1)</script>", "1", "25%"),
    ]


def test_a_graph_without_labels_has_no_table_of_classes():
    assert cells(Graph(edges=[[0], [1]], x=np.eye(2), directed=True)) == [
        *("Graph", "nodes", "2", "edges", "1 directed", "features", "2", "without a label", "2 nodes")
    ]


def test_relations():
    graph = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), relations=["cites", "<i>"])
    found = cells(graph)
    assert found[found.index("relations") + 1] == "<i> (1), cites (1)"


def test_many_classes():
    found = cells(Graph(edges=[[0], [1]], x=np.eye(14), y=np.arange(14)))
    assert found[-1] == f"{14 - MOST_CLASSES} more classes have no more nodes than these."
