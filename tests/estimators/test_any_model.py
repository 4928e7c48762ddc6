import numpy as np
import pytest

from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.estimators.any_model import load_model
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.logistic import LogisticClassifier
from otherhalf.estimators.trees import TreesClassifier

GRAPH = contextual_sbm(60, 2, 4, seed=1)
PARTS = split(GRAPH)


@pytest.mark.parametrize(
    "model",
    [
        BaselineClassifier("mlp", epochs=2, hidden=8),
        TreesClassifier(trees=5),
        GOALClassifier(method="embedding", encoder="mlp", epochs=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_each_is_read_by_its_own_class(model, tmp_path):
    model.fit(GRAPH, PARTS).save(tmp_path)
    loaded = load_model(tmp_path)
    assert type(loaded) is type(model)
    assert np.array_equal(loaded.predict_proba(GRAPH), model.predict_proba(GRAPH))


def test_others_and_no_model_at_all(tmp_path):
    with pytest.raises(InputError, match=r"holds no model\.json"):
        load_model(tmp_path)
    LogisticClassifier().fit(GRAPH, PARTS).save(tmp_path)
    with pytest.raises(InputError, match=r"load it with LogisticClassifier\.load"):
        load_model(tmp_path)
