"""Large graphs: which of them train over precomputed rows, and the members of their ensemble."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from otherhalf.estimators.members.base import Fitted
from otherhalf.estimators.members.fitting import FitMember, fit_members
from otherhalf.estimators.members.over_rows import NAME, SEEN_BY, fit_over_rows
from otherhalf.estimators.members.propagation import fit_propagation
from otherhalf.estimators.members.spread import fit_spread
from otherhalf.estimators.members.trees import fit_trees
from otherhalf.estimators.members.view import GraphView
from otherhalf.estimators.settings import EnsembleSettings, Settings
from otherhalf.system.process import give_back_freed_memory
from otherhalf.training.folds import stratified_folds
from otherhalf.training.supervised import Supervision

MOST_NODES, MOST_EDGES = 1e5, 1e7
"""An epoch of full batches takes about as long for this many nodes as for this many edges (a second on one
core). Graphs whose sum of both shares is above 1 go over rows; no smaller graph does, so that its results
stay what they were."""

TREE_ROWS = 20_000
"""Most training rows of the trees of a large graph; with more, a sample."""

TREE_COUNT = 100
"""Number of trees of a large graph."""


def goes_over_rows(nodes: int, edges: int, settings: EnsembleSettings) -> bool:
    """Return whether a fit goes over precomputed rows: by the sizes of the graph alone, unless it is set."""
    if settings.training != "auto":
        return settings.training == "rows"
    return nodes / MOST_NODES + edges / MOST_EDGES > 1


def plain_over_rows(settings: EnsembleSettings) -> list[str]:
    """Return the plain models of a large graph."""
    named = [name for name in SEEN_BY if not settings.candidates or name in settings.candidates]
    return (named or list(SEEN_BY))[: min(1, settings.plain)]


def fit_row_members(view: GraphView, settings: Settings, supervision: Supervision) -> Iterator[Fitted]:
    """Fit the members of a large graph."""
    chosen, found = settings.ensemble, view.found
    folds = stratified_folds(view.labels.codes, 2, supervision.seed)
    over_rows = partial(fit_over_rows, supervision=supervision, settings=settings.goal)
    members: list[tuple[bool, FitMember]] = [
        (found is not None and found.scores is not None, fit_spread),
        (
            chosen.propagation,
            partial(fit_propagation, supervision=supervision, folds=folds, thrifty=True),
        ),
        (chosen.trees, partial(fit_trees, supervision=supervision, most=TREE_ROWS, trees=TREE_COUNT)),
        (chosen.classifier, partial(over_rows, name=NAME)),
        *((True, partial(over_rows, name=name)) for name in plain_over_rows(chosen)),
    ]
    for fitted in fit_members()(view, [fit for wanted, fit in members if wanted]):
        yield fitted
        give_back_freed_memory()
