"""Settings go to JSON and come back the same, under names that outlive Python's; wrong ones are noticed."""

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from otherhalf.complement.settings import ComplementSettings, EncoderSettings, HeadSettings
from otherhalf.errors import InputError
from otherhalf.estimators.settings import BaselineSettings, GOALSettings, Settings, check_settings
from otherhalf.nn.backbone import Architecture
from otherhalf.system.fields import from_dict, to_dict
from otherhalf.training.loop import TrainingSettings

# Every level of the tree holds something that is not its default.
CHANGED = Settings(
    scaling="row",
    complement=ComplementSettings(
        encoder=EncoderSettings(
            kind="appnp",
            architecture=Architecture(hidden=7, norm="layer"),
            training=TrainingSettings(lr=0.5),
            own_options={"teleport": 0.3},
        ),
        head=HeadSettings(
            width=3, ranking_k=4, mean_ranking_loss=False, training=TrainingSettings(patience=9)
        ),
        k_homophily=1,
        k_heterophily=2,
        max_candidates=33,
    ),
    goal=GOALSettings(
        architecture=Architecture(layers=5, residual=True, trunk="features", output="linear"),
        coefficients=(0.0, 5.0, 0.25, 1.0),
        learn_coefficients=True,
        bias=True,
        training=TrainingSettings(epochs=12, weight_decay=0.0),
    ),
)
BASELINE = BaselineSettings("gprgnn", "row", Architecture(layers=3), TrainingSettings(lr=1.0), {"steps": 4})


@pytest.mark.parametrize("settings", [Settings(), CHANGED, BASELINE], ids=["default", "own", "baseline"])
def test_back_from_json_as_they_were(settings):
    assert from_dict(type(settings), json.loads(json.dumps(to_dict(settings)))) == settings


def test_the_names_in_files_are_those_of_the_first_version():
    values = to_dict(CHANGED)
    encoder = values["complement"]["encoder"]
    assert set(encoder) == {"kind", "shape", "training", "teleport"}
    assert encoder["shape"]["hidden"] == 7
    assert values["complement"]["head"]["training"]["patience"] == 9
    assert values["goal"]["coefficients"] == (0.0, 5.0, 0.25, 1.0)
    assert set(values["goal"]) == {
        *("shape", "coefficients", "learn_coefficients", "bias", "blend", "training")
    }
    assert set(to_dict(BASELINE)) == {"kind", "scaling", "shape", "training", "walks"}


def test_options_that_are_null_in_an_older_file_are_none():
    values = to_dict(CHANGED.complement.encoder) | {"steps": None, "walk_dropout": None}
    assert from_dict(EncoderSettings, values) == CHANGED.complement.encoder


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(FrozenInstanceError):
        CHANGED.goal.training.lr = 1.0
    assert replace(CHANGED, scaling="none") != CHANGED


# ---------------------------------------------------------------------- what cannot be trained with


def with_goal(**options) -> Settings:
    return Settings(goal=GOALSettings(**options))


def with_encoder(**options) -> Settings:
    return Settings(complement=ComplementSettings(encoder=EncoderSettings(**options)))


@pytest.mark.parametrize("settings", [Settings(), CHANGED, BASELINE], ids=["default", "own", "baseline"])
def test_settings_that_can_be_trained_with_pass(settings):
    check_settings(settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (with_encoder(kind="transformer"), "encoder must be one of auto, gcn-plain, mlp, gcn"),
        (
            with_encoder(architecture=Architecture(norm="group")),
            "the encoder's norm must be one of none, layer, batch, not 'group'",
        ),
        (with_goal(architecture=Architecture(norm="group")), "norm must be one of none, layer, batch"),
        (with_goal(architecture=Architecture(trunk="oak")), "trunk must be one of none, features"),
        (with_goal(architecture=Architecture(output="tree")), "output must be one of layer, linear"),
        (Settings(complement=ComplementSettings(k_homophily=0)), "k must be an integer ≥ 1, not 0"),
        (Settings(complement=ComplementSettings(k_heterophily=0)), "k must be an integer ≥ 1, not 0"),
        (Settings(complement=ComplementSettings(max_candidates=0)), "max_candidates must be an integer ≥ 1"),
        (
            Settings(complement=ComplementSettings(head=HeadSettings(ranking_k=0))),
            "the head's ranking_k must be an integer ≥ 1, not 0",
        ),
        (with_goal(coefficients=(1, 1, 1)), r"coefficients must be 4 numbers from 0 to 5, not \(1, 1, 1\)"),
        (with_goal(coefficients=(1, 1, 1, 5.5)), "coefficients must be 4 numbers from 0 to 5"),
        (with_goal(coefficients=(1, 1, float("nan"), 1)), "coefficients must be 4 numbers from 0 to 5"),
        (with_goal(blend="yes"), "blend must be True or False, not 'yes'"),
        (with_goal(architecture=Architecture(hidden=0)), "hidden must be an integer ≥ 1 and ≤ 100000, not 0"),
        (
            with_goal(architecture=Architecture(layers=2.5)),
            "layers must be an integer ≥ 1 and ≤ 1000, not 2.5",
        ),
        (with_goal(architecture=Architecture(dropout=1.0)), "dropout must be a number ≥ 0 and < 1, not 1.0"),
        (with_goal(training=TrainingSettings(lr=0.0)), "lr must be a number > 0, not 0.0"),
        (with_goal(training=TrainingSettings(lr=float("inf"))), "lr must be a number > 0, not inf"),
        (with_goal(training=TrainingSettings(weight_decay=-1.0)), "weight_decay must be a number ≥ 0"),
        (with_goal(training=TrainingSettings(epochs=0)), "epochs must be an integer ≥ 1, not 0"),
        (
            with_encoder(training=TrainingSettings(patience=0)),
            "the encoder's patience must be an integer ≥ 1",
        ),
        (with_encoder(architecture=Architecture(layers=1)), "the encoder's layers must be an integer ≥ 2"),
        (with_encoder(kind="gcn", own_options={"steps": 3}), "gcn has no option 'steps': leave it out"),
        (with_encoder(kind="auto", own_options={"steps": 3}), "encoder auto has no option 'steps'"),
        (Settings(scaling="log"), "scaling must be one of none, row, standard, auto, not 'log'"),
        (replace(BASELINE, kind="forest"), "there is no model 'forest': choose one of mlp, gcn"),
        (replace(BASELINE, own_options={"steps": 0}), "steps must be an integer ≥ 1 and ≤ 1000, not 0"),
    ],
)
def test_settings_that_cannot_be_trained_with(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        check_settings(settings)
