"""The ensemble of the default: members over the given and the missing half, and their blend."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

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
from otherhalf.estimators.members.boosted import fit_boosted, worth_boosting
from otherhalf.estimators.members.complemented import ComplementedMember, fit_complemented
from otherhalf.estimators.members.fitting import FitMember, fit_members, one_after_the_other
from otherhalf.estimators.members.plain import (
    CANDIDATES,
    Candidate,
    fit_finisher,
    race,
    validation_quality,
)
from otherhalf.estimators.members.propagation import fit_propagation
from otherhalf.estimators.members.replicas import Plan
from otherhalf.estimators.members.row_features import RowFeatures
from otherhalf.estimators.members.spread import fit_spread
from otherhalf.estimators.members.trees import fit_trees
from otherhalf.estimators.members.view import GraphView, TrainingLabels
from otherhalf.estimators.mixture import Mixture, fit_mixture
from otherhalf.estimators.settings import EnsembleSettings, Settings
from otherhalf.nn.magnitudes import MagnitudeScaling
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.process import give_back_freed_memory
from otherhalf.training.checkpoint import History
from otherhalf.training.class_weights import node_weights
from otherhalf.training.folds import stratified_folds
from otherhalf.training.loop import SILENT
from otherhalf.training.metrics import metric_named
from otherhalf.training.supervised import Supervision

SMALL, LARGE = 5_500, 25_000
"""Most nodes of a graph on which a member is trained for each fold of the training nodes, and of one on which
it is trained :data:`FEW_FOLDS` times. On a larger one it is trained once, and validation nodes judge it
alone, if there are :data:`MANY_VAL` of them."""

FEW_FOLDS = 3
MANY_VAL = 2_000
FEW_PLAIN = 2
"""Most plain models that finish the race on a graph that is not small."""


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
    members = fit_row_members if by_rows else _fit_members
    # Who shows the progress cannot follow what others fit.
    told = supervision if fit_members() is one_after_the_other else replace(supervision, monitor=SILENT)
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


def _fit_members(view: GraphView, settings: Settings, supervision: Supervision) -> Iterator[Fitted]:
    """Fit the members; plain models come last, those that win the race."""
    chosen, fit = settings.ensemble, fit_members()
    plan = plan_of(view, chosen, supervision)
    folds = stratified_folds(view.labels.codes, max(2, chosen.folds), supervision.seed)
    best = -np.inf
    trained: dict[str, Any] = {"supervision": supervision, "plan": plan}
    others: tuple[tuple[bool, FitMember], ...] = (
        (view.found is not None and view.found.scores is not None, fit_spread),
        (chosen.propagation, partial(fit_propagation, supervision=supervision, folds=folds)),
        (chosen.trees, partial(fit_trees, supervision=supervision)),
        (chosen.trees and worth_boosting(view), partial(fit_boosted, **trained)),
        (chosen.classifier, partial(fit_complemented, settings=settings.goal, **trained)),
    )
    for fitted in fit(view, [each for wanted, each in others if wanted]):
        best = max(best, validation_quality(fitted.probabilities, view, supervision))
        yield fitted
    most = count_finishers(view.graph.num_nodes, chosen)
    finishers = race(view, supervision, starters(settings), most, best)
    yield from fit(view, [partial(fit_finisher, candidate=each, **trained) for each in finishers])


def starters(settings: Settings) -> list[Candidate]:
    """Return the plain models that start in the race."""
    chosen, longest = settings.ensemble, settings.goal.training.epochs
    return [
        each.at_most(longest)
        for each in CANDIDATES
        if (not chosen.candidates or each.name in chosen.candidates)
        and (chosen.messages or not each.architecture.reads_labels)
    ]


def count_finishers(nodes: int, settings: EnsembleSettings) -> int:
    """Return how many plain models finish the race at most, on a graph of this size."""
    return settings.plain if nodes <= SMALL else min(FEW_PLAIN, settings.plain)


def count_trainings(nodes: int, num_train: int, num_val: int, settings: EnsembleSettings) -> int:
    """Return how often the members are trained on a graph of this size."""
    if nodes > LARGE and num_val >= MANY_VAL:
        return 1
    count = settings.folds if nodes <= SMALL else min(FEW_FOLDS, settings.folds)
    return min(count, num_train)


def plan_of(view: GraphView, settings: EnsembleSettings, supervision: Supervision) -> Plan:
    """Return how often the members of a graph are trained, and on which nodes."""
    codes, num_val = view.labels.codes, len(supervision.split.val)
    count = count_trainings(view.graph.num_nodes, len(codes), num_val, settings)
    return Plan(1) if count == 1 else Plan(count, stratified_folds(codes, count, supervision.seed))


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
