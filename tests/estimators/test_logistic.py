"""Logistic regression on own columns and on the graph as a table."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from otherhalf import InputError, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.graph_table import GraphTable
from otherhalf.estimators.logistic import LogisticClassifier, _fitted, _probabilities
from otherhalf.training.class_weights import class_weights, node_weights

ALIKE = contextual_sbm(num_nodes=240, num_classes=3, num_features=6, homophily=0.9, signal=0.4, seed=3)
PARTS = split(ALIKE, seed=0)


@pytest.mark.parametrize("codes", [np.array([0, 1, 2, 0, 1, 2, 2, 0]), np.array([1, 1, 2, 2, 1, 2, 1, 2])])
def test_the_probabilities_are_those_of_scikit_learn(codes):
    """Also where a class has no training row, and where there are two classes, which have one logit."""
    rows = np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32)
    known = LogisticRegression(C=0.5, max_iter=200).fit(rows, codes)
    expected = np.zeros((8, 4))
    expected[:, known.classes_] = known.predict_proba(rows)
    weight, bias = _fitted(rows, codes, 4, 0.5, 200)
    np.testing.assert_allclose(_probabilities(rows, weight, bias), expected, atol=1e-5)


@pytest.mark.filterwarnings("error")
def test_neither_few_steps_nor_many_classes_are_a_reason_for_a_warning():
    rows = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    weight, bias = _fitted(rows, np.arange(40) % 30, 30, 10.0, 1)
    assert weight.shape == (3, 30)
    assert np.isfinite(bias).all()


def test_the_table_of_the_graph_beats_own_columns_where_neighbours_are_alike():
    own = LogisticClassifier("own").fit(ALIKE, PARTS).score(ALIKE, PARTS.test)
    graph = LogisticClassifier().fit(ALIKE, PARTS).score(ALIKE, PARTS.test)
    assert graph > own + 0.1


def test_own_columns_read_no_edge():
    without = contextual_sbm(num_nodes=240, num_classes=3, num_features=6, homophily=0.9, signal=0.4, seed=3)
    model = LogisticClassifier("own").fit(ALIKE, PARTS)
    table = GraphTable.fit(without, 0)
    assert table.own(without).shape == (240, 7)  # six features and the log of their sum
    assert model._weights[0].shape == (7, 3)


@pytest.mark.parametrize("columns", ["graph", "own"])
def test_a_saved_model_predicts_the_same(columns, tmp_path):
    model = LogisticClassifier(columns).fit(ALIKE, PARTS)
    model.save(tmp_path)
    loaded = LogisticClassifier.load(tmp_path)
    assert np.array_equal(loaded.predict_proba(ALIKE), model.predict_proba(ALIKE))


def test_columns_of_another_kind_are_refused():
    with pytest.raises(InputError, match="columns must be one of graph, own"):
        LogisticClassifier("all").fit(ALIKE, PARTS)


def test_weights_of_classes_are_those_of_scikit_learn():
    rows = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    codes = np.random.default_rng(1).integers(0, 4, 40) // 3  # a quarter has the second class
    known = LogisticRegression(C=0.5, max_iter=200, class_weight="balanced").fit(rows, codes)
    weights = node_weights(class_weights("balanced", [0, 1], codes), codes)
    found = _probabilities(rows, *_fitted(rows, codes, 2, 0.5, 200, weights))
    np.testing.assert_allclose(found, known.predict_proba(rows), atol=1e-4)
