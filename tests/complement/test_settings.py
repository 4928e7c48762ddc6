"""Settings of the complementation: their names in files, and one clear sentence for each wrong value."""

import json
from dataclasses import replace

import pytest

from otherhalf.complement.settings import (
    ComplementSettings,
    EncoderSettings,
    HeadSettings,
    KernelSettings,
    check_complement,
)
from otherhalf.errors import InputError
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.registry import MODELS
from otherhalf.system.fields import check, from_dict, to_dict
from otherhalf.training.loop import TrainingSettings


def with_encoder(**options) -> ComplementSettings:
    return ComplementSettings(encoder=EncoderSettings(**options))


def with_head(**options) -> ComplementSettings:
    return ComplementSettings(head=HeadSettings(**options))


@pytest.mark.parametrize("kind", ["auto", "gcn-plain", *MODELS])
def test_every_encoder_is_allowed(kind):
    check_complement(with_encoder(kind=kind))


def test_own_options_of_the_model_are_allowed_and_none_is_the_default():
    check_complement(with_encoder(kind="appnp", own_options={"steps": 3, "teleport": None}))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        # k = 0 once gave an empty half.
        (ComplementSettings(k_homophily=0), "k must be an integer ≥ 1, not 0"),
        (ComplementSettings(k_heterophily=0), "k must be an integer ≥ 1, not 0"),
        (ComplementSettings(k_homophily=2.5), "k must be an integer ≥ 1, not 2.5"),
        (ComplementSettings(max_candidates=0), "max_candidates must be an integer ≥ 1, not 0"),
        # An unknown encoder was once a KeyError.
        (
            with_encoder(kind="transformer"),
            f"encoder must be one of auto, gcn-plain, {', '.join(MODELS)}, not 'transformer'",
        ),
        (
            with_encoder(kind="gcn", own_options={"steps": 3}),
            "gcn has no option 'steps': leave it out (gcn has no options of its own)",
        ),
        (
            with_encoder(kind="appnp", own_options={"walk_dropout": 0.5}),
            "appnp has no option 'walk_dropout': leave it out (appnp has steps, teleport)",
        ),
        (
            with_encoder(kind="appnp", own_options={"steps": 0}),
            "steps must be an integer ≥ 1 and ≤ 1000, not 0",
        ),
        (
            with_encoder(kind="auto", own_options={"steps": 3}),
            "the encoder auto has no option 'steps': leave it out",
        ),
        (
            with_encoder(kind="gcn-plain", own_options={"steps": 3}),
            "the encoder gcn-plain has no option 'steps': leave it out",
        ),
        (
            with_encoder(architecture=Architecture(layers=1)),
            "the encoder's layers must be an integer ≥ 2, not 1",
        ),
        (
            with_encoder(architecture=Architecture(norm="group")),
            "the encoder's norm must be one of none, layer, batch, not 'group'",
        ),
        (
            with_encoder(architecture=Architecture(dropout=1.0)),
            "the encoder's dropout must be a number ≥ 0 and < 1, not 1.0",
        ),
        (
            with_encoder(training=TrainingSettings(patience=0)),
            "the encoder's patience must be an integer ≥ 1, not 0",
        ),
        (
            with_encoder(training=TrainingSettings(lr=float("nan"))),
            "the encoder's lr must be a number > 0, not nan",
        ),
        (with_head(width=0), "the head's width must be an integer ≥ 1 and ≤ 100000, not 0"),
        (with_head(ranking_k=0), "the head's ranking_k must be an integer ≥ 1, not 0"),
        (with_head(max_candidates=0), "the head's max_candidates must be an integer ≥ 1, not 0"),
        (with_head(mean_ranking_loss="yes"), "the head's mean_ranking_loss must be True or False, not 'yes'"),
        (
            with_head(training=TrainingSettings(epochs=0)),
            "the head's epochs must be an integer ≥ 1, not 0",
        ),
    ],
)
def test_wrong_settings_are_one_clear_sentence(settings, sentence):
    with pytest.raises(InputError) as caught:
        check_complement(settings)
    assert str(caught.value) == sentence


def test_names_in_files_stay_those_of_earlier_versions():
    settings = with_encoder(kind="appnp", own_options={"steps": 3})
    values = to_dict(settings)
    assert set(values) == {"encoder", "head", "k_homophily", "k_heterophily", "max_candidates"}
    assert set(values["encoder"]) == {"kind", "shape", "training", "steps"}
    assert set(values["encoder"]["shape"]) == {
        "hidden",
        "layers",
        "dropout",
        "norm",
        "residual",
        "trunk",
        "output",
    }
    assert set(values["head"]) == {
        "width",
        "layers",
        "dropout",
        "ranking_k",
        "max_candidates",
        "mean_ranking_loss",
        "training",
    }
    assert set(values["head"]["training"]) == {"lr", "weight_decay", "epochs", "patience"}
    assert from_dict(ComplementSettings, json.loads(json.dumps(values))) == settings


def test_settings_of_a_file_with_every_option_of_earlier_versions():
    # They wrote all options of all models, None for those that were not given.
    values = to_dict(with_encoder(kind="appnp"))
    values["encoder"] |= {"steps": 5, "teleport": None, "walk_dropout": None}
    settings = from_dict(ComplementSettings, values)
    assert settings == with_encoder(kind="appnp", own_options={"steps": 5})
    check_complement(settings)
    assert replace(settings, k_homophily=3).encoder.own_options == {"steps": 5}


# ---------------------------------------------------------------------- by leave-one-out


def test_names_of_the_kernel_settings_in_files():
    settings = KernelSettings(k=3, exact=100, landmarks=50, max_candidates=70, nodes=20, steps=0)
    values = to_dict(settings)
    assert set(values) == {"k", "exact", "landmarks", "max_candidates", "nodes", "steps"}
    assert from_dict(KernelSettings, json.loads(json.dumps(values))) == settings
    assert from_dict(KernelSettings, {}) == KernelSettings()


@pytest.mark.parametrize("name", ["k", "exact", "landmarks", "max_candidates", "nodes"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3", None])
def test_wrong_kernel_settings_are_one_clear_sentence(name, value):
    with pytest.raises(InputError) as caught:
        check(KernelSettings(**{name: value}))
    assert str(caught.value) == f"{name} must be an integer ≥ 1, not {value!r}"


def test_the_kernels_may_be_learned_in_no_steps_but_not_in_fewer():
    check(KernelSettings(steps=0))
    with pytest.raises(InputError, match="steps must be an integer ≥ 0, not -1"):
        check(KernelSettings(steps=-1))
