"""Graphs from matrices of scipy: by hand, and there and back again."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from tests.data.small_graphs import graphs, refusal

from otherhalf.data.convert import from_scipy
from otherhalf.graph import Graph


class TestFromScipy:
    def test_symmetric_is_undirected(self):
        matrix = sp.csr_matrix([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
        graph = from_scipy(matrix, np.eye(3), [0, 1, 0], ids=list("uvw"), classes=["a", "b"], name="g")
        assert (graph.directed, graph.edges.tolist()) == (False, [[0, 1], [1, 2]])
        assert (graph.dropped_repeats, graph.dropped_self_loops) == (0, 1)
        assert (graph.ids.tolist(), graph.classes.tolist(), graph.name) == (list("uvw"), ["a", "b"], "g")

    @pytest.mark.parametrize("kind", [np.array, sp.coo_matrix, sp.csc_matrix, sp.csr_array])
    def test_rows_point_to_columns(self, kind):
        graph = Graph.from_scipy(kind([[0, 0, 0], [1, 0, 0], [1, 0, 0]]), sp.eye(3))
        assert (graph.directed, graph.edges.tolist()) == (True, [[1, 2], [0, 0]])
        assert from_scipy(kind([[0, 1], [0, 0]]), np.eye(2), directed=False).directed is False
        assert from_scipy(kind([[0, 1], [1, 0]]), np.eye(2), directed=True).num_edges == 2

    def test_stored_zeros_are_no_edges(self):
        matrix = sp.csr_matrix(([1.0, 0.0], ([0, 1], [1, 2])), shape=(3, 3))
        assert matrix.nnz == 2
        assert from_scipy(matrix, np.eye(3)).edges.tolist() == [[0], [1]]

    def test_entries_that_differ_are_weights(self):
        graph = from_scipy(sp.csr_matrix([[0, 3.0, 0], [3.0, 0, 0.5], [0, 0.5, 0]]), np.eye(3))
        assert (graph.directed, graph.edges.T.tolist()) == (False, [[0, 1], [1, 2]])
        assert graph.weights.tolist() == [3, 0.5]

    def test_equal_entries_are_none(self):
        assert from_scipy(sp.csr_matrix([[0, 3.0], [3.0, 0]]), np.eye(2)).weights is None
        assert from_scipy(sp.csr_matrix([[0, 3.0], [2.0, 0]]), np.eye(2), weight=False).weights is None

    def test_other_weights_back_are_a_direction(self):
        matrix = sp.csr_matrix([[0, 3.0], [2.0, 0]])
        graph = from_scipy(matrix, np.eye(2))
        assert (graph.directed, graph.edges.tolist(), graph.weights.tolist()) == (
            True,
            [[0, 1], [1, 0]],
            [3, 2],
        )
        assert from_scipy(matrix, np.eye(2), directed=False).weights.tolist() == [5]

    def test_rounding_is_no_direction(self):
        matrix = np.array([[0, 1 / 3, 5], [np.float32(1 / 3), 0, 0], [5, 0, 0]])
        assert from_scipy(matrix, np.eye(3)).directed is False

    @pytest.mark.parametrize(
        ("adjacency", "x", "message"),
        [
            (sp.csr_matrix((2, 3)), np.eye(2), r"the adjacency has the shape \(2, 3\): give a square matrix"),
            (np.ones(3), np.eye(3), r"the adjacency has the shape \(3,\)"),
            (
                sp.csr_matrix([[0, np.nan], [1, 0]]),
                np.eye(2),
                r"the adjacency is nan at \(0, 1\): give a number",
            ),
            (
                sp.csr_matrix([[0, -1], [2, 0]]),
                np.eye(2),
                r"the adjacency is -1 at \(0, 1\): give positive weights, or ignore them with weight=False",
            ),
            (np.array([["a", "b"], ["c", "d"]]), np.eye(2), "the adjacency is <U1: give numbers"),
            (sp.eye(2), np.eye(3), "the adjacency has 2 nodes and x has 3 rows: give one row of x per node"),
            (sp.eye(2), sp.eye(3), "the adjacency has 2 nodes and x has 3 rows"),
            (sp.eye(2), np.eye(2), r"the graph has no edges \(2 self loops were dropped\)"),
            (np.ones((2, 2)), [1.0, 2.0], r"the features have the shape \(2,\)"),
        ],
    )
    def test_refusals(self, adjacency, x, message):
        assert re.search(message, refusal(from_scipy, adjacency, x))

    @settings(max_examples=50)
    @given(graphs())
    def test_there_and_back(self, graph):
        matrix = graph.adjacency
        if graph.directed:
            matrix = graph.adjacency_in("given")
        graph = replace(graph, relations=None)  # a matrix has none
        if len(np.unique(matrix.data)) == 1:  # equal entries are no weights
            graph = replace(graph, weights=None)
        back = from_scipy(matrix, graph.x, graph.y, classes=graph.classes, directed=graph.directed)
        assert back.fingerprint == graph.fingerprint
        assert back.dropped_repeats == 0


def test_import_of_the_converters_waits_for_no_library():
    code = (
        "import sys, otherhalf.data.convert; "
        "print({'torch', 'torch_geometric', 'networkx'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
