"""Known nodes found again in a graph that has grown, been reordered, or is not the right one."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from otherhalf.errors import InputError
from otherhalf.estimators.new_nodes import KnownNodes
from otherhalf.graph import Graph, Split

# Three nodes, a – b – c, told apart by their one feature.
X = np.array([[1.0], [2.0], [3.0]], dtype=np.float32)
EDGES = np.array([[0, 1], [1, 2]])


def fitted(ids=("a", "b", "c")) -> Graph:
    return Graph(edges=EDGES, x=X, y=["no", "yes", "no"], ids=ids)


def grown_and_shuffled() -> Graph:
    # new1, c, a, new2, b with the old edges c – b, a – b and the new ones new1 – a, new2 – new1.
    return Graph(
        edges=np.array([[1, 2, 0, 3], [4, 4, 2, 0]]),
        x=np.array([[10.0], [3.0], [1.0], [20.0], [2.0]], dtype=np.float32),
        y=["yes", "no", "no", "", "yes"],
        ids=["new1", "c", "a", "new2", "b"],
        fixed_splits=(Split(train=[0], val=[1], test=[2]),),
    )


def test_known_nodes_come_first_in_their_old_order_and_new_ones_after():
    graph, order = KnownNodes.of(fitted()).known_first(grown_and_shuffled())
    assert order.tolist() == [2, 4, 1, 0, 3]
    assert graph.ids.tolist() == ["a", "b", "c", "new1", "new2"]
    assert graph.x.ravel().tolist() == [1, 2, 3, 10, 20]
    assert [graph.classes[code] if code >= 0 else None for code in graph.y] == [
        "no",
        "yes",
        "no",
        "yes",
        None,
    ]
    # a – b, b – c, a – new1, new1 – new2
    assert sorted(map(tuple, graph.edges.T.tolist())) == [(0, 1), (0, 3), (1, 2), (3, 4)]
    # Published splits name places that are no longer those of the same nodes.
    assert graph.fixed_splits == ()


def test_what_is_predicted_for_the_reordered_graph_maps_back():
    given = grown_and_shuffled()
    graph, order = KnownNodes.of(fitted()).known_first(given)
    back = np.empty(5, dtype=graph.ids.dtype)
    back[order] = graph.ids
    assert back.tolist() == given.ids.tolist()


def test_sparse_features_follow_their_nodes():
    given = grown_and_shuffled()
    sparse = Graph(
        edges=given.edges, x=sp.csr_matrix(given.x), y=given.y, classes=given.classes, ids=given.ids
    )
    graph, _ = KnownNodes.of(fitted()).known_first(sparse)
    assert sp.issparse(graph.x)
    assert graph.x.toarray().ravel().tolist() == [1, 2, 3, 10, 20]


def test_directed_edges_keep_their_direction():
    given = Graph(edges=np.array([[0, 2], [1, 0]]), x=X[[2, 1, 0]], directed=True, ids=["c", "b", "a"])
    graph, _ = KnownNodes.of(replace(fitted(), directed=True)).known_first(given)
    # c → b and a → c
    assert graph.directed
    assert sorted(map(tuple, graph.edges.T.tolist())) == [(0, 2), (2, 1)]


def test_the_fitted_graph_comes_back_itself():
    for graph in (fitted(), fitted(ids=None)):
        again, order = KnownNodes.of(graph).known_first(graph)
        assert again is graph
        assert order.tolist() == [0, 1, 2]


def test_ids_are_compared_as_text():
    # The model file keeps text; a table may bring numbers.
    known = KnownNodes.of(fitted(ids=[30, 10, 20]))
    assert known.ids == ("30", "10", "20")
    _, order = known.known_first(fitted(ids=["10", "20", "30"]))
    assert order.tolist() == [2, 0, 1]
    _, order = known.known_first(fitted(ids=[10, 20, 30]))
    assert order.tolist() == [2, 0, 1]


def test_without_ids_the_first_nodes_are_the_known_ones():
    graph = Graph(edges=np.array([[0, 1, 3], [1, 2, 0]]), x=np.concatenate([X, [[9.0]]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again, order = KnownNodes.of(fitted(ids=None)).known_first(graph)
    assert again is graph
    assert order.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("change", ["edges", "features"])
def test_as_many_nodes_but_another_graph_is_taken_with_a_warning(change):
    graph = Graph(
        edges=np.array([[0], [2]]) if change == "edges" else EDGES, x=X + (1 if change == "features" else 0)
    )
    with pytest.warns(UserWarning, match="other edges or features"):
        again, _ = KnownNodes.of(fitted(ids=None)).known_first(graph)
    assert again is graph


def test_the_same_graph_with_other_labels_needs_no_warning():
    graph = Graph(edges=EDGES, x=X, y=["yes", "", "no"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KnownNodes.of(fitted(ids=None)).known_first(graph)[0] is graph


def test_another_number_of_features_is_refused():
    graph = Graph(edges=EDGES, x=np.ones((3, 2)))
    with pytest.raises(InputError, match="has 2 features and the model was fitted with 1"):
        KnownNodes.of(fitted()).known_first(graph)


@pytest.mark.parametrize("ids", [None, ("a", "b", "c")])
def test_fewer_nodes_are_refused(ids):
    graph = Graph(edges=np.array([[0], [1]]), x=X[:2], ids=None if ids is None else ids[:2])
    with pytest.raises(InputError, match="has 2 nodes and the model was fitted on 3"):
        KnownNodes.of(fitted(ids)).known_first(graph)


def test_missing_known_nodes_are_refused_by_name():
    graph = Graph(edges=EDGES, x=X, ids=["c", "x", "y"])
    with pytest.raises(InputError, match=r"lacks 2 of the 3 nodes .* the first with id 'a'"):
        KnownNodes.of(fitted()).known_first(graph)


def test_a_graph_without_ids_is_refused_where_the_fit_had_ids():
    with pytest.raises(InputError, match="lacks 3 of the 3 nodes"):
        KnownNodes.of(fitted()).known_first(fitted(ids=None))


class TestRelations:
    def graph(self, names):
        return Graph(edges=EDGES, x=X, y=["no", "yes", "no"], ids=["a", "b", "c"], relations=names)

    def test_known_ones_follow_their_edges(self):
        known = KnownNodes.of(self.graph(["cites", "likes"]))
        given = Graph(edges=[[2, 1], [1, 0]], x=X[::-1], ids=["c", "b", "a"], relations=["cites", "likes"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph, _ = known.known_first(given)
        assert graph.relation_adjacency(["cites"]).toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]

    def test_a_new_one_is_named(self):
        known = KnownNodes.of(self.graph(["cites", "likes"]))
        with pytest.warns(UserWarning, match="the relations sees were not in the fitted graph"):
            known.known_first(self.graph(["cites", "sees"]))

    @pytest.mark.parametrize(("names", "has"), [(None, "none"), (["x", "y"], "x, y")])
    def test_a_graph_without_them_is_refused(self, names, has):
        known = KnownNodes.of(self.graph(["cites", "likes"]))
        with pytest.raises(InputError, match=f"with the relations cites, likes, and the graph has {has}: "):
            known.known_first(self.graph(names))

    def test_one_relation_is_not_kept(self):
        known = KnownNodes.of(self.graph(["cites", "cites"]))
        assert known.relations == ()
        assert "relations" not in known.to_dict()

    @pytest.mark.parametrize("names", [None, ["cites", "likes"]])
    def test_there_and_back(self, names):
        known = KnownNodes.of(self.graph(names))
        assert vars(KnownNodes.from_dict(json.loads(json.dumps(known.to_dict())))) == vars(known)


def test_weights_must_be_there_again_and_may_not_be_new():
    plain = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3))
    weighted = replace(plain, weights=np.array([1.0, 2.0]))
    for graph in (plain, weighted):
        known = KnownNodes.from_dict(json.loads(json.dumps(KnownNodes.of(graph).to_dict())))
        assert known.known_first(graph)[0] is graph
    assert "weighted" not in KnownNodes.of(plain).to_dict()
    with pytest.raises(InputError, match="fitted with weights of the edges, and the graph has none: name"):
        KnownNodes.of(weighted).known_first(plain)
    with pytest.raises(InputError, match="fitted without weights of the edges, and the graph has some"):
        KnownNodes.of(plain).known_first(weighted)


@pytest.mark.parametrize("directed", [False, True])
def test_the_direction_must_be_that_of_the_fit(directed):
    graph = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), directed=directed)
    saved = json.loads(json.dumps(KnownNodes.of(graph).to_dict()))
    known, other = KnownNodes.from_dict(saved), replace(graph, directed=not directed)
    assert known.known_first(graph)[0] is graph
    words = ["undirected", "directed"]
    with pytest.raises(
        InputError,
        match=f"fitted on {words[directed]} edges, and those of the graph are {words[not directed]}: "
        f"make the graph with directed={directed}",
    ):
        known.known_first(other)
    del saved["directed"]  # as in a folder of an older version
    with pytest.warns(UserWarning, match="other edges or features"):
        assert KnownNodes.from_dict(saved).known_first(other)[0] is other
