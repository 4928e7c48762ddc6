"""The paper's method as a way; its steps are tested with GOALClassifier and in complement."""

import numpy as np
import pytest

from otherhalf import GOALClassifier, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.blend import blended
from otherhalf.estimators.embedding_way import EmbeddingWay, arguments
from otherhalf.training.supervised import class_probabilities

GRAPH = contextual_sbm(num_nodes=120, num_classes=3, num_features=6, homophily=0.1, signal=2.0, seed=2)
SPLIT = split(GRAPH, seed=0)


@pytest.fixture(scope="module")
def fitted():
    return GOALClassifier(encoder="mlp", epochs=8, hidden=8, seed=1).fit(GRAPH, SPLIT)


def test_naming_an_encoder_means_this_method(fitted):
    assert isinstance(fitted._way, EmbeddingWay)
    assert fitted.settings_.method == "embedding"
    assert fitted.missing_half_.encoder == "mlp"


def test_the_paper_preset_is_this_method():
    model = GOALClassifier("paper", encoder={"kind": "mlp", "epochs": 3}, epochs=3).fit(GRAPH, SPLIT)
    assert isinstance(model._way, EmbeddingWay)


def test_the_leaderboard_has_classifier_and_encoder(fitted):
    rows = {row.member: row.weight for row in fitted.leaderboard_}
    assert rows == pytest.approx({"GOAL": 1 - fitted.encoder_share_, "encoder mlp": fitted.encoder_share_})


def test_the_prediction_is_the_blend(fitted):
    way, prepared = fitted._way, fitted.prepare(GRAPH)[0]
    own = class_probabilities(way.module, *arguments(prepared, way.half))
    of_encoder = way.embedding.encoder.probabilities(prepared)
    expected = blended(own, of_encoder, way.share)
    assert np.allclose(fitted.predict_proba(GRAPH), expected, atol=1e-6)
