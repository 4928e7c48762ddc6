"""The space of a search: every value is one that its model takes, and every default is that of the model."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.runner.models import compared_models, make_model
from otherhalf.experiments.tuning.space import OWN_VALUES, Dimension, Way, ways_for, ways_of
from otherhalf.graph import Graph
from otherhalf.nn.models.registry import MODELS

WAYS = {way.name: way for way in ways_of([*compared_models(), *MODELS])}
EVERY = [(way.name, each.name) for way in WAYS.values() for each in way.dimensions]


def resolved(way, point):
    return make_model(way.model, way.params(point), 0, "accuracy").resolved_settings()


@pytest.mark.parametrize(("name", "dimension"), EVERY)
def test_values_are_allowed_and_only_the_default_changes_nothing(name, dimension):
    way = WAYS[name]
    setting, defaults = way.by_name[dimension], resolved(way, {})
    assert len(set(setting.values)) == len(setting.values) > 1
    assert not setting.when or isinstance(way.by_name[setting.when].default, bool)
    for value in setting.values:
        assert (resolved(way, {dimension: value}) == defaults) == (value == setting.default)


def test_the_defaults_are_the_fit_of_everybody():
    assert WAYS["goal"].params({}) == {"method": "kernel"}
    assert WAYS["goal-embedding"].params({}) == {"method": "embedding"}
    assert WAYS["gcn"].params({}) == WAYS["trees"].params({}) == {}


@given(st.sampled_from(sorted(WAYS)), st.data())
def test_any_point_is_a_model(name, data):
    way = WAYS[name]
    values = {each.name: data.draw(st.sampled_from(each.values)) for each in way.dimensions}
    point = way.point(values)
    assert way.point(point) == point
    resolved(way, point)


def test_entries_of_an_argument_are_one_dictionary():
    goal, embedding = WAYS["goal"], WAYS["goal-embedding"]
    point = {"ensemble.trees": False, "ensemble.plain": 1, "k": 20, "kernel.steps": 10}
    assert goal.params(point) == {
        "method": "kernel",
        "ensemble": {"trees": False, "plain": 1},
        "k": 20,
        "kernel": {"steps": 10},
    }
    assert embedding.params({"encoder.hidden": 128})["encoder"] == {"kind": "auto", "hidden": 128}
    assert embedding.params({"encoder.kind": "gat"})["encoder"] == {"kind": "gat"}


def test_what_decides_nothing_is_left_out():
    goal = WAYS["goal"]
    assert goal.point({"ensemble.classifier": False, "hidden": 128, "k": 5}) == {
        "ensemble.classifier": False,
        "k": 5,
    }
    assert goal.point({"ensemble.classifier": True, "hidden": 128}) == {"hidden": 128}


def test_goal_is_first_and_each_model_once():
    assert [way.name for way in ways_of(["gcn", "goal", "gcn", "goal-embedding"])] == [
        "goal",
        "goal-embedding",
        "gcn",
    ]
    assert [way.name for way in ways_of(["goal-embedding"])] == ["goal-embedding"]


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ([], "no model is named"),
        (["nothing"], "there is no model 'nothing'"),
        (["majority"], "majority chooses by itself and has nothing to search"),
    ],
)
def test_models_without_a_space(models, sentence):
    with pytest.raises(InputError, match=sentence):
        ways_of(models)


def test_scalings_that_the_features_cannot_have_are_left_out():
    dense = contextual_sbm(20, 2, 3)
    sparse = Graph(edges=dense.edges, x=sp.csr_matrix(np.eye(20)), y=dense.y)
    assert "standard" in ways_for(dense, ["gcn"])[0].by_name["scaling"].values
    assert ways_for(sparse, ["gcn"])[0].by_name["scaling"].values == ("none", "row", "auto")


def test_own_options_of_every_baseline_are_searched():
    for name, spec in MODELS.items():
        assert set(spec.own_options) <= set(OWN_VALUES)
        assert set(spec.own_options) <= set(WAYS[name].by_name)


def test_a_default_has_to_be_a_value():
    with pytest.raises(ValueError, match="the default 3 is not among the values"):
        Dimension("k", (1, 2), 3)
    assert Way("gcn", {}, (Dimension("k", (1, 2), 2), Dimension("l", (1, 2, 3), 2))).size == 6
