"""Members that are plain models over the given edges, and the race that chooses them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor, nn

from otherhalf.estimators.members.base import Fitted, Member
from otherhalf.estimators.members.fitting import FitMember
from otherhalf.estimators.members.replicas import (
    Plan,
    joined,
    mean_probabilities,
    train_again,
    train_replicas,
)
from otherhalf.estimators.members.view import GraphView
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.registry import build, model_spec, resolve_options
from otherhalf.system.arrays import FloatArray
from otherhalf.system.fields import from_dict, to_dict
from otherhalf.system.profile import stage, timed
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import TrainingSettings
from otherhalf.training.metrics import metric_named
from otherhalf.training.supervised import Supervision


@dataclass(frozen=True)
class Candidate:
    """A model of the race: its name in the leaderboard, its kind, and its settings."""

    name: str
    kind: str
    architecture: Architecture
    training: TrainingSettings
    own_options: dict[str, Any] = field(default_factory=dict)

    def at_most(self, epochs: int, patience: int | None = None) -> Candidate:
        """Return the candidate with a shorter training; one as long as the usual may keep its own length."""
        epochs = self.training.epochs if epochs >= USUAL.epochs else min(self.training.epochs, epochs)
        patience = self.training.patience if patience is None else min(self.training.patience, patience)
        return replace(self, training=replace(self.training, epochs=epochs, patience=patience))


USUAL = TrainingSettings(lr=0.01, weight_decay=5e-4, epochs=300, patience=40)

CANDIDATES: tuple[Candidate, ...] = (
    Candidate(
        "APPNP", "appnp", Architecture(128, 2, 0.7, "none", False), USUAL, {"steps": 10, "teleport": 0.2}
    ),
    Candidate("GCN, plain", "gcn", Architecture(128, 2, 0.7, "none", False), USUAL),
    Candidate("GCN", "gcn", Architecture(64, 2, 0.5, "layer", True), USUAL),
    Candidate("JKNet", "jknet", Architecture(64, 3, 0.5, "batch", True), USUAL),
    Candidate("ChebyNet", "chebynet", Architecture(64, 3, 0.5, "batch", True), USUAL, {"steps": 1}),
    Candidate("GraphSAGE", "sage", Architecture(64, 2, 0.5, "layer", True), USUAL),
    Candidate("ACM-GCN+", "acmgcn", Architecture(64, 2, 0.7, "none", False), USUAL),
    Candidate(
        "GCN, deep",
        "gcn",
        Architecture(64, 10, 0.2, "batch", True),
        TrainingSettings(lr=0.01, weight_decay=0.0, epochs=600, patience=80),
    ),
    Candidate(
        "GCN, deep, with labels",
        "gcn",
        Architecture(64, 10, 0.2, "batch", True, trunk="features+labels"),
        TrainingSettings(lr=0.01, weight_decay=0.0, epochs=600, patience=80),
    ),
)
"""Models that differ in what they can see. Each was the best plain one on some graph (docs/trials.md)."""

RACE_EPOCHS, RACE_PATIENCE = 60, 20

HOPELESS = 0.08
"""A candidate that is this far behind the best member after the race does not finish. A short training is
worse than a long one by up to 7 points."""


class PlainMember(Member):
    """The mean of several trainings of one model."""

    kind = "plain"

    def __init__(self, candidate: Candidate, modules: list[nn.Module]) -> None:
        self.name, self.candidate, self.modules = candidate.name, candidate, modules

    def probabilities(self, view: GraphView) -> FloatArray:
        """Return the mean probabilities of every node."""
        for module in self.modules:
            module.to(view.prepared.device)
        return mean_probabilities(self.modules, _arguments(self.candidate, view), view.labels.nodes)

    def again(self, view: GraphView, supervision: Supervision, histories: list[History]) -> PlainMember:
        """Return the member trained on all labels of the view."""
        candidate, prepared = self.candidate, view.prepared
        modules = train_again(
            lambda: _built(candidate, prepared.sizes).to(prepared.device),
            _arguments(candidate, view),
            prepared.graph,
            candidate.training,
            supervision,
            view.labels.nodes,
            histories,
            stage_name(candidate.name),
        )
        return PlainMember(candidate, modules)

    def parts(self) -> dict[str, nn.Module]:
        """Return the modules."""
        return {str(index): module for index, module in enumerate(self.modules)}

    def description(self) -> dict[str, Any]:
        """Return the settings and the number of modules."""
        return {"candidate": to_dict(self.candidate), "modules": len(self.modules)}

    @classmethod
    def restore(
        cls, name: str, sizes: tuple[int, int, int], description: dict[str, Any], tensors: dict[str, Tensor]
    ) -> PlainMember:
        """Return the member with untrained modules."""
        candidate = from_dict(Candidate, description["candidate"])
        return cls(candidate, [_built(candidate, sizes) for _ in range(description["modules"])])


def race_fits(candidates: Sequence[Candidate], supervision: Supervision) -> list[FitMember]:
    """Return the fits of the race: a short training of each candidate."""
    short = [candidate.at_most(RACE_EPOCHS, RACE_PATIENCE) for candidate in candidates]
    return [partial(fit_starter, supervision=supervision, candidate=each) for each in short]


def winners(
    candidates: Sequence[Candidate], places: Sequence[float], most: int, best: float = -np.inf
) -> list[Candidate]:
    """Return the candidates that finish, best first.

    Args:
        candidates: Those that started.
        places: Their quality on validation after the race.
        most: Number of those that finish.
        best: Quality on validation of the best member so far. A candidate that is hopelessly behind it does
            not finish.
    """
    order = sorted(range(len(candidates)), key=lambda index: -places[index])
    return [candidates[index] for index in order[:most] if places[index] > best - HOPELESS]


def validation_quality(probabilities: FloatArray, view: GraphView, supervision: Supervision) -> float:
    """Return the metric on validation, larger for better."""
    val = supervision.split.val
    return metric_named(supervision.metric).quality(probabilities[val], view.graph.y[val])


def fit_plain(
    view: GraphView, supervision: Supervision, candidate: Candidate, plan: Plan, stage: str = "member"
) -> Fitted:
    """Train a candidate as often as the plan says."""
    started = time.perf_counter()
    prepared = view.prepared
    replicas = train_replicas(
        lambda: _built(candidate, prepared.sizes).to(prepared.device),
        _arguments(candidate, view),
        prepared.graph,
        candidate.training,
        supervision,
        plan,
        f"{stage}-{stage_name(candidate.name)}",
    )
    member = PlainMember(candidate, replicas.modules)
    numbered = zip(plan.indices(), replicas.histories, strict=True)
    histories = {f"{candidate.name} {i + 1}": history for i, history in numbered}
    seconds = time.perf_counter() - started
    return Fitted(member, replicas.probabilities, replicas.unseen, seconds, histories)


def join_plain(parts: Sequence[Fitted]) -> Fitted:
    """Return the member of several trainings from those of one each."""
    members = [each.member for each in parts if isinstance(each.member, PlainMember)]
    modules = [module for each in members for module in each.modules]
    return joined(parts, PlainMember(members[0].candidate, modules))


@timed("race of plain models")
def fit_starter(view: GraphView, supervision: Supervision, candidate: Candidate) -> Fitted:
    """Train a candidate for the race."""
    return fit_plain(view, supervision, candidate, Plan(1), stage="race")


def fit_finisher(view: GraphView, supervision: Supervision, candidate: Candidate, plan: Plan) -> Fitted:
    """Train a candidate that the race has chosen, as a stage of its own in the profile."""
    with stage(f"member {candidate.name}"):
        return fit_plain(view, supervision, candidate, plan)


def stage_name(name: str) -> str:
    """Return the name of a stage, which is also a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _built(candidate: Candidate, sizes: tuple[int, int, int]) -> nn.Module:
    options = resolve_options(candidate.kind, candidate.own_options)
    return build(candidate.kind, *sizes, candidate.architecture, options)


def _arguments(candidate: Candidate, view: GraphView) -> tuple[Any, ...]:
    inputs, *operators = view.prepared.arguments(model_spec(candidate.kind).operators)
    if candidate.architecture.reads_labels:
        inputs = inputs.showing(view.label_rows.to(view.prepared.device))
    return inputs, *operators
