"""The member over both halves: Complemented Graph Convolutions with label messages and scores."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn

from otherhalf.estimators.members.base import Fitted, Member
from otherhalf.estimators.members.replicas import (
    Plan,
    joined,
    mean_probabilities,
    train_again,
    train_replicas,
)
from otherhalf.estimators.members.view import GraphView
from otherhalf.estimators.settings import GOALSettings
from otherhalf.nn.complemented import ComplementedNet
from otherhalf.system.arrays import FloatArray
from otherhalf.system.fields import from_dict, to_dict
from otherhalf.system.profile import timed
from otherhalf.training.checkpoint import History
from otherhalf.training.supervised import Supervision

NAME = "GOAL"


class ComplementedMember(Member):
    """The mean of several trainings of :class:`~otherhalf.nn.complemented.ComplementedNet`."""

    kind, name = "complemented", NAME

    def __init__(self, settings: GOALSettings, modules: list[nn.Module]) -> None:
        self.settings, self.modules = settings, modules

    def probabilities(self, view: GraphView) -> FloatArray:
        """Return the mean probabilities of every node."""
        for module in self.modules:
            module.to(view.prepared.device)
        return mean_probabilities(self.modules, (view.prepared.inputs, view.halves), view.labels.nodes)

    def again(
        self, view: GraphView, supervision: Supervision, histories: list[History]
    ) -> ComplementedMember:
        """Return the member trained on all labels of the view."""
        prepared, halves = view.prepared, view.halves
        modules = train_again(
            lambda: _ready(self.settings, view),
            (prepared.inputs, halves),
            prepared.graph,
            self.settings.training,
            supervision,
            view.labels.nodes,
            histories,
            "goal",
        )
        return ComplementedMember(self.settings, modules)

    def coefficients(self) -> list[tuple[float, ...]]:
        """Return α, β, γ, δ of every layer: the mean of the trainings."""
        each = [module.coefficients() for module in self.modules if isinstance(module, ComplementedNet)]
        return [tuple(layer) for layer in np.mean(each, axis=0).tolist()]

    def parts(self) -> dict[str, nn.Module]:
        """Return the modules."""
        return {str(index): module for index, module in enumerate(self.modules)}

    def description(self) -> dict[str, Any]:
        """Return the settings, the number of modules, and what they read."""
        first = self.modules[0]
        assert isinstance(first, ComplementedNet)
        return {
            "goal": to_dict(self.settings),
            "modules": len(self.modules),
            "messages": len(first.message_mean),
            "scores": first.tau is not None,
        }

    @classmethod
    def restore(
        cls, name: str, sizes: tuple[int, int, int], description: dict[str, Any], tensors: dict[str, Tensor]
    ) -> ComplementedMember:
        """Return the member with untrained modules."""
        settings = from_dict(GOALSettings, description["goal"])
        reads = description["messages"], description["scores"]
        return cls(settings, [_built(settings, sizes, *reads) for _ in range(description["modules"])])


@timed("member GOAL")
def fit_complemented(view: GraphView, supervision: Supervision, settings: GOALSettings, plan: Plan) -> Fitted:
    """Train the classifier over both halves as often as the plan says."""
    started = time.perf_counter()
    prepared, halves = view.prepared, view.halves

    replicas = train_replicas(
        lambda: _ready(settings, view),
        (prepared.inputs, halves),
        prepared.graph,
        settings.training,
        supervision,
        plan,
        "member-goal",
    )
    histories = {f"{NAME} {i + 1}": each for i, each in zip(plan.indices(), replicas.histories, strict=True)}
    member = ComplementedMember(settings, replicas.modules)
    seconds = time.perf_counter() - started
    return Fitted(member, replicas.probabilities, replicas.unseen, seconds, histories)


def join_complemented(parts: Sequence[Fitted]) -> Fitted:
    """Return the member of several trainings from those of one each."""
    members = [each.member for each in parts if isinstance(each.member, ComplementedMember)]
    modules = [module for each in members for module in each.modules]
    return joined(parts, ComplementedMember(members[0].settings, modules))


def _ready(settings: GOALSettings, view: GraphView) -> nn.Module:
    """Return an untrained classifier for a graph, with its messages standardised."""
    prepared, halves = view.prepared, view.halves
    net = _built(settings, prepared.sizes, halves.messages.shape[1], halves.scores is not None)
    net.to(prepared.device).standardise(halves.messages)
    return net


def _built(
    settings: GOALSettings, sizes: tuple[int, int, int], messages: int, scores: bool
) -> ComplementedNet:
    features, classes, _ = sizes
    return ComplementedNet(
        features,
        classes,
        messages,
        settings.architecture,
        scores=scores,
        coefficients=settings.coefficients,
        learn_coefficients=settings.learn_coefficients,
    )
