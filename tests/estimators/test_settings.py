"""Settings go to JSON and come back the same."""

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from otherhalf.errors import InputError
from otherhalf.estimators.settings import (
    ComplementSettings,
    EncoderSettings,
    GOALSettings,
    HeadSettings,
    Settings,
    check_frame,
    check_scaling,
    check_settings,
    from_dict,
    plain_number,
    to_dict,
)
from otherhalf.nn.backbone import Architecture
from otherhalf.training.loop import TrainingSettings

# Every level of the tree holds something that is not its default.
OWN = Settings(
    scaling="row",
    complement=ComplementSettings(
        encoder=EncoderSettings(
            kind="gat", shape=Architecture(hidden=7, norm="layer"), training=TrainingSettings(lr=0.5)
        ),
        head=HeadSettings(
            width=3, ranking_k=4, mean_ranking_loss=False, training=TrainingSettings(patience=9)
        ),
        k_homophily=1,
        k_heterophily=2,
        max_candidates=33,
    ),
    goal=GOALSettings(
        shape=Architecture(layers=5, residual=True, trunk="features", output="linear"),
        coefficients=(0.0, 5.0, 0.25, 1.0),
        learn_coefficients=True,
        bias=True,
        training=TrainingSettings(epochs=12, weight_decay=0.0),
    ),
)


@pytest.mark.parametrize("settings", [Settings(), OWN], ids=["default", "own"])
def test_back_from_json_as_they_were(settings):
    read = from_dict(Settings, json.loads(json.dumps(to_dict(settings))))
    assert read == settings
    assert isinstance(read.goal.coefficients, tuple)  # JSON made a list of it
    assert isinstance(read.complement.encoder.shape, Architecture)
    hash(read)  # frozen all the way down, as a key must be


def test_any_part_of_the_tree_by_itself():
    assert from_dict(TrainingSettings, to_dict(OWN.goal.training)) == OWN.goal.training


def test_the_dictionary_is_plain_and_named_as_the_settings_are():
    values = to_dict(OWN)
    assert values["complement"]["encoder"]["shape"]["hidden"] == 7
    assert values["complement"]["head"]["training"]["patience"] == 9
    assert values["goal"]["coefficients"] == (0.0, 5.0, 0.25, 1.0)


def test_a_changed_value_is_another_settings():
    assert replace(OWN, scaling="none") != OWN


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(FrozenInstanceError):
        OWN.goal.training.lr = 1.0


# ---------------------------------------------------------------------- what cannot be trained with


def with_goal(**options) -> Settings:
    return Settings(goal=GOALSettings(**options))


def with_encoder(**options) -> Settings:
    return Settings(complement=ComplementSettings(encoder=EncoderSettings(**options)))


@pytest.mark.parametrize("settings", [Settings(), OWN], ids=["default", "own"])
def test_settings_that_can_be_trained_with_pass(settings):
    check_settings(settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            with_encoder(kind="transformer"),
            "there is no encoder 'transformer': choose one of auto, gcn-plain, mlp, gcn",
        ),
        (with_encoder(shape=Architecture(norm="group")), "there is no norm 'group'"),
        (with_goal(shape=Architecture(norm="group")), "there is no norm 'group'"),
        (Settings(complement=ComplementSettings(k_homophily=0)), "k=0 is too small: give 1 or more"),
        (Settings(complement=ComplementSettings(k_heterophily=0)), "k=0 is too small: give 1 or more"),
        (Settings(complement=ComplementSettings(max_candidates=0)), "max_candidates=0 is too small"),
        (with_goal(coefficients=(1, 1, 1)), "are not four numbers from 0 to 5"),
        (with_goal(coefficients=(1, 1, 1, 5.5)), "are not four numbers from 0 to 5"),
        (with_goal(coefficients=(1, 1, float("nan"), 1)), "are not four numbers from 0 to 5"),
        (with_goal(shape=Architecture(hidden=0)), "hidden=0 is too small"),
        (with_goal(shape=Architecture(layers=0)), "layers=0 is too small"),
        (with_goal(shape=Architecture(dropout=1.0)), "the dropout 1.0 is not a share below 1"),
        (with_goal(shape=Architecture(dropout=-0.1)), "the dropout -0.1 is not a share below 1"),
        (with_goal(training=TrainingSettings(lr=0.0)), "lr=0.0 is not above 0"),
        (with_goal(training=TrainingSettings(lr=float("nan"))), "lr=nan is not above 0"),
        (with_goal(training=TrainingSettings(weight_decay=-1.0)), "weight_decay=-1.0 is too small"),
        (with_goal(training=TrainingSettings(epochs=0)), "epochs=0 is too small"),
        (with_encoder(training=TrainingSettings(patience=0)), "patience=0 is too small"),
        (with_encoder(shape=Architecture(layers=1)), "the encoder's layers=1 is too small: give 2 or more"),
        (Settings(scaling="log"), "there is no scaling 'log': choose one of none, row, standard, auto"),
    ],
)
def test_settings_that_cannot_be_trained_with_are_refused(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        check_settings(settings)


@pytest.mark.parametrize("scaling", ["none", "row", "standard", "auto"])
def test_a_scaling_that_is_known_passes(scaling):
    check_scaling(scaling)


def test_a_scaling_that_is_not_known_is_refused():
    with pytest.raises(
        InputError, match="there is no scaling 'log': choose one of none, row, standard, auto"
    ):
        check_scaling("log")


def test_a_frame_by_itself_may_have_one_layer():
    check_frame(Architecture(layers=1, dropout=0.0), TrainingSettings(epochs=1, patience=1, weight_decay=0.0))


@pytest.mark.parametrize(
    ("shape", "training", "sentence"),
    [
        ({"norm": "group"}, {}, "there is no norm 'group': choose one of none, layer, batch"),
        ({"trunk": "oak"}, {}, "there is no trunk 'oak'"),
        ({"output": "tree"}, {}, "there is no output 'tree': choose one of layer, linear"),
        ({"hidden": 0}, {}, "hidden=0 is too small: give 1 or more"),
        ({"layers": 0}, {}, "layers=0 is too small: give 1 or more"),
        ({"dropout": 1.0}, {}, "the dropout 1.0 is not a share below 1"),
        ({"dropout": float("nan")}, {}, "the dropout nan is not a share below 1"),
        ({}, {"lr": float("inf")}, "lr=inf is not above 0"),
        ({}, {"weight_decay": float("nan")}, "weight_decay=nan is too small"),
        ({}, {"epochs": 0}, "epochs=0 is too small"),
        ({}, {"patience": 0}, "patience=0 is too small"),
    ],
)
def test_a_frame_that_nothing_can_be_trained_with_is_refused(shape, training, sentence):
    with pytest.raises(InputError, match=sentence):
        check_frame(Architecture(**shape), TrainingSettings(**training))


def test_numpys_numbers_can_be_written():
    values = {"lr": np.float32(0.5), "epochs": np.int64(3), "bias": np.bool_(True)}
    assert json.loads(json.dumps(values, default=plain_number)) == {"lr": 0.5, "epochs": 3, "bias": True}
    with pytest.raises(TypeError, match="set cannot be written to JSON"):
        json.dumps({"a": {1}}, default=plain_number)
