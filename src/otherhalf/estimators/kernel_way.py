"""The default method: the missing half by leave-one-out, and an ensemble over both halves."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from otherhalf.complement.basis import Basis
from otherhalf.complement.descriptions import DESCRIPTIONS
from otherhalf.complement.kernel_half import Spread
from otherhalf.complement.kernels import Kernel
from otherhalf.complement.missing_half import MissingHalf
from otherhalf.complement.relations import names_by_relation
from otherhalf.complement.ridge import Ridge
from otherhalf.estimators.ensemble import Ensemble, LeaderboardRow, fit_ensemble
from otherhalf.estimators.members.base import Member
from otherhalf.estimators.members.boosted import BoostedTreesMember
from otherhalf.estimators.members.complemented import ComplementedMember
from otherhalf.estimators.members.over_rows import PlainRowsMember, RowsMember
from otherhalf.estimators.members.plain import PlainMember, stage_name
from otherhalf.estimators.members.propagation import PropagationMember
from otherhalf.estimators.members.row_features import RowFeatures
from otherhalf.estimators.members.spread import SpreadMember
from otherhalf.estimators.members.trees import TreesMember
from otherhalf.estimators.members.view import TrainingLabels
from otherhalf.estimators.mixture import Mixture
from otherhalf.estimators.saved_arrays import saved_indices, saved_labels
from otherhalf.estimators.settings import Settings
from otherhalf.estimators.way import Outcome, Way, half_description, restored_half
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.magnitudes import MagnitudeScaling
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.typed import typed
from otherhalf.training.supervised import Supervision

MEMBERS: dict[str, type[Member]] = {
    each.kind: each
    for each in (
        SpreadMember,
        PropagationMember,
        TreesMember,
        BoostedTreesMember,
        ComplementedMember,
        PlainMember,
        RowsMember,
        PlainRowsMember,
    )
}
"""Every kind of member. A new one is one file with its class, an entry here, and its fit in the ensemble."""


EDGES_ONLY = (PlainMember, PlainRowsMember)
"""Members that see the given edges and no found half."""


class KernelWay(Way):
    """An ensemble, with its files."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble

    @property
    def half(self) -> MissingHalf | None:
        """The missing half of the fitted graph."""
        return self.ensemble.half

    @property
    def encoder_share(self) -> float:
        """Weight of the plain models."""
        members = self.ensemble.members
        weights = self.ensemble.mixture.weights.items()
        return float(sum(weight for name, weight in weights if isinstance(members[name], EDGES_ONLY)))

    def leaderboard(self) -> list[LeaderboardRow]:
        """Return the members, heaviest first."""
        return self.ensemble.leaderboard

    def coefficients(self) -> list[tuple[float, ...]]:
        """Return α, β, γ, δ of every layer of the classifier over both halves; empty without it."""
        member = self.ensemble.members.get(ComplementedMember.name)
        return member.coefficients() if isinstance(member, ComplementedMember | RowsMember) else []

    def probabilities(self, prepared: PreparedGraph) -> FloatArray:
        """Return the blended probabilities."""
        return self.ensemble.probabilities(prepared)

    def probabilities_of(self, prepared: PreparedGraph, nodes: IntArray) -> FloatArray:
        """Return the blended probabilities of a few nodes, from their neighbourhoods where members can."""
        return self.ensemble.probabilities(prepared, nodes)

    def parts(self) -> dict[str, nn.Module]:
        """Return the modules of all members."""
        return {
            f"{stage_name(name)}/{part}": module
            for name, member in self._saved().items()
            for part, module in member.parts().items()
        }

    def _saved(self) -> dict[str, Member]:
        """Return the members that take part, and the classifier, whose coefficients are reported."""
        wanted = {*self.ensemble.mixture.weights, ComplementedMember.name}
        return {name: member for name, member in self.ensemble.members.items() if name in wanted}

    def tensors(self) -> dict[str, Tensor]:
        """Return labels, half, spread, magnitudes and what members keep."""
        ensemble, labels = self.ensemble, self.ensemble.labels
        tensors = {"labels/nodes": _int32(labels.nodes), "labels/codes": _int32(labels.codes)}
        if ensemble.magnitudes is not None:
            tensors |= ensemble.magnitudes.tensors()
        if ensemble.row_features is not None:
            tensors |= ensemble.row_features.tensors()
        if (half := ensemble.half) is not None:
            tensors["half/pairs"] = _int32(half.pairs)
            if half.weights is not None:
                tensors["half/weights"] = torch.from_numpy(np.array(half.weights))
        if (spread := ensemble.spread) is not None:
            tensors |= spread.basis.tensors()
            tensors |= {"spread/dual": spread.fitted.dual, "spread/own": spread.fitted.own}
            tensors |= {
                "spread/anchors": _int32(spread.anchors),
                "spread/candidates": _int32(spread.candidates),
            }
        for name, member in self._saved().items():
            own = member.tensors().items()
            tensors |= {f"{stage_name(name)}/{key}": value.contiguous() for key, value in own}
        return tensors

    def description(self) -> dict[str, Any]:
        """Return everything that is not a tensor."""
        ensemble, spread = self.ensemble, self.ensemble.spread
        return {
            "missing_half": None if ensemble.half is None else half_description(ensemble.half),
            "encoder_share": self.encoder_share,
            "leaderboard": [vars(row) for row in ensemble.leaderboard],
            "mixture": vars(ensemble.mixture),
            "tendency": ensemble.tendency,
            "reads_labels": ensemble.reads_labels,
            **({} if ensemble.row_features is None else {"over_rows": True}),
            "spread": None
            if spread is None
            else {
                "kernels": [vars(kernel) for kernel in spread.kernels],
                "ridge": spread.ridge,
                "temperature": spread.temperature,
            },
            "members": [
                {"name": name, "kind": member.kind, **member.description()}
                for name, member in self._saved().items()
            ],
        }

    @classmethod
    def restore(
        cls,
        sizes: tuple[int, int, int],
        scaling: Scaling,
        description: dict[str, Any],
        tensors: dict[str, Tensor],
    ) -> KernelWay:
        """Return the way that was saved, with untrained modules."""
        features, classes, known = sizes
        labels = TrainingLabels(*saved_labels(tensors, known, classes), classes)
        magnitudes = MagnitudeScaling.from_tensors(tensors) if "magnitudes/mean" in tensors else None
        made_for = (features + (0 if magnitudes is None else 2), classes, known)
        members = {}
        for saved in description["members"]:
            own = {key.removeprefix(f"{stage_name(saved['name'])}/"): value for key, value in tensors.items()}
            members[saved["name"]] = MEMBERS[saved["kind"]].restore(saved["name"], made_for, saved, own)
        half = description["missing_half"]
        if half is not None:
            half = restored_half(half, tensors, known, tensors["half/weights"].numpy())
        tendency, reads_labels = description["tendency"], description["reads_labels"]
        if tendency not in ("homophily", "heterophily") or not isinstance(reads_labels, bool):
            raise ValueError("its tendency is unknown, or it does not say whether labels are read")
        mixture = typed(Mixture, description["mixture"])
        over_rows = description.get("over_rows", False)
        if not mixture.weights or not mixture.weights.keys() <= members.keys() & mixture.temperatures.keys():
            raise ValueError("its mixture names members that it does not have")
        return cls(
            Ensemble(
                labels,
                tendency,
                _spread(description["spread"], labels, known, scaling, tensors),
                half,
                magnitudes,
                members,
                mixture,
                [typed(LeaderboardRow, row) for row in description["leaderboard"]],
                reads_labels,
                RowFeatures.from_tensors(scaling, magnitudes, tensors) if over_rows else None,
            )
        )


def _spread(
    saved: dict[str, Any] | None,
    labels: TrainingLabels,
    known: int,
    scaling: Scaling,
    tensors: dict[str, Tensor],
) -> Spread | None:
    if saved is None:
        return None
    candidates = saved_indices(tensors, "spread/candidates", known)
    anchors = saved_indices(tensors, "spread/anchors", known)
    fitted = Ridge(tensors["spread/dual"], tensors["spread/own"])
    shapes = (len(anchors), labels.classes), (len(labels.nodes), labels.classes)
    found = tuple(fitted.dual.shape), tuple(fitted.own.shape)
    single = fitted.dual.dtype == fitted.own.dtype == torch.float32
    if found != shapes or not single or len(candidates) == 0:
        raise ValueError("its regression does not fit its training nodes")
    basis = Basis.from_tensors(known, scaling, tensors)
    kernels = tuple(typed(Kernel, kernel) for kernel in saved["kernels"])
    described = {*DESCRIPTIONS, *names_by_relation(basis.relations, directed=True, features=True)}
    if not kernels or not {kernel.description for kernel in kernels} <= described:
        raise ValueError("its kernels compare what is not known")
    return Spread(
        basis,
        kernels,
        float(saved["ridge"]),
        labels.nodes,
        candidates if np.array_equal(anchors, candidates) else anchors,
        candidates,
        fitted,
        float(saved["temperature"]),
    )


def fit_kernel_way(
    prepared: PreparedGraph, tendency: str, kind: str, settings: Settings, supervision: Supervision
) -> Outcome:
    """Fit the ensemble (:func:`~otherhalf.estimators.ensemble.fit_ensemble`)."""
    result = fit_ensemble(prepared, tendency, kind, settings, supervision)
    histories = dict(result.histories)
    if "GOAL 1" in histories:
        histories = {"classifier": histories["GOAL 1"], **histories}
    return Outcome(KernelWay(result.ensemble), settings, histories, result.seconds)


def _int32(values: Any) -> Tensor:
    # Half the space; a graph that one machine holds has fewer than 2³¹ nodes.
    return torch.from_numpy(np.asarray(values).astype(np.int32))
