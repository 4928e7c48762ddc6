"""Features found by their names, on every way into a fitted model."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from otherhalf.data.catalog import load
from otherhalf.errors import InputError
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.feature_names import in_order_of
from otherhalf.graph import Graph

EDGES = np.array([[0, 1, 2], [1, 2, 3]])
NODES = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d", "e", "f", "g", "h"],
        "low": [0.5, 1.0, 2.0, 0.25, 1.5, 0.0, 3.0, 1.0],
        "high": [10.0, 50.0, 20.0, 30.0, 90.0, 10.0, 70.0, 20.0],
        "label": [0, 1, 0, 1, 0, 1, 0, 1],
    }
)
TABLE = pd.DataFrame({"source": list("abcdefg"), "target": list("bcdefgh")})
TURNED = NODES[["label", "high", "low", "id"]]


def named(names, x=None):
    return Graph(edges=EDGES, x=np.arange(8.0).reshape(4, 2) if x is None else x, feature_names=names)


class TestInOrderOf:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
    def test_another_order_is_turned_back(self, kind):
        graph = in_order_of(("u", "v"), named(("v", "u"), kind(np.arange(8.0).reshape(4, 2))))
        x = graph.x.toarray() if sp.issparse(graph.x) else graph.x
        assert x.tolist() == [[1, 0], [3, 2], [5, 4], [7, 6]]
        assert graph.feature_names == ("u", "v")

    def test_the_same_order_is_the_same_graph(self):
        graph = named(("u", "v"))
        assert in_order_of(("u", "v"), graph) is graph
        nameless = named(None)
        assert in_order_of(None, nameless) is nameless

    @pytest.mark.parametrize(
        ("fitted", "message"),
        [
            (
                ("u", "w"),
                "lacks the features 'w' and has the features 'v', which the model was not fitted with",
            ),
            (("u",), "the graph has the features 'v', which the model was not fitted with: give .* u"),
            (("u", "v", "w"), "the graph lacks the features 'w': give the features of the fit, u, v, w"),
        ],
    )
    def test_what_is_missing_or_new_is_refused(self, fitted, message):
        with pytest.raises(InputError, match=message):
            in_order_of(fitted, named(("u", "v")))

    def test_without_names_the_order_is_said(self):
        with pytest.warns(UserWarning, match="features of the graph have no names, so the columns .*: u, v"):
            in_order_of(("u", "v"), named(None))
        with pytest.warns(
            UserWarning, match="of the model's fit have no names, so the columns .* order: u, v"
        ):
            in_order_of(None, named(("u", "v")))


def model():
    return BaselineClassifier("mlp", epochs=2, hidden=4)


def networkx_graph(nodes):
    graph = nx.Graph()
    for row in nodes.to_dict("records"):
        graph.add_node(row.pop("id"), **row)
    graph.add_edges_from(TABLE.to_numpy().tolist())
    return graph


def through_npz(nodes, tmp_path):
    Graph.from_frames(nodes, TABLE, encode=False).to_npz(tmp_path / "g.npz")
    return load(tmp_path / "g.npz")


def array_graph(nodes):
    """A graph whose features are a table, and that comes from no table itself."""
    read = Graph.from_frames(nodes, TABLE)
    x = nodes[[name for name in nodes if name not in ("id", "label")]]
    return Graph(edges=read.edges, x=x, y=nodes["label"], ids=nodes["id"])


WAYS = {
    "tables": lambda nodes, folder: {"nodes": nodes, "edges": TABLE},
    "numbers": lambda nodes, folder: {"nodes": nodes, "edges": TABLE, "encode": False},
    "networkx": lambda nodes, folder: {"graph": networkx_graph(nodes)},
    "graph": lambda nodes, folder: {"graph": Graph.from_frames(nodes, TABLE, encode=False)},
    "arrays": lambda nodes, folder: {"graph": array_graph(nodes)},
    "npz": lambda nodes, folder: {"graph": through_npz(nodes, folder)},
    "pyg": lambda nodes, folder: {"graph": array_graph(nodes).to_pyg()},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("saved", [False, True])
def test_the_order_of_the_columns_changes_nothing(way, saved, tmp_path):
    fitted = model().fit(**way(NODES, tmp_path))
    before = fitted.predict_proba(**way(NODES, tmp_path))
    if saved:
        fitted.save(tmp_path / "model")
        fitted = BaselineClassifier.load(tmp_path / "model")
    # The same numbers; a product over columns of another order would only be alike.
    assert fitted.predict_proba(**way(TURNED, tmp_path)).tolist() == before.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_missing_or_new_is_refused_in_one_sentence(way, tmp_path):
    fitted = model().fit(**way(NODES, tmp_path))
    for wrong in (NODES.rename(columns={"low": "lower"}), NODES.drop(columns="low"), NODES.assign(more=1.5)):
        with pytest.raises(InputError, match=r"low|more") as caught:
            fitted.predict_proba(**way(wrong, tmp_path))
        assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_a_fit_to_one_way_and_a_prediction_by_another(tmp_path):
    fitted = model().fit(**WAYS["arrays"](NODES, tmp_path))
    before = fitted.predict_proba(**WAYS["arrays"](NODES, tmp_path))
    for name in ("graph", "npz", "pyg"):
        assert fitted.predict_proba(**WAYS[name](TURNED, tmp_path)).tolist() == before.tolist()


@pytest.mark.filterwarnings("ignore")
def test_a_graph_with_names_of_its_own_keeps_them():
    graph = Graph.from_frames(NODES, TABLE, encode=False)
    assert graph.feature_names == ("low", "high")
    assert graph.own_feature_names is None
    assert replace(graph, feature_names=("x", "y")).own_feature_names == ("x", "y")
