"""What a fitted model is made of: members that add up to its predictions."""

import numpy as np
import pytest
from tests.report.fits import embedded, fitted, graph, parts

from otherhalf import BaselineClassifier
from otherhalf.estimators.inside import member_probabilities, member_weights, spread_of


@pytest.mark.parametrize("model", [fitted, embedded])
def test_the_weighted_members_are_what_the_model_predicts(model):
    model = model()
    prepared, _ = model.prepare(graph())
    weights = member_weights(model)
    found = dict(member_probabilities(model, prepared))
    assert list(found) == list(weights) == sorted(weights, key=lambda name: -weights[name])
    blend = sum(weights[name] * each for name, each in found.items())
    np.testing.assert_allclose(blend, model.predict_proba(graph()), atol=1e-6)


def test_several_members_are_blended_with_their_temperatures():
    """Members chosen here, so that more than one takes part whatever the validation nodes say."""
    model = fitted("both members")
    prepared, _ = model.prepare(graph())
    weights = member_weights(model)
    assert len(weights) == 2
    found = dict(member_probabilities(model, prepared))
    blend = sum(weights[name] * each for name, each in found.items())
    np.testing.assert_allclose(blend, model.predict_proba(graph()), atol=1e-6)


def test_a_model_without_a_blend_has_no_members_and_no_spread():
    model = BaselineClassifier(epochs=1).fit(graph(), parts())
    prepared, _ = model.prepare(graph())
    assert member_weights(model) == {}
    assert list(member_probabilities(model, prepared)) == []
    assert spread_of(model) is None


def test_only_a_found_half_has_a_spread():
    assert spread_of(fitted()) is not None
    assert spread_of(fitted("random")) is None
    assert spread_of(embedded()) is None
