"""What an estimator tells of the graph that it was fitted on, by scikit-learn's names."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from otherhalf import Graph, Split
from otherhalf.estimators.simple import MajorityClassifier

SPLIT = Split([0, 1], [2], [3])
EDGES = pd.DataFrame({"source": list("abc"), "target": list("bcd")})
NODES = pd.DataFrame(
    {"id": list("abcd"), "size": [1.5, 2.0, 4.0, 8.0], "age": [3, 1, 2, 5], "label": ["u", "v", "u", "v"]}
)


def fitted(**options):
    return MajorityClassifier().fit(nodes=NODES, edges=EDGES, split=SPLIT, **options)


def test_numbers_without_names():
    model = MajorityClassifier().fit(Graph(edges=[[0, 1], [1, 2]], x=np.eye(4), y=[0, 1, 0, 1]), SPLIT)
    assert (model.num_known_, model.n_features_in_) == (4, 4)
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(
        AttributeError, match="the features of the fitted graph had no names: fit to tables, or"
    ):
        model.feature_names_in_  # noqa: B018


def test_columns_whose_numbers_were_taken():
    model = fitted(encode=False)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["size", "age"]
    assert model.feature_names_in_.dtype == object  # as in scikit-learn


def test_columns_that_were_encoded():
    model = fitted()
    assert len(model.feature_names_in_) == model.n_features_in_
    assert {name.split()[0].split("=")[0] for name in model.feature_names_in_} >= {"size", "age"}


def test_they_come_back_from_a_folder(tmp_path):
    for options in ({}, {"encode": False}):
        model = fitted(**options)
        model.save(tmp_path / "model")
        loaded = MajorityClassifier.load(tmp_path / "model")
        assert loaded.n_features_in_ == model.n_features_in_
        assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()


@pytest.mark.parametrize("name", ["num_known_", "n_features_in_", "feature_names_in_"])
def test_before_a_fit(name):
    with pytest.raises(NotFittedError):
        getattr(MajorityClassifier(), name)
    assert not hasattr(MajorityClassifier(), name)
