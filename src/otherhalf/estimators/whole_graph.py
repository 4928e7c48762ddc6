"""The members of a graph that is trained whole: which there are, how often each is trained, their race."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np

from otherhalf.estimators.members.base import Fitted
from otherhalf.estimators.members.boosted import fit_boosted, join_boosted, worth_boosting
from otherhalf.estimators.members.complemented import fit_complemented, join_complemented
from otherhalf.estimators.members.fitting import FitMember, Trainings, fit_members
from otherhalf.estimators.members.plain import (
    CANDIDATES,
    Candidate,
    fit_finisher,
    join_plain,
    race_fits,
    validation_quality,
    winners,
)
from otherhalf.estimators.members.propagation import fit_propagation
from otherhalf.estimators.members.replicas import Plan
from otherhalf.estimators.members.spread import fit_spread
from otherhalf.estimators.members.trees import fit_trees
from otherhalf.estimators.members.view import GraphView
from otherhalf.estimators.settings import EnsembleSettings, Settings
from otherhalf.training.folds import stratified_folds
from otherhalf.training.supervised import Supervision

SMALL, LARGE = 5_500, 25_000
"""Most nodes of a graph on which a member is trained for each fold of the training nodes, and of one on which
it is trained :data:`FEW_FOLDS` times. On a larger one it is trained once, and validation nodes judge it
alone, if there are :data:`MANY_VAL` of them."""

FEW_FOLDS = 3
MANY_VAL = 2_000
FEW_PLAIN = 2
"""Most plain models that finish the race on a graph that is not small."""


def fit_whole_members(view: GraphView, settings: Settings, supervision: Supervision) -> Iterator[Fitted]:
    """Fit the members; plain models come last, those that win the race."""
    chosen, fit = settings.ensemble, fit_members()
    plan = plan_of(view, chosen, supervision)
    folds = stratified_folds(view.labels.codes, max(2, chosen.folds), supervision.seed)
    over_halves = partial(fit_complemented, supervision=supervision, settings=settings.goal)
    boosted = partial(fit_boosted, supervision=supervision)
    others: tuple[tuple[bool, FitMember], ...] = (
        (view.found is not None and view.found.scores is not None, fit_spread),
        (chosen.propagation, partial(fit_propagation, supervision=supervision, folds=folds)),
        (chosen.trees, partial(fit_trees, supervision=supervision)),
        (chosen.trees and worth_boosting(view), Trainings(boosted, plan, join_boosted)),
        (chosen.classifier, Trainings(over_halves, plan, join_complemented)),
    )
    first = [each for wanted, each in others if wanted]
    most = count_finishers(view.graph.num_nodes, chosen)
    candidates = starters(settings) if most else []
    fitted, best = fit(view, [*first, *race_fits(candidates, supervision)]), -np.inf
    for member in islice(fitted, len(first)):
        best = max(best, validation_quality(member.probabilities, view, supervision))
        yield member
    places = [validation_quality(each.probabilities, view, supervision) for each in fitted]
    finishers = [
        partial(fit_finisher, supervision=supervision, candidate=each)
        for each in winners(candidates, places, most, best)
    ]
    yield from fit(view, [Trainings(each, plan, join_plain) for each in finishers])


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
