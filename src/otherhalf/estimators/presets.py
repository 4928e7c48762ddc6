"""The two presets: ``best``, the default, and ``paper``, which follows the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from otherhalf.errors import InputError
from otherhalf.estimators.settings import (
    ComplementSettings,
    EncoderSettings,
    GOALSettings,
    HeadSettings,
    Settings,
)
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.registry import WALKS
from otherhalf.training.loop import TrainingSettings

PRESETS = ("best", "paper")

WITH_ROWS = ("structure", "linkx", "acmgcn")
"""Encoders that read the rows of the adjacency matrix."""

BEST = Settings(
    scaling="auto",
    complement=ComplementSettings(
        encoder=EncoderSettings(
            kind="auto",
            shape=Architecture(hidden=64, layers=2, dropout=0.5, norm="layer", residual=True),
            training=TrainingSettings(lr=0.01, weight_decay=5e-4, epochs=300, patience=60),
        ),
        head=HeadSettings(training=TrainingSettings(lr=0.01, weight_decay=0.0, epochs=200, patience=50)),
        k_homophily=10,
        k_heterophily=10,
    ),
    goal=GOALSettings(
        shape=Architecture(hidden=64, layers=2, dropout=0.7, norm="layer", residual=True, trunk="auto"),
        coefficients=(1.0, 1.0, 0.1, 0.1),
        learn_coefficients=True,
        bias=True,
        blend=True,
        training=TrainingSettings(lr=0.01, weight_decay=5e-4, epochs=300, patience=60),
    ),
)
"""An encoder chosen on validation, whose frame the classifier takes over; learned coefficients; both blended.

The heterophilic terms start small: on a homophilous graph they mostly subtract noise at first, and training
raises them where they help. The classifier's dropout is higher than the encoder's, because the missing half
is purer around training nodes than it will be around the others.
"""


# ---------------------------------------------------------------------- paper


@dataclass(frozen=True)
class PaperChoice:
    """What differs from one data set of the paper to the next."""

    coefficients: tuple[float, float, float, float]
    encoder: str = "gcn"
    k: int = 100
    scaling: str = "none"
    hidden: int = 64
    lr: float = 0.01


# The paper gives the operator, the losses and the range of the coefficients, but no settings. The authors'
# released code has some, for another layer (it normalises rows and adds self loops in Â_o only). They are
# kept below where the paper's own operator does well with them. Where it does not, or where there are none
# (Cora), the choice is the best of a handful on the mean validation accuracy of split seeds 50 – 52.
# GAT is the paper's example of an encoder; a GCN is faster, and its missing half as pure (docs/trials.md).
PAPER = {
    # No released setting.
    "cora": PaperChoice((0.5, 2, 0.1, 0.1), k=10, scaling="row", hidden=128),
    # Released: (1, 0.5, 1.5, 0.5), which has 77.1 on validation where this has 78.5.
    "citeseer": PaperChoice((1, 1, 0.5, 0.5), scaling="row", hidden=128),
    "pubmed": PaperChoice((2.5, 2.5, 0.5, 0), k=1),
    # Many features, none negative: with a step of 0.01, the layers without the δ term often fail to train.
    "amazon_computers": PaperChoice((2, 4, 0, 1), lr=0.002),
    "amazon_photo": PaperChoice((1.5, 1.5, 2.5, 1)),
    # Released encoder: an unpublished high-pass network. The adjacency rows serve the same purpose.
    "chameleon": PaperChoice((0, 2, 2, 0), encoder="structure", k=10),
    "squirrel": PaperChoice((0, 5, 4, 0), encoder="structure", k=20),
    # Released: a second heterophilic half in place of the missing one, and the given edges unused, with
    # (1.5, 0, 3.5, 2). The paper complements Actor, which is heterophily-prone, by a homophilic half; with
    # that, those coefficients have 30.9 on validation where these have 38.8.
    "actor": PaperChoice((1, 2, 0.2, 0.2), encoder="mlp", k=10, scaling="row"),
}

UNSEEN = PaperChoice((1, 1, 1, 1))
"""For graphs that are not in the paper: the special case it derives (label ``eq:proof agc conv``)."""


def _paper(name: str) -> Settings:
    """Two plain layers H' = σ((αI + βÂ_o − γÂ_t − δÂ_tÂ_o)HW) with fixed coefficients.

    The ranking loss is the paper's sum over targets. The paper is silent on hidden width, dropout and
    stopping: those are the usual ones of GCN, with early stopping on validation.
    """
    choice = PAPER.get(name, UNSEEN)
    best = BEST.complement
    return Settings(
        scaling=choice.scaling if name in PAPER else "auto",
        complement=replace(
            best,
            encoder=replace(best.encoder, kind=choice.encoder),
            head=replace(best.head, mean_ranking_loss=False),
            k_homophily=choice.k if name in PAPER else best.k_homophily,
            k_heterophily=choice.k,
        ),
        goal=GOALSettings(
            shape=Architecture(hidden=choice.hidden, layers=2, dropout=0.5),
            coefficients=choice.coefficients,
            training=TrainingSettings(lr=choice.lr, weight_decay=5e-4, epochs=500, patience=100),
        ),
    )


def preset_settings(preset: str, name: str) -> Settings:
    """The settings of a preset for the graph of this name; ``paper`` knows those of the paper."""
    if preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}: choose one of {', '.join(PRESETS)}")
    return BEST if preset == "best" else _paper(name)


# ---------------------------------------------------------------------- what the user says instead


def settle(settings: Settings, encoder: str, shape: Architecture, own: dict[str, Any]) -> Settings:
    """Write down the encoder that was chosen, and settle a frame left to ``trunk="auto"`` after it.

    Adjacency rows go into the classifier where they went into the encoder, with a prediction layer that
    sees all hidden states. Else the classifier has no trunk, and norm and residual as the encoder has, or
    as the user said.
    """
    complement = replace(
        settings.complement, encoder=replace(settings.complement.encoder, kind=encoder, shape=shape)
    )
    goal = settings.goal
    if goal.shape.trunk == "auto":
        if encoder in WITH_ROWS:
            frame = replace(goal.shape, trunk="features+neighbours", output="linear")
        else:
            frame = replace(goal.shape, trunk="none", norm=shape.norm, residual=shape.residual)
        goal = replace(goal, shape=replace(frame, **{key: own[key] for key in SHAPE if key in own}))
    return replace(settings, complement=complement, goal=goal)


SHAPE = ("hidden", "layers", "dropout", "norm", "residual")
TRAINING = ("lr", "weight_decay", "epochs", "patience")
GOAL = ("coefficients", "learn_coefficients", "blend")
OVERRIDES = ("scaling", "encoder", "k", "max_candidates", *GOAL, *SHAPE, *TRAINING)
"""What a user may say instead of a preset."""


def _encoder(usual: EncoderSettings, own: str | dict[str, Any]) -> EncoderSettings:
    """The encoder that the user names, alone or with options of its own."""
    options: dict[str, Any] = dict(own) if isinstance(own, Mapping) else {"kind": own}
    unknown = set(options) - {"kind", *WALKS, *SHAPE, *TRAINING}
    if unknown or "kind" not in options:
        raise InputError(
            f"the encoder {own!r} is not known: give a name, or a dictionary with kind and, if need be, "
            f"{', '.join((*SHAPE, *TRAINING, *WALKS))}"
        )
    return replace(
        usual,
        kind=options["kind"],
        shape=replace(usual.shape, **{key: options[key] for key in SHAPE if key in options}),
        training=replace(usual.training, **{key: options[key] for key in TRAINING if key in options}),
        **{key: options.get(key) for key in WALKS},
    )


def with_overrides(settings: Settings, own: dict[str, Any]) -> Settings:
    """The settings with what the user said put in."""
    complement, goal = settings.complement, settings.goal
    if "scaling" in own:
        settings = replace(settings, scaling=own["scaling"])
    if "encoder" in own:
        complement = replace(complement, encoder=_encoder(complement.encoder, own["encoder"]))
    if "k" in own:
        complement = replace(complement, k_homophily=own["k"], k_heterophily=own["k"])
    if "max_candidates" in own:
        complement = replace(complement, max_candidates=own["max_candidates"])
    goal = replace(
        goal,
        shape=replace(goal.shape, **{key: own[key] for key in SHAPE if key in own}),
        training=replace(goal.training, **{key: own[key] for key in TRAINING if key in own}),
        **{key: own[key] for key in GOAL if key in own},
    )
    return replace(settings, complement=complement, goal=goal)
