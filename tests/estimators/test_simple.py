"""The majority and label propagation, as estimators."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from otherhalf import Graph, Split, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.simple import MajorityClassifier, PropagationClassifier

ALIKE = contextual_sbm(num_nodes=200, num_classes=3, num_features=2, homophily=0.95, signal=0.1, seed=1)
PARTS = split(ALIKE, seed=0)
BOTH = (MajorityClassifier, PropagationClassifier)


def test_the_majority_has_the_shares_of_the_training_nodes():
    graph = Graph(edges=np.array([[0, 1], [1, 2]]), x=np.ones((6, 1)), y=list("aabbba"))
    model = MajorityClassifier().fit(graph, Split([0, 1, 2], [3], [4, 5]))
    np.testing.assert_allclose(model.predict_proba(graph), np.tile([2 / 3, 1 / 3], (6, 1)))
    assert model.predict(graph).tolist() == ["a"] * 6
    assert model.score(graph, [4, 5]) == 0.5


def test_propagation_reads_the_neighbours_and_no_feature():
    model = PropagationClassifier().fit(ALIKE, PARTS)
    assert model.score(ALIKE, PARTS.test) > 0.8  # chance: a third
    other = contextual_sbm(num_nodes=200, num_classes=3, num_features=2, homophily=0.95, signal=9.0, seed=1)
    assert np.array_equal(other.edges, ALIKE.edges)
    assert np.array_equal(PropagationClassifier().fit(other, PARTS).predict(other), model.predict(ALIKE))


@pytest.mark.parametrize("kind", BOTH)
def test_a_saved_model_predicts_the_same(kind, tmp_path):
    model = kind(seed=2).fit(ALIKE, PARTS)
    model.save(tmp_path)
    loaded = kind.load(tmp_path)
    assert np.array_equal(loaded.predict_proba(ALIKE), model.predict_proba(ALIKE))
    assert (
        clone(model).get_params() == model.get_params() == {"seed": 2, "metric": "accuracy", "device": "cpu"}
    )
    assert is_classifier(model)
