"""OnGraph: scikit-learn's own cross-validation and search over the nodes of a graph."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score

from otherhalf import BaselineClassifier, GOALClassifier, InputError, OnGraph
from otherhalf.data.synthetic import contextual_sbm

GRAPH = contextual_sbm(num_nodes=120, num_classes=3, num_features=6, homophily=0.9, signal=2.0, seed=3)
NODES, Y = np.arange(120), np.array(["ant", "bee", "cat"])[GRAPH.y]


def quick(**options):
    return BaselineClassifier("gcn", hidden=8, epochs=30, **options)


def test_scores_are_those_of_the_nodes_left_out():
    folds = StratifiedKFold(4)
    found = cross_val_score(OnGraph(quick(), GRAPH), NODES, Y, cv=folds)
    expected = []
    for train, test in folds.split(NODES, Y):
        model = OnGraph(quick(), GRAPH).fit(train, Y[train])
        expected.append((model.predict(test) == Y[test]).mean())
    assert found.tolist() == expected
    assert found.mean() > 0.8  # a third by chance


def test_other_scores_and_predictions_work_too():
    assert cross_val_score(OnGraph(quick(), GRAPH), NODES, Y, cv=3, scoring="roc_auc_ovr").mean() > 0.8
    assert cross_val_score(OnGraph(GOALClassifier(fast=True), GRAPH), NODES, Y, cv=2).mean() > 0.8
    assert (cross_val_predict(OnGraph(quick(), GRAPH), NODES, Y, cv=3) == Y).mean() > 0.8


def test_a_search_over_the_arguments_of_the_model():
    search = GridSearchCV(OnGraph(quick(), GRAPH), {"model__epochs": [1, 30]}, cv=3)
    search.fit(NODES.reshape(-1, 1), Y)  # one column, as scikit-learn wants X
    assert search.best_params_ == {"model__epochs": 30}
    assert search.best_estimator_.model_.epochs == 30


def test_no_label_of_the_graph_and_no_hidden_label_is_read():
    some = NODES[::2]
    one = OnGraph(quick(), GRAPH).fit(some, Y[some]).predict_proba(NODES)
    bare = replace(GRAPH, y=np.full(120, -1), classes=None)
    assert np.array_equal(one, OnGraph(quick(), bare).fit(some, Y[some]).predict_proba(NODES))


def test_a_quarter_of_every_class_selects():
    seen = {}

    class Watching(BaselineClassifier):
        def fit(self, graph, split):
            seen["split"], seen["y"] = split, graph.y
            return super().fit(graph, split)

    y = np.where(NODES < 40, "", Y)  # unknown labels teach nothing
    OnGraph(Watching("gcn", hidden=4, epochs=1), GRAPH).fit(NODES, y)
    parts, counts = seen["split"], np.bincount(seen["y"][40:])
    assert sorted([*parts.train, *parts.val]) == list(range(40, 120))
    assert np.abs(np.bincount(seen["y"][parts.val]) - counts / 4).max() <= 1


def test_a_clone_shares_the_graph_and_not_the_model():
    one = OnGraph(quick(), GRAPH)
    other = clone(one)
    assert other.graph is GRAPH
    assert other.model is not one.model
    assert is_classifier(other)


def test_other_kinds_of_graph():
    graph = nx.Graph()
    for node in NODES:
        graph.add_node(int(node), x=GRAPH.x[node].tolist())
    graph.add_edges_from(GRAPH.edges.T.tolist())
    found = OnGraph(quick(), graph).fit(NODES, Y).predict_proba([3, 5])
    assert np.array_equal(found, OnGraph(quick(), GRAPH).fit(NODES, Y).predict_proba([3, 5]))


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (np.array([0, 1, 1]), "X names a node twice"),
        (np.array([0, 1, 120]), "X names node 120, but the nodes are 0 … 119"),
        (GRAPH.x[:3], "X must be a list of node indices"),
    ],
)
def test_wrong_nodes_get_one_sentence(nodes, words):
    with pytest.raises(InputError, match=words):
        OnGraph(quick(), GRAPH).fit(nodes, Y[:3])
