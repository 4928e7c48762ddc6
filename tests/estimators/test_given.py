"""What an estimator accepts: graphs in three forms, and one sentence for anything else."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from torch_geometric.data import HeteroData

from otherhalf import BaselineClassifier, Graph, InputError, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.given import as_graph, codes_among

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
    ["cora", None, GRAPH.x, sp.eye(3), {"x": 1}, Graph],
    ids=["name", "None", "x", "A", "dict", "class"],
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
