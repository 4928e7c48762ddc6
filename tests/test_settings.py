"""Settings go to JSON and come back the same."""

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from otherhalf.nn.skeleton import Shape
from otherhalf.settings import (
    ComplementSettings,
    EncoderSettings,
    GOALSettings,
    HeadSettings,
    Settings,
    from_dict,
    to_dict,
)
from otherhalf.training import TrainingSettings

# Every level of the tree holds something that is not its default.
OWN = Settings(
    scaling="row",
    complement=ComplementSettings(
        encoder=EncoderSettings(
            kind="gat", shape=Shape(hidden=7, norm="layer"), training=TrainingSettings(lr=0.5)
        ),
        head=HeadSettings(
            width=3, ranking_k=4, mean_ranking_loss=False, training=TrainingSettings(patience=9)
        ),
        k_homophily=1,
        k_heterophily=2,
        max_candidates=33,
    ),
    goal=GOALSettings(
        shape=Shape(layers=5, residual=True, trunk="features", output="linear"),
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
    assert isinstance(read.complement.encoder.shape, Shape)
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
