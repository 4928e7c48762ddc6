"""What a preset gives, and what a user may say instead."""

from dataclasses import replace

import pytest

from otherhalf import InputError
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.presets import OVERRIDES, PRESETS, preset_settings, settle, with_overrides
from otherhalf.estimators.settings import check_settings

GRAPH = contextual_sbm(num_nodes=50, seed=0)

# For every override a value, and where it has to arrive.
ARRIVES = {
    "scaling": ("row", lambda s: s.scaling),
    "encoder": ("gat", lambda s: s.complement.encoder.kind),
    "max_candidates": (123, lambda s: s.complement.max_candidates),
    "coefficients": ((1, 2, 3, 4), lambda s: s.goal.coefficients),
    "learn_coefficients": (None, lambda s: s.goal.learn_coefficients),
    "blend": (None, lambda s: s.goal.blend),
    "hidden": (7, lambda s: s.goal.shape.hidden),
    "layers": (9, lambda s: s.goal.shape.layers),
    "dropout": (0.123, lambda s: s.goal.shape.dropout),
    "norm": ("batch", lambda s: s.goal.shape.norm),
    "residual": (None, lambda s: s.goal.shape.residual),
    "lr": (0.77, lambda s: s.goal.training.lr),
    "weight_decay": (0.078, lambda s: s.goal.training.weight_decay),
    "epochs": (11, lambda s: s.goal.training.epochs),
    "patience": (5, lambda s: s.goal.training.patience),
    "k": (17, lambda s: (s.complement.k_homophily, s.complement.k_heterophily)),
}


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_can_be_trained_with(preset):
    check_settings(preset_settings(preset, GRAPH.name))


def test_unknown_preset():
    with pytest.raises(InputError, match="there is no preset 'quick': choose one of best, paper"):
        preset_settings("quick", GRAPH.name)


@pytest.mark.parametrize("name", OVERRIDES)
def test_an_override_arrives_and_moves_nothing_else(name):
    before = preset_settings("best", GRAPH.name)
    value, read = ARRIVES[name]
    value = not read(before) if value is None else value  # for a switch: the other way
    after = with_overrides(before, {name: value})
    assert read(after) == ((value, value) if name == "k" else value)
    assert read(before) != read(after)
    back = (
        replace(
            after,
            complement=replace(
                after.complement,
                k_homophily=before.complement.k_homophily,
                k_heterophily=before.complement.k_heterophily,
            ),
        )
        if name == "k"
        else with_overrides(after, {name: read(before)})
    )
    assert back == before


def test_no_override_changes_nothing():
    assert with_overrides(preset_settings("best", GRAPH.name), {}) == preset_settings("best", GRAPH.name)


def test_the_frame_follows_the_encoder():
    best = preset_settings("best", GRAPH.name)
    framed = best.complement.encoder.shape
    plain = replace(framed, norm="none", residual=False)

    rows = settle(best, "structure", framed, {}).goal.shape
    assert (rows.trunk, rows.output, rows.norm, rows.residual) == (
        "features+neighbours",
        "linear",
        "layer",
        True,
    )
    without = settle(best, "gcn", plain, {}).goal.shape
    assert (without.trunk, without.output, without.norm, without.residual) == ("none", "layer", "none", False)
    own = settle(best, "gcn", plain, {"norm": "batch", "lr": 0.5}).goal.shape
    assert (own.norm, own.residual) == ("batch", False)


def test_the_chosen_encoder_is_written_down():
    best = preset_settings("best", GRAPH.name)
    plain = replace(best.complement.encoder.shape, norm="none")
    chosen = settle(best, "gcn", plain, {}).complement.encoder
    assert (chosen.kind, chosen.shape) == ("gcn", plain)


def test_a_frame_that_is_settled_stays():
    paper = preset_settings("paper", GRAPH.name)
    assert settle(paper, "structure", paper.complement.encoder.shape, {}).goal == paper.goal


def test_an_encoder_may_have_options_of_its_own():
    before = preset_settings("best", "")
    own = {"kind": "appnp", "hidden": 7, "dropout": 0.1, "lr": 0.5, "steps": 3, "teleport": 0.4}
    encoder = with_overrides(before, {"encoder": own}).complement.encoder
    assert (encoder.kind, encoder.shape.hidden, encoder.shape.dropout) == ("appnp", 7, 0.1)
    assert (encoder.training.lr, encoder.steps, encoder.teleport) == (0.5, 3, 0.4)
    assert encoder.training.epochs == before.complement.encoder.training.epochs
    check_settings(with_overrides(before, {"encoder": own}))


@pytest.mark.parametrize("own", [{"hidden": 7}, {"kind": "gcn", "colour": "red"}])
def test_options_that_no_encoder_has_are_refused(own):
    with pytest.raises(InputError, match="give a name, or a dictionary with kind and, if need be, hidden"):
        with_overrides(preset_settings("best", ""), {"encoder": own})


def test_an_encoder_that_does_not_walk_takes_no_steps():
    settings = with_overrides(preset_settings("best", ""), {"encoder": {"kind": "gcn", "steps": 3}})
    with pytest.raises(InputError, match="gcn has no steps: leave it out"):
        check_settings(settings)
