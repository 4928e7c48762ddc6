"""The ensemble: members, plans, leaderboard, and what is left out on request."""

import numpy as np
import pytest

from otherhalf import GOALClassifier, split
from otherhalf.data.synthetic import contextual_sbm

GRAPH = contextual_sbm(num_nodes=150, num_classes=3, num_features=6, homophily=0.1, signal=2.0, seed=2)
SPLIT = split(GRAPH, seed=0)


def quick(**ensemble):
    chosen = {"folds": 2, "plain": 1, "candidates": ("APPNP", "GCN"), **ensemble}
    return GOALClassifier(seed=1, epochs=6, hidden=8, k=4, ensemble=chosen)


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(GRAPH, SPLIT)


def test_the_leaderboard_has_every_member_once_and_its_weights_sum_to_one(fitted):
    board = fitted.leaderboard_
    names = [row.member for row in board]
    assert {"spread", "label propagation", "trees", "boosted trees", "GOAL"} < set(names)
    assert len(names) == len(set(names)) == 6
    assert sum(row.weight for row in board) == pytest.approx(1.0)
    assert [row.weight for row in board] == sorted((row.weight for row in board), reverse=True)
    assert all(0 <= row.validation <= 1 and row.seconds >= 0 for row in board)


def test_validation_in_the_leaderboard_is_that_of_the_member(fitted):
    ensemble = fitted._way.ensemble
    view = ensemble.view(fitted.prepare(GRAPH)[0])
    for row in fitted.leaderboard_:
        p = ensemble.members[row.member].probabilities(view)[SPLIT.val]
        assert row.validation == pytest.approx((p.argmax(axis=1) == GRAPH.y[SPLIT.val]).mean())


def test_the_prediction_is_the_blend_of_the_members(fitted):
    ensemble = fitted._way.ensemble
    view = ensemble.view(fitted.prepare(GRAPH)[0])
    members = {name: ensemble.members[name].probabilities(view) for name in ensemble.mixture.weights}
    assert fitted.predict_proba(GRAPH) == pytest.approx(ensemble.mixture.blend(members), abs=1e-6)


@pytest.mark.parametrize(
    ("option", "gone"),
    [
        ({"trees": False}, "trees"),
        ({"propagation": False}, "label propagation"),
        ({"classifier": False}, "GOAL"),
        ({"half": "none"}, "spread"),
        ({"half": "random"}, "spread"),
    ],
)
def test_a_part_that_is_switched_off_is_gone(option, gone):
    model = quick(**option).fit(GRAPH, SPLIT)
    assert gone not in [row.member for row in model.leaderboard_]
    assert (model.missing_half_ is None) == (option.get("half") == "none")
    assert np.isfinite(model.predict_proba(GRAPH)).all()


def test_labels_of_others_and_magnitudes_can_be_switched_off():
    model = quick(messages=False, magnitudes=False).fit(GRAPH, SPLIT)
    member = model._way.ensemble.members["GOAL"]
    assert member.description()["messages"] == 0
    assert member.modules[0].trunk.features.weight.shape[0] == GRAPH.num_features


def test_an_unknown_member_setting_gets_one_sentence():
    from otherhalf import InputError

    with pytest.raises(InputError, match="no setting 'forest'"):
        quick(forest=True).fit(GRAPH, SPLIT)
    with pytest.raises(InputError, match="half must be one of found, random, none"):
        quick(half="bought").fit(GRAPH, SPLIT)


def test_a_model_with_a_random_half_can_be_loaded(tmp_path):
    model = quick(half="random").fit(GRAPH, SPLIT)
    model.save(tmp_path)
    loaded = GOALClassifier.load(tmp_path)
    assert np.array_equal(loaded.predict_proba(GRAPH), model.predict_proba(GRAPH))
