"""The ensemble of the default: members over the given and the missing half, and their blend."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from otherhalf.complement.kernel_half import (
    KernelHalf,
    Spread,
    fit_kernels,
    learn_kernel_half,
    random_half,
)
from otherhalf.complement.missing_half import MissingHalf
from otherhalf.estimators.by_rows import fit_row_members, goes_over_rows
from otherhalf.estimators.members.base import Fitted, Member
from otherhalf.estimators.members.complemented import ComplementedMember
from otherhalf.estimators.members.fitting import fit_members
from otherhalf.estimators.members.row_features import RowFeatures
from otherhalf.estimators.members.view import GraphView, TrainingLabels
from otherhalf.estimators.mixture import Mixture, fit_mixture
from otherhalf.estimators.settings import Settings
from otherhalf.estimators.whole_graph import fit_whole_members
from otherhalf.nn.magnitudes import MagnitudeScaling
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.process import give_back_freed_memory
from otherhalf.training.checkpoint import History
from otherhalf.training.class_weights import node_weights
from otherhalf.training.metrics import metric_named
from otherhalf.training.supervised import Supervision


@dataclass(frozen=True)
class LeaderboardRow:
    """A member, its metric on validation, its weight in the blend, and the duration of its fit."""

    member: str
    validation: float
    weight: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The fitted members and their blend."""

    labels: TrainingLabels
    tendency: str
    spread: Spread | None
    half: MissingHalf | None
    magnitudes: MagnitudeScaling | None
    members: dict[str, Member]
    mixture: Mixture
    leaderboard: list[LeaderboardRow]
    reads_labels: bool = True
    row_features: RowFeatures | None = None

    def probabilities(self, prepared: PreparedGraph, nodes: IntArray | None = None) -> FloatArray:
        """Return the blended ``[N, C]`` probabilities of a graph whose known nodes come first.

        With ``nodes`` only their rows: members over rows, and what they read, compute no other.
        """
        view, kept = self.view(prepared), {name: self.members[name] for name in self.mixture.weights}
        return self.mixture.blend({name: each.rows_of(view, nodes) for name, each in kept.items()})

    def view(self, prepared: PreparedGraph) -> GraphView:
        """Return the graph as the members read it; it is made once for each prepared graph."""
        if "view" not in prepared.derived:
            half = self.half
            kind, k = ("homophily", 1) if half is None else (half.kind, half.k)
            found = None
            if half is not None and self.spread is None:  # a random half: new nodes are joined to nothing
                found = KernelHalf(None, replace(half, num_nodes=prepared.graph.num_nodes))
            prepared.derived["view"] = GraphView(
                prepared.with_magnitudes(self.magnitudes),
                self.labels,
                self.tendency,
                spread=self.spread,
                kind=kind,
                k=k,
                found=found,
                reads_labels=self.reads_labels,
                row_features=self.row_features,
            )
        view: GraphView = prepared.derived["view"]
        return view


@dataclass(frozen=True, eq=False)
class Result:
    """An ensemble just fitted, the histories of its trainings, and the seconds of its stages."""

    ensemble: Ensemble
    histories: dict[str, History]
    seconds: dict[str, float]


def fit_ensemble(
    prepared: PreparedGraph, tendency: str, kind: str, settings: Settings, supervision: Supervision
) -> Result:
    """Find the missing half, fit the members over both halves, and blend them.

    Args:
        prepared: The graph, ready for models.
        tendency: What the given edges are.
        kind: Kind of the missing half.
        settings: Kernel, ensemble and classifier.
        supervision: Split, seed, metric and monitor.
    """
    started = time.perf_counter()
    fit_members().prepare()
    graph, split = prepared.graph, supervision.split
    labels = TrainingLabels(np.array(split.train), graph.y[split.train], graph.num_classes)
    spread, found = _missing_half(prepared, kind, settings, supervision)
    give_back_freed_memory()
    complemented = time.perf_counter()
    magnitudes = None
    if settings.ensemble.magnitudes:
        magnitudes = MagnitudeScaling.fit(prepared.scaling.apply(graph.x), graph.adjacency)
    by_rows = goes_over_rows(graph.num_nodes, graph.num_edges, settings.ensemble)
    learned = graph, prepared.scaling, magnitudes, supervision.seed
    row_features = RowFeatures.fit(*learned) if by_rows else None
    view = GraphView(
        prepared.with_magnitudes(magnitudes),
        labels,
        tendency,
        spread=spread,
        kind=kind,
        k=settings.kernel.k,
        found=found,
        reads_labels=settings.ensemble.messages,
        row_features=row_features,
    )
    prepared.derived["view"] = view
    members = fit_row_members if by_rows else fit_whole_members
    told = replace(supervision, monitor=fit_members().monitor(supervision.monitor))
    fitted = {each.member.name: each for each in members(view, settings, told)}
    mixture = _mixture(fitted, graph.y, supervision)
    ensemble = Ensemble(
        labels,
        tendency,
        spread,
        None if found is None else found.half,
        magnitudes,
        {name: each.member for name, each in fitted.items()},
        mixture,
        _leaderboard(fitted, mixture, graph.y, supervision),
        settings.ensemble.messages,
        row_features,
    )
    if settings.ensemble.refit:
        ensemble = _fitted_again(ensemble, fitted, prepared, settings, supervision)
    histories = {name: history for each in fitted.values() for name, history in each.histories.items()}
    seconds = {"complement": complemented - started, "train": time.perf_counter() - complemented}
    return Result(ensemble, histories, seconds)


def _fitted_again(
    ensemble: Ensemble,
    fitted: dict[str, Fitted],
    prepared: PreparedGraph,
    settings: Settings,
    supervision: Supervision,
) -> Ensemble:
    """Return the ensemble fitted to training and validation nodes together.

    Kernels, members, temperatures, weights and lengths of the trainings stay as they were chosen. The
    leaderboard stays that of the choice: afterwards no validation node is left to judge by.
    """
    graph, split, spread = prepared.graph, supervision.split, ensemble.spread
    nodes = np.sort(np.concatenate([split.train, split.val]))
    labels = TrainingLabels(nodes, graph.y[nodes], graph.num_classes)
    if spread is not None:
        descriptions = spread.descriptions(graph)
        spread = fit_kernels(
            descriptions,
            spread.kernels,
            spread.ridge,
            settings.kernel,
            nodes,
            supervision.seed,
            supervision.class_weights,
        )
    again = replace(ensemble, labels=labels, spread=spread)
    prepared.derived.pop("view", None)
    view = again.view(prepared)
    wanted = {*ensemble.mixture.weights, ComplementedMember.name} & set(ensemble.members)
    members = {
        name: ensemble.members[name].again(view, supervision, list(fitted[name].histories.values()))
        for name in ensemble.members
        if name in wanted
    }
    half = ensemble.half if view.found is None else view.found.half
    return replace(again, members=members, half=half)


def _missing_half(
    prepared: PreparedGraph, kind: str, settings: Settings, supervision: Supervision
) -> tuple[Spread | None, KernelHalf | None]:
    graph, half = prepared.graph, settings.ensemble.half
    if half == "none":
        return None, None
    if half == "random":
        train = np.array(supervision.split.train)
        return None, random_half(graph.num_nodes, train, settings.kernel.k, supervision.seed, kind)
    return learn_kernel_half(graph, prepared.scaling, kind, settings.kernel, supervision)


def _mixture(fitted: dict[str, Fitted], y: IntArray, supervision: Supervision) -> Mixture:
    """Blend the members by validation nodes and, where all have them, training nodes they have not seen.

    Validation nodes alone favour members that stopped where those were best, and few of them mislead.
    """
    val, train = supervision.split.val, supervision.split.train
    judged, codes = {}, [y[val]]
    together = all(each.unseen is not None for each in fitted.values())
    for name, each in fitted.items():
        parts = [each.probabilities[val], *([each.unseen] if together and each.unseen is not None else [])]
        judged[name] = np.concatenate(parts)
    known = np.concatenate([*codes, *([y[train]] if together else [])])
    return fit_mixture(judged, known, node_weights(supervision.class_weights, known))


def _leaderboard(
    fitted: dict[str, Fitted], mixture: Mixture, y: IntArray, supervision: Supervision
) -> list[LeaderboardRow]:
    val, metric = supervision.split.val, metric_named(supervision.metric)
    rows = [
        LeaderboardRow(
            name,
            metric.function(each.probabilities[val], y[val]),
            mixture.weights.get(name, 0.0),
            each.seconds,
        )
        for name, each in fitted.items()
    ]
    return sorted(rows, key=lambda row: (-row.weight, -metric.sign * row.validation))
