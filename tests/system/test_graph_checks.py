"""Every kind of features, labels, ids and edges that a Graph accepts, and every message for wrong ones."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.graph_checks import checked_labels

EDGES = [[0, 1], [1, 2]]
X = [[1.0], [2.0], [3.0]]


def graph(**changes):
    return Graph(**({"edges": EDGES, "x": X} | changes))


class TestLabels:
    @pytest.mark.parametrize(
        ("y", "codes", "classes"),
        [
            ([5, 2, -1], [1, 0, -1], [2, 5]),
            (np.array([5, 2, 5], dtype=np.uint8), [1, 0, 1], [2, 5]),
            (np.array([5.0, np.nan, 2.0], dtype=np.float32), [1, -1, 0], [2, 5]),
            ([5, None, 2], [1, -1, 0], [2, 5]),
            ([5, 2.0, float("nan")], [1, 0, -1], [2, 5]),
            ([True, False, None], [1, 0, -1], [0, 1]),
            (np.array([True, False, True]), [1, 0, 1], [0, 1]),
            (["b", "a", " b "], [1, 0, 1], ["a", "b"]),
            (["b", None, ""], [0, -1, -1], ["b"]),
            (["b", float("nan"), "-1"], [0, -1, -1], ["b"]),
            (["b", 3, "3"], [1, 0, 0], ["3", "b"]),
            ([2**70, 1, None], [1, 0, -1], ["1", str(2**70)]),
            (np.array([["b"], ["a"], ["b"]]), [1, 0, 1], ["a", "b"]),
            (pd.Series(["b", None, "a"], index=[9, 8, 7]), [1, -1, 0], ["a", "b"]),
            (pd.Series(["b", None, "a"], dtype="category"), [1, -1, 0], ["a", "b"]),
            (pd.Categorical(["b", None, "a"]), [1, -1, 0], ["a", "b"]),
            (pd.Series([7, 3, 7], dtype="category"), [1, 0, 1], [3, 7]),
            (pd.Series([7, None, 3], dtype="Int64"), [1, -1, 0], [3, 7]),
            (pd.Series([True, None, False], dtype="boolean"), [1, -1, 0], [0, 1]),
            (pd.Series(["b", None, "a"], dtype="string"), [1, -1, 0], ["a", "b"]),
            (None, [-1, -1, -1], []),
        ],
        ids=repr,
    )
    def test_kinds(self, y, codes, classes):
        made = graph(y=y)
        assert made.y.dtype == np.int64
        assert made.y.tolist() == codes
        assert made.classes.tolist() == classes

    def test_codes_into_given_classes(self):
        made = graph(y=[2.0, np.nan, 0], classes=["x", "unseen", "z"])
        assert (made.y.tolist(), made.classes.tolist()) == ([2, -1, 0], ["x", "unseen", "z"])

    def test_given_classes_of_a_graph_without_labels_are_kept(self):
        assert graph(classes=["x", "z"]).classes.tolist() == ["x", "z"]

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"y": [0, 1]}, "there are 2 labels for 3 nodes: give one per node"),
            ({"y": np.array(1)}, "there are 1 labels for 3 nodes"),
            ({"y": np.eye(3)}, r"the labels have the shape \(3, 3\): give one class per node"),
            ({"y": [0.5, 1, 2]}, "the label 0.5 is not a whole number: give classes, not measurements"),
            ({"y": [np.inf, 1, 2]}, "the label inf is not a whole number"),
            ({"y": [-2, 1, 2]}, "the label -2 is negative: classes are 0 or above, and −1 means unknown"),
            ({"y": np.array([2**63, 1, 2], dtype=np.uint64)}, "the label 9223372036854775808 is too large"),
            ({"y": [1e30, 1, 2]}, "the label 1e[+]30 is too large for a number: give the classes as text"),
            (
                {"y": [0, 1, 2], "classes": ["a", "b"]},
                "the label code 2 is outside −1 … 1: with classes given",
            ),
            (
                {"y": ["a", "b", "a"], "classes": ["a", "b"]},
                "the label 'a' is not a code: with classes given",
            ),
            ({"y": [0, 1.5, 1], "classes": ["a", "b"]}, "the label 1.5 is not a whole number"),
            ({"y": [0, 1, 1], "classes": ["a", "a"]}, "a class is named twice: give each class one name"),
            ({"classes": [["a", "b"]]}, r"the classes have the shape \(1, 2\): give a list of names"),
        ],
    )
    def test_refusals(self, changes, message):
        with pytest.raises(InputError, match=message):
            graph(**changes)

    @given(st.lists(st.one_of(st.none(), st.sampled_from("abc"), st.integers(0, 4)), min_size=1))
    def test_codes_point_at_the_label_of_each_node(self, labels):
        codes, classes = checked_labels(labels, None, len(labels))
        back = [None if code < 0 else str(classes[code]) for code in codes]
        assert back == [None if label is None else str(label) for label in labels]
        assert len(classes) == len({str(label) for label in labels if label is not None})


class TestFeatures:
    @pytest.mark.parametrize(
        "x",
        [
            [[1], [0], [3]],
            np.array([[1], [0], [3]], dtype=np.uint8),
            np.asfortranarray([[1.0], [0.0], [3.0]]),
            pd.DataFrame({"a": [1, 0, 3]}),
            sp.csr_matrix([[1], [0], [3]]),
            sp.coo_array(([1, 1, 2], ([0, 2, 2], [0, 0, 0])), shape=(3, 1)),  # repeated entries add up
        ],
        ids=lambda x: type(x).__name__,
    )
    def test_kinds(self, x):
        made = graph(x=x).x
        assert made.dtype == np.float32
        assert (made.toarray() if sp.issparse(made) else made).tolist() == [[1.0], [0.0], [3.0]]
        assert sp.issparse(made) == sp.issparse(x)

    def test_truth_values_are_zero_and_one(self):
        assert graph(x=[[True], [False], [True]]).x.tolist() == [[1.0], [0.0], [1.0]]

    @pytest.mark.parametrize("x", [None, np.zeros((3, 0)), sp.csr_matrix((3, 0))], ids=repr)
    def test_nodes_without_features_have_a_column_of_ones(self, x):
        assert graph(x=x, y=[0, 1, 0]).x.tolist() == [[1.0], [1.0], [1.0]]
        assert graph(x=x, ids=["u", "v", "w"]).x.tolist() == [[1.0], [1.0], [1.0]]

    def test_nodes_without_features_must_be_counted_somehow(self):
        with pytest.raises(InputError, match="neither features, labels nor ids say how many nodes there are"):
            graph(x=None)

    def test_stored_zeros_are_dropped(self):
        assert graph(x=sp.csr_matrix(([0.0, 2.0], [0, 0], [0, 1, 2, 2]), shape=(3, 1))).x.nnz == 1

    @pytest.mark.parametrize(
        ("x", "message"),
        [
            ([1.0, 2.0, 3.0], r"the features have the shape \(3,\): give one row per node"),
            (np.zeros((0, 4)), "the graph has no nodes"),
            ([["a"], ["b"], ["c"]], "not numbers: give numeric columns only"),
            ([[1j], [1j], [1j]], "the features are complex128, not numbers"),
            ([[1.0], [2.0, 3.0], [4.0]], "the features have rows of different lengths"),
            (
                [[1.0, 2.0], [1.0, np.nan], [np.inf, 2.0]],
                "2 feature value.*first at node 1, column 1: fill them in",
            ),
            ([[1.0], [1e300], [1.0]], "too large for float32, the first at node 1, column 0"),
            (sp.csr_matrix([[0, 1], [0, 0], [np.nan, 0]]), "1 feature value.*first at node 2, column 0"),
            (sp.csr_matrix([[0, 1], [0, 1e300], [0, 0]]), "first at node 1, column 1"),
        ],
    )
    def test_refusals(self, x, message):
        with pytest.raises(InputError, match=message):
            graph(x=x)


class TestEdges:
    @pytest.mark.parametrize(
        ("edges", "message"),
        [
            ([[0, 1], [1, 2], [2, 0]], r"the edges have the shape \(3, 2\): give \[2, E\]"),
            ([0, 1], r"the edges have the shape \(2,\)"),
            ([[0, 1], [1]], "the edges have rows of different lengths"),
            ([[0.0], [1.0]], "the edges are float64: give integers 0 … N−1"),
            ([["0"], ["1"]], "give integers 0 … N−1"),
            ([[0], [3]], "an edge ends at node 3, but the nodes are 0 … 2: correct the edge list"),
            ([[0], [-1]], "an edge ends at node -1"),
            (np.array([[0], [2**64 - 1]], dtype=np.uint64), "an edge ends at node 18446744073709551615"),
            ([[], []], r"the graph has no edges \(0 self loops were dropped\): give at least one edge"),
            ([[1, 2], [1, 2]], r"the graph has no edges \(2 self loops were dropped\)"),
        ],
    )
    def test_refusals(self, edges, message):
        with pytest.raises(InputError, match=message):
            graph(edges=edges)

    def test_small_integer_types_do_not_overflow(self):
        made = Graph(edges=np.array([[200], [250]], dtype=np.uint8), x=np.ones((256, 1)))
        assert made.edges.tolist() == [[200], [250]]


class TestIds:
    @pytest.mark.parametrize(
        ("ids", "kept"),
        [
            (["007", "7", "b"], ["007", "7", "b"]),
            ([7, 8, 9], [7, 8, 9]),
            ([1.0, 2.0, 3.0], [1, 2, 3]),
            ([1.5, 2.0, 3.0], ["1.5", "2.0", "3.0"]),
            ([7, "x", 2.5], ["7", "x", "2.5"]),
            (np.array([7, 8, 9], dtype=object), [7, 8, 9]),
            ([2**63, -1, 5], [str(2**63), "-1", "5"]),
            (pd.Series(["a", "b", "c"], index=[3, 4, 5]), ["a", "b", "c"]),
        ],
        ids=repr,
    )
    def test_kinds(self, ids, kept):
        assert graph(ids=ids).ids.tolist() == kept

    @pytest.mark.parametrize(
        ("ids", "message"),
        [
            ([1, 2], r"the ids have the shape \(2,\) for 3 nodes: give one id per node"),
            (["a", "b", "a"], "the node id 'a' occurs more than once: give every node another id"),
            ([1, "1", 2], "the node id '1' occurs more than once"),
            (["a", None, "c"], "node 1 has no id: give every node an id"),
            (["a", "b", float("nan")], "node 2 has no id"),
            (["", "b", "c"], "node 0 has no id"),
        ],
    )
    def test_refusals(self, ids, message):
        with pytest.raises(InputError, match=message):
            graph(ids=ids)
