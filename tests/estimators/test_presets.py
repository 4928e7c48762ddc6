"""What a preset gives, and how a user's values replace it."""

from dataclasses import replace

import pytest

from otherhalf import GOALClassifier, InputError, find_missing_half, load, split
from otherhalf.data.entries import catalogue_name
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.presets import (
    OVERRIDES,
    PAPER,
    PRESETS,
    UNSEEN,
    default_follow,
    preset_settings,
    resolve_architecture,
    with_overrides,
)
from otherhalf.estimators.settings import check_settings

# For every override a value, and where it has to arrive.
ARRIVES = {
    "scaling": ("row", lambda s: s.scaling),
    "encoder": ("gat", lambda s: s.complement.encoder.kind),
    "max_candidates": (123, lambda s: s.complement.max_candidates),
    "coefficients": ((1, 2, 3, 4), lambda s: s.goal.coefficients),
    "learn_coefficients": (None, lambda s: s.goal.learn_coefficients),
    "blend": (None, lambda s: s.goal.blend),
    "hidden": (7, lambda s: s.goal.architecture.hidden),
    "layers": (9, lambda s: s.goal.architecture.layers),
    "dropout": (0.123, lambda s: s.goal.architecture.dropout),
    "norm": ("batch", lambda s: s.goal.architecture.norm),
    "residual": (None, lambda s: s.goal.architecture.residual),
    "lr": (0.77, lambda s: s.goal.training.lr),
    "weight_decay": (0.078, lambda s: s.goal.training.weight_decay),
    "epochs": (11, lambda s: s.goal.training.epochs),
    "patience": (5, lambda s: s.goal.training.patience),
    "k": (17, lambda s: (s.complement.k_homophily, s.complement.k_heterophily)),
    "method": ("kernel", lambda s: s.method),
    "class_weight": ("balanced", lambda s: s.class_weight),
    "kernel": ({"steps": 4}, lambda s: {"steps": s.kernel.steps}),
    "ensemble": ({"plain": 4}, lambda s: {"plain": s.ensemble.plain}),
}


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_can_be_trained_with(preset):
    check_settings(preset_settings(preset))


def test_unknown_preset():
    with pytest.raises(InputError, match="preset must be one of best, paper, not 'quick'"):
        preset_settings("quick")


@pytest.mark.parametrize("name", OVERRIDES)
def test_an_override_arrives_and_moves_nothing_else(name):
    before = with_overrides(preset_settings("best"), {"method": "embedding"})
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
    assert with_overrides(preset_settings("best"), {}) == preset_settings("best")


def test_the_classifier_adopts_the_architecture_of_the_encoder():
    best = with_overrides(preset_settings("best"), {"method": "embedding"})
    with_norm = best.complement.encoder.architecture
    without_norm = replace(with_norm, norm="none", residual=False)

    rows = resolve_architecture(best, "structure", with_norm, {}).goal.architecture
    assert (rows.trunk, rows.output, rows.norm, rows.residual) == (
        "features+neighbours",
        "linear",
        "layer",
        True,
    )
    without = resolve_architecture(best, "gcn", without_norm, {}).goal.architecture
    assert (without.trunk, without.output, without.norm, without.residual) == ("none", "layer", "none", False)
    own = resolve_architecture(best, "gcn", without_norm, {"norm": "batch", "lr": 0.5}).goal.architecture
    assert (own.norm, own.residual) == ("batch", False)


def test_the_chosen_encoder_is_kept():
    best = with_overrides(preset_settings("best"), {"method": "embedding"})
    without_norm = replace(best.complement.encoder.architecture, norm="none")
    chosen = resolve_architecture(best, "gcn", without_norm, {}).complement.encoder
    assert (chosen.kind, chosen.architecture) == ("gcn", without_norm)


def test_an_architecture_without_auto_stays():
    paper = preset_settings("paper")
    assert (
        resolve_architecture(paper, "structure", paper.complement.encoder.architecture, {}).goal == paper.goal
    )


def test_an_encoder_may_have_options_of_its_own():
    before = preset_settings("best", "")
    own = {"kind": "appnp", "hidden": 7, "dropout": 0.1, "lr": 0.5, "steps": 3, "teleport": 0.4}
    encoder = with_overrides(before, {"encoder": own}).complement.encoder
    assert (encoder.kind, encoder.architecture.hidden, encoder.architecture.dropout) == ("appnp", 7, 0.1)
    assert encoder.own_options == {"steps": 3, "teleport": 0.4}
    assert encoder.training.lr == 0.5
    assert encoder.training.epochs == before.complement.encoder.training.epochs
    check_settings(with_overrides(before, {"encoder": own}))


def test_an_encoder_needs_a_kind():
    with pytest.raises(InputError, match="has no kind: give a name, or a dictionary with kind in it"):
        with_overrides(preset_settings("best"), {"encoder": {"hidden": 7}})


@pytest.mark.parametrize("option", ["colour", "steps"])
def test_an_option_that_the_encoder_does_not_have(option):
    settings = with_overrides(preset_settings("best"), {"encoder": {"kind": "gcn", option: 3}})
    with pytest.raises(InputError, match=f"gcn has no option '{option}': leave it out"):
        check_settings(settings)


def test_the_name_of_a_graph_does_not_choose_the_papers_settings():
    """A table called pubmed.csv gave a graph that was fitted with the settings of Pubmed."""
    impostor = replace(contextual_sbm(num_nodes=60, seed=0), name="pubmed")
    assert catalogue_name(impostor) == ""
    model = GOALClassifier("paper", epochs=1, encoder={"kind": "mlp", "epochs": 1}).fit(impostor)
    assert model.settings_.goal.coefficients == UNSEEN.coefficients != PAPER["pubmed"].coefficients
    half = find_missing_half(impostor, split(impostor), preset="paper")
    assert half.k != PAPER["pubmed"].k


def test_the_content_of_a_graph_does(data_dir, monkeypatch):
    monkeypatch.setenv("OTHERHALF_DATA", str(data_dir))
    assert catalogue_name(load("cora")) == "cora"
    settings = GOALClassifier("paper").check_fit(load("cora"), split(load("cora")))
    assert settings.goal.coefficients == PAPER["cora"].coefficients


def test_an_encoder_or_a_blend_means_the_embedding():
    best = preset_settings("best")
    assert best.method == "kernel"
    for given in ({"encoder": "gcn"}, {"blend": True}):
        assert with_overrides(best, given).method == "embedding"
    assert with_overrides(best, {"encoder": "gcn", "method": "kernel"}).method == "kernel"
    assert preset_settings("paper").method == "embedding"


def test_the_labels_decide_but_in_the_papers_method_the_ks_statistic():
    """The records of the embedding were made so, and their keys do not hold the verdict."""
    assert (default_follow("kernel"), default_follow("embedding")) == ("labels", "ks")


def test_k_and_candidates_of_the_kernel():
    after = with_overrides(preset_settings("best"), {"k": 17, "max_candidates": 123})
    assert (after.kernel.k, after.kernel.max_candidates) == (17, 123)
    assert after.complement == preset_settings("best").complement
