"""Graph and Split: what they accept, what they give, and that nothing changes them afterwards."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.adjacency import symmetric_adjacency


def path_graph(**changes):
    """0 – 1 – 2 – 3, one feature each."""
    given = {"edges": [[0, 1, 2], [1, 2, 3]], "x": [[0.0], [1.0], [2.0], [3.0]], "y": [0, 1, 0, 1]}
    return Graph(**(given | changes))


edge_lists = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30).map(
    lambda pairs: [*pairs, (0, 1)]
)


def as_edges(pairs):
    return np.array(pairs, dtype=np.int64).T


class TestEdges:
    def test_undirected_edges_stand_once_sorted_with_the_smaller_end_first(self):
        graph = path_graph(edges=[[3, 1, 0, 1, 2], [2, 0, 1, 1, 3]])
        assert graph.edges.tolist() == [[0, 2], [1, 3]]
        assert (graph.dropped_self_loops, graph.dropped_repeats) == (1, 2)
        assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (4, 2, 1, 2)

    def test_directed_edges_keep_their_order(self):
        graph = path_graph(edges=[[3, 1, 0, 1, 3], [2, 0, 1, 1, 2]], directed=True)
        assert graph.edges.tolist() == [[0, 1, 3], [1, 0, 2]]
        assert graph.undirected_edges.tolist() == [[0, 2], [1, 3]]
        assert (graph.dropped_self_loops, graph.dropped_repeats) == (1, 1)

    def test_adjacency_is_symmetric_zero_one(self):
        graph = path_graph(edges=[[1, 0, 3], [0, 1, 1]], directed=True)
        assert graph.adjacency.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]
        assert graph.isolated.tolist() == [2]

    def test_adjacency_in_each_direction_by_hand(self):
        """0 → 1, 1 → 0, 3 → 1."""
        graph = path_graph(edges=[[0, 1, 3], [1, 0, 1]], directed=True)
        given = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
        assert graph.adjacency_in("given").toarray().tolist() == given
        assert graph.adjacency_in("reversed").toarray().tolist() == np.transpose(given).tolist()
        assert graph.adjacency_in("undirected") is graph.adjacency
        for direction in ("given", "reversed", "undirected"):
            assert graph.adjacency_in(direction).dtype == np.float32

    @pytest.mark.parametrize("direction", ["given", "reversed", "undirected"])
    def test_an_undirected_graph_has_one_adjacency(self, direction):
        graph = path_graph()
        assert graph.adjacency_in(direction) is graph.adjacency

    def test_symmetric_adjacency_drops_loops_and_repeats(self):
        assert symmetric_adjacency(np.array([[0, 1, 1], [1, 0, 1]]), 2).toarray().tolist() == [[0, 1], [1, 0]]

    @given(edge_lists, st.booleans(), st.randoms())
    def test_order_repeats_and_self_loops_do_not_matter(self, pairs, directed, random):
        plain = Graph(edges=as_edges(pairs), x=np.eye(6), directed=directed)
        more = [*pairs, *random.choices(pairs, k=3), (4, 4)]
        random.shuffle(more)
        assert Graph(edges=as_edges(more), x=np.eye(6), directed=directed).fingerprint == plain.fingerprint

    @given(edge_lists)
    def test_nothing_is_lost_uncounted(self, pairs):
        graph = Graph(edges=as_edges(pairs), x=np.eye(6))
        assert graph.num_edges + graph.dropped_self_loops + graph.dropped_repeats == len(pairs)
        assert {tuple(pair) for pair in graph.edges.T.tolist()} == {
            (min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]
        }

    @given(edge_lists, st.permutations(range(6)), st.booleans())
    def test_renaming_the_nodes_renames_everything(self, pairs, order, directed):
        """New node i is old node order[i]."""
        x, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 2, 0, 1, -1])
        order = np.array(order)
        graph = Graph(edges=as_edges(pairs), x=x, y=y, directed=directed)
        place = np.argsort(order)
        moved = Graph(edges=place[as_edges(pairs)], x=x[order], y=y[order], directed=directed)
        assert (moved.adjacency.toarray() == graph.adjacency.toarray()[np.ix_(order, order)]).all()
        assert moved.y.tolist() == graph.y[order].tolist()
        assert sorted(order[moved.isolated]) == graph.isolated.tolist()
        assert sorted(order[moved.labelled]) == graph.labelled.tolist()


class TestFingerprint:
    def test_dense_and_sparse_features_hash_alike(self):
        x = np.array([[0.0, 2.0], [-0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        assert path_graph(x=x).fingerprint == path_graph(x=sp.coo_matrix(x)).fingerprint

    @pytest.mark.parametrize(
        "change",
        [
            {"edges": [[0, 1, 1], [1, 2, 3]]},
            {"x": [[0.0], [1.0], [2.0], [4.0]]},
            {"x": [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]},
            {"y": [0, 1, 1, 1]},
            {"y": None},
            {"directed": True},
        ],
    )
    def test_every_part_that_decides_a_result_counts(self, change):
        assert path_graph(**change).fingerprint != path_graph().fingerprint

    def test_names_do_not_count(self):
        renamed = path_graph(name="p", ids=["a", "b", "c", "d"], y=["u", "v", "u", "v"])
        assert renamed.fingerprint == path_graph().fingerprint

    def test_rows_beyond_the_first_block_count(self):
        x = np.ones((5000, 1))
        first = Graph(edges=[[0], [1]], x=x)
        x[4999] = 2
        assert Graph(edges=[[0], [1]], x=x).fingerprint != first.fingerprint


class TestImmutable:
    def test_the_callers_arrays_stay_the_callers(self):
        given = {
            "edges": np.array([[0, 1], [1, 2]]),
            "x": np.ones((3, 1), dtype=np.float32),
            "y": np.array([0, 1, 0]),
            "ids": np.array([7, 8, 9]),
            "classes": np.array([30, 50]),
        }
        graph = Graph(**given)
        kept = {key: getattr(graph, key).copy() for key in given}
        for array in given.values():
            array[...] = array.flat[0]
        for key, value in kept.items():
            assert (getattr(graph, key) == value).all(), key
            assert given[key].flags.writeable, key

    def test_sparse_features_are_a_copy(self):
        x = sp.csr_matrix(np.eye(4, dtype=np.float32))
        graph = path_graph(x=x)
        x.data[:] = 5
        x.indices[:] = 0
        assert (graph.x.toarray() == np.eye(4)).all()

    @pytest.mark.parametrize(
        "again", [lambda g: g, copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
    )
    def test_arrays_are_read_only_also_after_copy_and_pickle(self, again):
        split = Split([0], [1], [2])
        graph = again(path_graph(x=sp.eye(4), ids=[5, 6, 7, 8], fixed_splits=[split]))
        for array in (
            *(graph.edges, graph.y, graph.ids, graph.classes, graph.x.data, graph.x.indices, graph.x.indptr),
            *(graph.labelled, graph.isolated, graph.undirected_edges, graph.adjacency.data),
            *(graph.fixed_splits[0].train, graph.fixed_splits[0].test),
        ):
            assert not array.flags.writeable
        with pytest.raises(AttributeError):
            graph.name = "other"

    def test_pickle_keeps_everything(self):
        graph = path_graph(edges=[[0, 1, 1], [1, 0, 1]], ids=list("abcd"), name="p", directed=True)
        fingerprint = graph.fingerprint
        back = pickle.loads(pickle.dumps(graph))
        assert back.fingerprint == fingerprint
        assert (back.name, back.dropped_self_loops, back.ids.tolist()) == ("p", 1, list("abcd"))


class TestRequireLabels:
    def test_two_classes_suffice(self):
        path_graph(y=["a", "b", None, None]).require_labels("training")

    @pytest.mark.parametrize("y", [None, [-1, -1, -1, -1], [None, "", np.nan, " "]])
    def test_no_label(self, y):
        graph = path_graph(y=y)
        assert graph.num_classes == 0
        with pytest.raises(
            InputError, match="no node has a label, and training needs some: name the label column"
        ):
            graph.require_labels("training")

    def test_one_class(self):
        graph = path_graph(y=["a", "", "a", "a"])
        with pytest.raises(
            InputError, match="every labelled node has the class 'a', and training needs at least two"
        ):
            graph.require_labels("training")

    def test_named_classes_that_no_node_has_do_not_count(self):
        with pytest.raises(InputError, match="every labelled node has the class 'b'"):
            path_graph(y=[1, 1, -1, 1], classes=["a", "b"]).require_labels("training")


class TestSplit:
    def test_masks_become_indices(self):
        split = Split([True, False, False], np.array([1], dtype=np.int32), [])
        assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([0], [1], [])

    def test_the_order_in_which_nodes_are_given_is_no_part_of_it(self):
        split = Split([4, 0, 2], [5, 1], [3, 6])
        assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([0, 2, 4], [1, 5], [3, 6])

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            (([0, 1], [1], [2]), "a node is in more than one of train, val and test"),
            (([0, 0], [1], [2]), "or twice in one"),
            (([0], [-1], [2]), "val holds the negative node index -1: count nodes from 0"),
            (([0.5], [1], [2]), "train must be a list of node indices or a mask, not float64"),
            (([0], [1], [[True, False]]), "test must be a list of node indices or a mask"),
            (([0], [[1], [2, 3]], [4]), "the val indices have rows of different lengths"),
        ],
    )
    def test_wrong_parts(self, parts, message):
        with pytest.raises(InputError, match=message):
            Split(*parts)

    def test_a_split_of_another_graph(self):
        with pytest.raises(InputError, match="the split names node 9, but the graph has 4 nodes"):
            path_graph(fixed_splits=[Split([9], [0], [1])])


def test_repr_and_node_names():
    assert repr(path_graph(name="p")) == "Graph(p: 4 nodes, 3 undirected edges, 1 features, 2 classes)"
    assert path_graph().node_names().tolist() == [0, 1, 2, 3]
    assert path_graph(ids=list("abcd")).node_names().tolist() == list("abcd")


def test_largest_node_number_does_not_overflow():
    n = 3_000_000  # n² is beyond int32
    graph = Graph(edges=[[n - 1], [n - 2]], x=sp.csr_matrix((n, 1), dtype=np.float32))
    assert graph.edges.tolist() == [[n - 2], [n - 1]]


@settings(max_examples=25)
@given(edge_lists)
def test_undirected_view_of_a_directed_graph_equals_the_undirected_graph(pairs):
    directed = Graph(edges=as_edges(pairs), x=np.eye(6), directed=True)
    assert (directed.undirected_edges == Graph(edges=as_edges(pairs), x=np.eye(6)).edges).all()


# ---------------------------------------------------------------------- weights


def test_weights_of_repeated_edges_are_summed_and_those_of_loops_dropped():
    edges = np.array([[2, 0, 1, 1, 2], [1, 1, 2, 1, 1]])
    graph = Graph(edges=edges, x=np.ones((3, 1)), weights=[1.0, 2.0, 4.0, 8.0, 16.0])
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.weights.tolist() == [2, 21]
    assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 21], [0, 21, 0]]
    one_way = Graph(edges=edges, x=np.ones((3, 1)), weights=[1.0, 2.0, 4.0, 8.0, 16.0], directed=True)
    assert one_way.edges.tolist() == [[0, 1, 2], [1, 2, 1]]
    assert one_way.weights.tolist() == [2, 4, 17]
    assert one_way.adjacency_in("given").toarray().tolist() == [[0, 2, 0], [0, 0, 4], [0, 17, 0]]
    assert one_way.adjacency_in("reversed").toarray().tolist() == [[0, 0, 0], [2, 0, 17], [0, 4, 0]]
    assert one_way.adjacency.toarray().tolist() == graph.adjacency.toarray().tolist()


def test_equal_weights_of_one_are_no_weights_but_for_the_hash():
    edges = np.array([[0, 1, 0], [1, 2, 2]])
    plain = Graph(edges=edges, x=np.ones((3, 1)))
    ones = Graph(edges=edges, x=np.ones((3, 1)), weights=np.ones(3))
    assert (plain.adjacency != ones.adjacency).nnz == 0
    assert plain.weights is None
    assert plain.fingerprint != ones.fingerprint
    again = replace(ones, name="again")
    assert again.weights.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"the weights have the shape \(2,\) for 3 edges: give one weight per edge"),
        (
            [1.0, 0.0, 2.0],
            r"the weight of edge 1 is 0 \(1 such weights in all\): give positive finite weights",
        ),
        ([1.0, 1.0, np.nan], "the weight of edge 2 is nan"),
        ([-1.0, np.inf, 1.0], r"the weight of edge 0 is -1 \(2 such weights in all\)"),
        (
            [1.0, 1e39, 1.0],
            r"the edge between nodes 1 and 2 sum to 1e\+39, which float32 cannot hold: divide all weights",
        ),
        ([1.0, 1.0, 1e-60], "the edge between nodes 0 and 2 sum to 1e-60, which float32 cannot hold"),
        (["a", "b", "c"], "the weights are <U1: give numbers"),
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(InputError, match=message):
        Graph(edges=np.array([[0, 1, 0], [1, 2, 2]]), x=np.ones((3, 1)), weights=weights)


class TestFeatureNames:
    def test_those_that_are_given_and_those_of_a_pandas_table(self):
        x = np.ones((2, 2))
        assert Graph(edges=[[0], [1]], x=x).feature_names is None
        assert Graph(edges=[[0], [1]], x=x, feature_names=["a", "b"]).feature_names == ("a", "b")
        assert Graph(edges=[[0], [1]], x=pd.DataFrame(x, columns=["u", "v"])).feature_names == ("u", "v")
        assert Graph(edges=[[0], [1]], x=pd.DataFrame(x)).feature_names is None  # its columns are numbered

    def test_they_stay_in_copies_and_are_not_part_of_the_hash(self):
        named = Graph(edges=[[0], [1]], x=np.ones((2, 2)), feature_names=["a", "b"])
        assert replace(named, name="other").feature_names == ("a", "b")
        assert pickle.loads(pickle.dumps(named)).feature_names == ("a", "b")
        assert named.fingerprint == replace(named, feature_names=None).fingerprint

    @pytest.mark.parametrize(
        ("names", "message"),
        [(["a"], "there are 1 feature names for 2 columns"), (["a", "a"], "two features are called 'a'")],
    )
    def test_wrong_ones(self, names, message):
        with pytest.raises(InputError, match=message):
            Graph(edges=[[0], [1]], x=np.ones((2, 2)), feature_names=names)


def test_sparse_features_whose_rows_end_before_they_begin():
    """scipy would write beyond its arrays."""
    x = sp.csr_matrix(np.eye(3))
    x.indptr = np.array([0, 3, 1, 0])
    with pytest.raises(InputError, match="damaged"):
        Graph(edges=[[0, 1], [1, 2]], x=x, y=[0, 1, 0])
