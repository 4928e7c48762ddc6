"""AveragedClassifier: several fits of one estimator that differ in their seeds, and their mean."""

from typing import Any

import numpy as np
from sklearn.base import clone
from torch import nn

from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.graph import Graph, Split
from otherhalf.nn.memory import Sizes
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray
from otherhalf.system.fields import integer
from otherhalf.system.need import Need
from otherhalf.system.seeds import generator
from otherhalf.training.loop import OnStep
from otherhalf.training.supervised import Supervision

MOST_SEEDS = 2**31


class AveragedClassifier(NodeClassifier):
    r"""The mean of several fits of one estimator.

    .. math:: P = \frac{1}{M} \sum_{m=1}^{M} P_m

    :math:`P_m` are the class probabilities of the m-th member: a clone of the estimator with a seed of its
    own, fitted on the same split. Each member stops and selects by itself on the validation nodes. Seed,
    metric and device are those of the estimator. A fitted mean cannot be saved, but each of its members can.

    Args:
        model: The estimator; it is not changed.
        members: Number of fits.

    After ``fit``: ``members_`` (the fitted estimators), ``classes_``, ``settings_``, ``history_`` (by member
    and stage), ``seconds_`` (by stage, the sum over members).
    """

    identity = (*NodeClassifier.identity, "members")

    model: NodeClassifier
    members: int
    members_: list[NodeClassifier]

    def __init__(self, model: NodeClassifier, members: int = 5) -> None:
        self._store(locals())

    @property
    def seed(self) -> int:  # type: ignore[override]  # the base has an attribute
        """Seed of the estimator, from which those of the members are derived."""
        return self.model.seed

    @property
    def metric(self) -> str:  # type: ignore[override]
        """Metric of the estimator."""
        return self.model.metric

    @property
    def device(self) -> str:  # type: ignore[override]
        """Device of the estimator."""
        return self.model.device

    def resolved_settings(self, data_set: str = "") -> Any:
        """Return the settings of every member; raise InputError if one of them is not allowed."""
        integer().check("members", self.members)
        return self.model.resolved_settings(data_set)

    def check_fit(self, graph: Graph, split: Split) -> Any:
        """Raise InputError if a member cannot be fitted; return the settings."""
        integer().check("members", self.members)
        return self.model.check_fit(graph, split)

    def _need(self, sizes: Sizes, settings: Any) -> Need:
        return self.model._need(sizes, settings)

    def _fit(self, prepared: PreparedGraph, settings: Any, supervision: Supervision) -> dict[str, Any]:
        members, monitor = [], supervision.monitor
        for number, seed in enumerate(member_seeds(self.seed, self.members), start=1):
            member = clone(self.model).set_params(seed=seed)
            folder = None if monitor.folder is None else monitor.folder / f"member-{number}"
            on_step = None if monitor.on_step is None else _of_member(number, monitor.on_step)
            member.fit(prepared.graph, supervision.split, checkpoints=folder, on_step=on_step)
            member._cache = None  # or every member would keep a copy of the prepared graph
            members.append(member)
        stages = {stage: 0.0 for member in members for stage in member.seconds_}
        seconds = {stage: sum(member.seconds_.get(stage, 0.0) for member in members) for stage in stages}
        history = {
            f"member {number} {stage}": history
            for number, member in enumerate(members, start=1)
            for stage, history in member.history_.items()
        }
        return {"members_": members, "history_": history, "seconds_": seconds}

    def _probabilities(self, prepared: PreparedGraph) -> FloatArray:
        total = np.zeros((prepared.graph.num_nodes, len(self.classes_)), dtype=np.float64)
        for member in self.members_:
            total += member.predict_proba(prepared.graph)
            member._cache = None
        return (total / len(self.members_)).astype(np.float32)

    def _parts(self) -> dict[str, nn.Module]:
        raise InputError(
            "a mean of several models cannot be saved: save each of its members_ in a folder of its own"
        )


def member_seeds(seed: int, members: int) -> list[int]:
    """Return the seeds of the members, all different.

    The first is the seed itself, so that the first member is the estimator as it would be alone. The others
    are drawn from it, and more members do not change the seeds of the first ones.
    """
    rng = generator(seed)
    seeds = [int(seed)]
    while len(seeds) < members:
        drawn = int(rng.integers(MOST_SEEDS))
        if drawn not in seeds:
            seeds.append(drawn)
    return seeds


def _of_member(number: int, on_step: OnStep) -> OnStep:
    return lambda stage, done, total: on_step(f"member {number} {stage}", done, total)
