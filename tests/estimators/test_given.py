"""What an estimator accepts: graphs, tables and arrays, one form at a time, and one sentence for the rest."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch_geometric.data import HeteroData

from otherhalf import BaselineClassifier, Graph, InputError, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.given import as_graph, codes_among, default_split, label_codes, read_given

GRAPH = contextual_sbm(num_nodes=80, num_classes=2, num_features=4, homophily=0.2, signal=2.0, seed=3)


def as_networkx():
    graph = nx.Graph()
    for node in range(GRAPH.num_nodes):
        graph.add_node(f"n{node}", x=GRAPH.x[node].tolist(), label=int(GRAPH.y[node]))
    graph.add_edges_from((f"n{a}", f"n{b}") for a, b in GRAPH.edges.T)
    return graph


def quick():
    return BaselineClassifier("gcn", epochs=3, hidden=4)


def test_a_graph_is_taken_as_it_is():
    assert as_graph(GRAPH) is GRAPH


@pytest.mark.parametrize("given", [GRAPH.to_pyg(), as_networkx()], ids=["pyg", "networkx"])
def test_fit_predict_and_score_take_other_forms(given):
    assert as_graph(given).fingerprint == GRAPH.fingerprint
    parts = split(GRAPH)
    expected, model = quick().fit(GRAPH, parts), quick().fit(given, parts)
    assert np.array_equal(model.predict_proba(given), expected.predict_proba(GRAPH))
    assert np.array_equal(model.predict(given), expected.predict(GRAPH))
    assert model.score(given, parts.test) == expected.score(GRAPH, parts.test)
    assert np.array_equal(quick().fit(given).predict_proba(given), quick().fit(GRAPH).predict_proba(GRAPH))


@pytest.mark.parametrize(
    "wrong",
    ["cora", None, {"x": 1}, Graph],
    ids=["name", "None", "dict", "class"],
)
def test_anything_else_gets_one_sentence(wrong):
    with pytest.raises(InputError, match="takes a Graph, a networkx graph or a torch_geometric Data, not"):
        quick().fit(wrong)


def test_other_data_of_pyg_gets_the_sentence_of_the_reader():
    with pytest.raises(InputError, match="to_homogeneous"):
        quick().fit(HeteroData())


def test_codes_among_the_classes_of_a_model():
    graph = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), y=["dog", "emu", "dog"])
    assert codes_among(np.array(["cat", "dog"]), graph, np.array([0, 1, 2])).tolist() == [1, 2, 1]


# ---------------------------------------------------------------------- X, y and edge_index

EDGES = GRAPH.edges
FEATURES = {
    "array": GRAPH.x,
    "list": GRAPH.x.tolist(),
    "tensor": torch.tensor(np.array(GRAPH.x)),
}
EDGE_FORMS = {
    "[2, E]": EDGES,
    "[E, 2]": EDGES.T,
    "lists": EDGES.tolist(),
    "tuples": [tuple(pair) for pair in EDGES.T.tolist()],
    "set": {tuple(pair) for pair in EDGES.T.tolist()},
    "tensor": torch.tensor(np.array(EDGES)),
    "both directions": np.concatenate([EDGES, EDGES[::-1]], axis=1),
}


@pytest.mark.parametrize("x", FEATURES.values(), ids=FEATURES)
def test_features_in_every_form_are_the_same_graph(x):
    assert read_given(x, {"y": GRAPH.y, "edge_index": EDGES}).fingerprint == GRAPH.fingerprint
    assert read_given(None, {"X": x, "edge_index": EDGES}).unlabelled_fingerprint == (
        GRAPH.unlabelled_fingerprint
    )


def test_a_table_is_read_by_the_kinds_of_its_columns():
    """Its rows are the nodes, and no name of a column has a meaning beside y."""
    table = pd.DataFrame(np.array(GRAPH.x), columns=["id", "label", "node", "class"], index=range(9, 89))
    graph = read_given(table.assign(city=["Bonn", "Rome"] * 40), {"y": GRAPH.y, "edge_index": EDGES})
    assert (graph.edges.tolist(), graph.y.tolist()) == (EDGES.tolist(), GRAPH.y.tolist())
    assert graph.reading.encoding.names == ("id", "label", "node", "class", "city=Bonn", "city=Rome")
    assert np.allclose(graph.x[:, :4], (GRAPH.x - GRAPH.x.mean(axis=0)) / GRAPH.x.std(axis=0), atol=1e-5)
    again = read_given(table[:3].assign(city="Oslo"), {"edge_index": [[0], [1]]}, graph.reading)
    assert np.array_equal(again.x[:, :4], graph.x[:3, :4])


@pytest.mark.parametrize("edges", EDGE_FORMS.values(), ids=EDGE_FORMS)
def test_edges_in_every_form_are_the_same_graph(edges):
    assert read_given(GRAPH.x, {"y": GRAPH.y, "edge_index": edges}).fingerprint == GRAPH.fingerprint


def test_sparse_features_stay_sparse():
    graph = read_given(sp.coo_matrix(GRAPH.x), {"edge_index": EDGES})
    assert sp.issparse(graph.x)
    assert graph.unlabelled_fingerprint == GRAPH.unlabelled_fingerprint


def test_two_pairs_as_tuples_and_two_rows_as_lists():
    x = np.eye(4)
    tuples = read_given(x, {"edge_index": [(0, 1), (2, 3)]})
    rows = read_given(x, {"edge_index": [[0, 1], [2, 3]]})
    assert tuples.edges.tolist() == [[0, 2], [1, 3]]
    assert rows.edges.tolist() == [[0, 1], [2, 3]]


def test_fit_predict_and_score_with_features_and_edges():
    parts = split(GRAPH)
    expected = quick().fit(GRAPH, parts)
    for model in (
        quick().fit(GRAPH.x, GRAPH.y, edge_index=EDGES, split=parts),
        quick().fit(X=GRAPH.x, y=GRAPH.y, edge_index=EDGES, split=parts),
    ):
        assert np.array_equal(model.predict_proba(GRAPH.x, edge_index=EDGES), expected.predict_proba(GRAPH))
        assert np.array_equal(model.predict(GRAPH.x, edge_index=EDGES), expected.predict(GRAPH))
        sets = model.predict_sets(X=GRAPH.x, edge_index=EDGES, coverage=0.8)
        assert np.array_equal(sets, expected.predict_sets(GRAPH, 0.8))
        assert model.score(GRAPH.x, GRAPH.y, edge_index=EDGES) == expected.score(GRAPH)
        only_test = np.full(80, -1)
        only_test[parts.test] = GRAPH.y[parts.test]
        test_score = expected.score(GRAPH, parts.test)
        assert model.score(GRAPH.x, only_test, edge_index=EDGES) == test_score
        assert model.score(GRAPH.x, y=GRAPH.y, edge_index=EDGES, nodes=parts.test) == test_score


def test_labels_with_gaps():
    expected = [0, -1, 1, -1]
    for y in (
        [3, None, 5, None],
        [3.0, np.nan, 5.0, -1],
        np.array([3, -1, 5, -1]),
        torch.tensor([3, -1, 5, -1]),
    ):
        codes, classes = label_codes(y, 4)
        assert codes.tolist() == expected
        assert classes.tolist() == [3, 5]
    codes, classes = label_codes(["emu", "", "owl", None], 4)
    assert (codes.tolist(), classes.tolist()) == (expected, ["emu", "owl"])
    codes, classes = label_codes(pd.Series([-1, 1, None], index=[7, 8, 9]), 3)
    assert (codes.tolist(), classes.tolist()) == ([0, 1, -1], [-1, 1])
    assert label_codes(None, 2)[0].tolist() == [-1, -1]


@drawn(st.lists(st.sampled_from([-1, 0, 1, 2, None]), min_size=1, max_size=12))
def test_every_known_label_is_a_class_and_comes_back(y):
    codes, classes = label_codes(y, len(y))
    known = {label for label in y if label is not None}
    unknown = set() if known == {-1, 1} else {-1}
    assert set(classes.tolist()) == known - unknown
    back = [None if code < 0 else int(classes[code]) for code in codes]
    assert back == [None if label is None or label in unknown else label for label in y]


def test_a_directed_fit_stays_directed():
    model = quick().fit(GRAPH.x, GRAPH.y, edge_index=EDGES, directed=True)
    assert model.read(GRAPH.x, {"edge_index": EDGES}).directed
    assert not quick().fit(GRAPH.x, GRAPH.y, edge_index=EDGES).read(GRAPH.x, {"edge_index": EDGES}).directed


WRONG = {
    "no edges": ((GRAPH.x, GRAPH.y), {}, "X is given without the edges.*edge_index.*OnGraph"),
    "labels beside a graph": ((GRAPH, GRAPH.y), {}, "a graph holds everything itself, and y is given"),
    "edges beside a graph": ((GRAPH,), {"edge_index": EDGES}, "edge_index belongs to X"),
    "an option beside a graph": ((GRAPH,), {"label": "y"}, "and label is given beside it"),
    "X twice": ((GRAPH.x,), {"X": GRAPH.x, "edge_index": EDGES}, "both a first argument and X"),
    "two forms": ((GRAPH.x, GRAPH.y), {"nodes": 1, "edges": 2}, "tables and another form"),
    "one table": ((), {"nodes": pd.DataFrame()}, "edges is missing"),
    "an option of tables": ((GRAPH.x,), {"edge_index": EDGES, "label": "y"}, "label is an option of tables"),
    "no X": ((), {"edge_index": EDGES}, "edge_index belongs to X"),
    "a list of nodes": ((GRAPH.x,), {"edge_index": [1, 2, 3]}, r"the shape \(3,\).*\[2, E\]"),
    "a number": ((GRAPH.x,), {"edge_index": 7}, r"\[2, E\] or as a list of \(source, target\)"),
    "ragged pairs": ((GRAPH.x,), {"edge_index": [(1, 2), (3,)]}, r"\[2, E\]"),
    "floats": ((GRAPH.x,), {"edge_index": EDGES.astype(float)}, "float64: give whole numbers"),
    "too large": ((GRAPH.x[:50],), {"edge_index": EDGES}, "X has 50 rows: give every node a row.*OnGraph"),
    "one column": ((GRAPH.x[:, 0],), {"edge_index": EDGES}, "one row per node"),
    "too few labels": ((GRAPH.x, GRAPH.y[:9]), {"edge_index": EDGES}, "9 labels for 80 nodes"),
}


@pytest.mark.parametrize(("arguments", "named", "words"), WRONG.values(), ids=WRONG)
def test_one_form_at_a_time_and_whole(arguments, named, words):
    with pytest.raises(InputError, match=words):
        quick().fit(*arguments, **named)


def test_a_pipeline_scales_before_the_fit():
    pipeline = make_pipeline(StandardScaler(), quick())
    pipeline.fit(GRAPH.x, GRAPH.y, baselineclassifier__edge_index=EDGES)
    scaled = StandardScaler().fit_transform(GRAPH.x)
    expected = quick().fit(scaled, GRAPH.y, edge_index=EDGES)
    found = pipeline.predict_proba(GRAPH.x, edge_index=EDGES)
    assert np.array_equal(found, expected.predict_proba(scaled, edge_index=EDGES))
    with pytest.raises(InputError, match="X is given without the edges"):
        pipeline.predict(GRAPH.x)


@pytest.mark.parametrize("params", [None, {"edge_index": EDGES}], ids=["without edges", "with edges"])
def test_cross_validation_that_cuts_rows_says_what_works(params):
    with pytest.raises(InputError, match=r"take rows away, which breaks a graph: give them OnGraph"):
        cross_val_score(quick(), GRAPH.x, GRAPH.y, cv=3, params=params, error_score="raise")


# ---------------------------------------------------------------------- tables

NODES = pd.DataFrame(np.array(GRAPH.x), columns=list("abcd")).assign(
    key=[f"n{i}" for i in range(80)], kind=np.where(GRAPH.y == 0, "emu", "owl")
)
ENDS = pd.DataFrame({"to": [f"n{i}" for i in EDGES[1]], "by": [f"n{i}" for i in EDGES[0]]})
MEANING = {"id": "key", "label": "kind", "source": "by", "target": "to"}


def test_fit_predict_and_score_with_tables(tmp_path):
    graph = Graph.from_frames(NODES, ENDS, **MEANING)
    expected = quick().fit(graph)
    model = quick().fit(nodes=NODES, edges=ENDS, **MEANING)
    model.save(tmp_path)
    for each in (model, BaselineClassifier.load(tmp_path)):
        # The model knows which columns were what, also where the labels are gone.
        for nodes in (NODES, NODES.drop(columns="kind")):
            found = each.predict_proba(nodes=nodes, edges=ENDS)
            assert np.array_equal(found, expected.predict_proba(graph))
        assert np.array_equal(each.predict(nodes=NODES, edges=ENDS), expected.predict(graph))
        assert each.score(nodes=NODES, edges=ENDS) == expected.score(graph)


def test_other_options_may_be_given_to_predict():
    model = quick().fit(nodes=NODES, edges=ENDS, **MEANING)
    renamed = ENDS.rename(columns={"by": "left", "to": "right"})
    found = model.predict_proba(nodes=NODES, edges=renamed, source="left", target="right")
    assert np.array_equal(found, model.predict_proba(nodes=NODES, edges=ENDS))


def test_the_split_of_a_table_is_the_default():
    parts = np.array(["train", "val", "test", "train"] * 20)
    nodes = NODES.assign(part=parts)
    graph = Graph.from_frames(nodes, ENDS, **MEANING, split_column="part")
    assert np.array_equal(default_split(graph, 0).train, np.flatnonzero(parts == "train"))
    model = quick().fit(nodes=nodes, edges=ENDS, **MEANING, split_column="part")
    expected = quick().fit(graph, split(graph, "given"))
    assert np.array_equal(model.predict_proba(nodes=nodes, edges=ENDS), expected.predict_proba(graph))
    assert np.array_equal(default_split(GRAPH, 4).train, split(GRAPH, "uniform", 4).train)
