"""Every estimator as a folder: what is read is what was written."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from otherhalf import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.logistic import LogisticClassifier
from otherhalf.estimators.simple import PropagationClassifier


def test_before_a_fit_there_is_nothing_to_save(tmp_path):
    with pytest.raises(NotFittedError):
        PropagationClassifier().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("model", [LogisticClassifier("own", steps=5), PropagationClassifier()])
def test_what_is_read_again_is_what_was_fitted(model, tmp_path):
    graph = contextual_sbm(num_nodes=60, num_classes=2, num_features=4, seed=0)
    fitted = clone(model).fit(graph, split(graph))
    fitted.save(tmp_path)
    loaded = type(fitted).load(tmp_path)
    assert loaded.get_params() == fitted.get_params()
    assert loaded.classes_.tolist() == fitted.classes_.tolist()
    assert loaded.seconds_ == fitted.seconds_
    assert loaded.metric_choice_ == fitted.metric_choice_
    assert loaded.num_known_ == 60
    assert np.array_equal(loaded.predict_proba(graph), fitted.predict_proba(graph))


@pytest.mark.parametrize(
    "weights",
    [
        {code: 1.0 + code for code in range(12)},  # as text, 10 comes before 2
        {np.int64(0): 2.0},
        {0: 2.0, "1": 3.0},
    ],
    ids=["many", "numpy", "mixed"],
)
def test_weights_are_saved_whatever_names_classes(weights, tmp_path):
    graph = contextual_sbm(num_nodes=120, num_classes=12, num_features=4, seed=0)
    model = LogisticClassifier("own", class_weight=weights, steps=5).fit(graph, split(graph))
    model.save(tmp_path)
    loaded = LogisticClassifier.load(tmp_path)
    assert np.array_equal(loaded.predict_proba(graph), model.predict_proba(graph))
    assert loaded.class_weight == {str(name): weight for name, weight in weights.items()}
