"""The two presets: ``best``, the default, and ``paper``, which follows the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.skeleton import Shape
from otherhalf.settings import ComplementSettings, EncoderSettings, GOALSettings, HeadSettings, Settings
from otherhalf.training import TrainingSettings

PRESETS = ("best", "paper")

BEST = Settings(
    scaling="auto",
    complement=ComplementSettings(
        encoder=EncoderSettings(
            kind="auto",
            shape=Shape(hidden=64, layers=2, dropout=0.5, norm="layer", residual=True),
            training=TrainingSettings(lr=0.01, weight_decay=5e-4, epochs=300, patience=60),
        ),
        head=HeadSettings(training=TrainingSettings(lr=0.01, weight_decay=0.0, epochs=200, patience=50)),
        k_homophily=10,
        k_heterophily=10,
    ),
    goal=GOALSettings(
        shape=Shape(
            hidden=64, layers=2, dropout=0.5, norm="layer", residual=True, trunk="auto", output="linear"
        ),
        coefficients=(1.0, 1.0, 0.1, 0.1),
        learn_coefficients=True,
        bias=True,
        training=TrainingSettings(lr=0.01, weight_decay=5e-4, epochs=300, patience=60),
    ),
)
"""An encoder chosen on validation, norm, residual, dropout, a skip to the output, learned coefficients.

The heterophilic terms start small: on a homophilous graph they mostly subtract noise at first, and training
raises them where they help.
"""


def preset_settings(preset: str, graph: Graph) -> Settings:
    """The settings of a preset for this graph."""
    if preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}: choose one of {', '.join(PRESETS)}")
    return BEST


def with_trunk(settings: Settings, encoder: str) -> Settings:
    """Settle a trunk left to ``auto``: adjacency rows help the classifier where they helped the encoder."""
    if settings.goal.shape.trunk != "auto":
        return settings
    trunk = "features+neighbours" if encoder == "structure" else "features"
    return replace(settings, goal=replace(settings.goal, shape=replace(settings.goal.shape, trunk=trunk)))


SHAPE = ("hidden", "layers", "dropout", "norm", "residual")
TRAINING = ("lr", "weight_decay", "epochs", "patience")
OVERRIDES = ("encoder", "k", "coefficients", "learn_coefficients", "max_candidates", *SHAPE, *TRAINING)
"""What a user may say instead of a preset."""


def with_overrides(settings: Settings, own: dict[str, Any]) -> Settings:
    """The settings with what the user said put in."""
    complement, goal = settings.complement, settings.goal
    if "encoder" in own:
        complement = replace(complement, encoder=replace(complement.encoder, kind=own["encoder"]))
    if "k" in own:
        complement = replace(complement, k_homophily=own["k"], k_heterophily=own["k"])
    if "max_candidates" in own:
        complement = replace(complement, max_candidates=own["max_candidates"])
    goal = replace(
        goal,
        shape=replace(goal.shape, **{key: own[key] for key in SHAPE if key in own}),
        training=replace(goal.training, **{key: own[key] for key in TRAINING if key in own}),
        **{key: own[key] for key in ("coefficients", "learn_coefficients") if key in own},
    )
    return replace(settings, complement=complement, goal=goal)
