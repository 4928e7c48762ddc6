"""The two presets: ``best``, the default, and ``paper``, which follows the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.settings import Settings

PRESETS = ("best", "paper")


def preset_settings(preset: str, graph: Graph) -> Settings:
    """The settings of a preset for this graph."""
    if preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}: choose one of {', '.join(PRESETS)}")
    return Settings()


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
