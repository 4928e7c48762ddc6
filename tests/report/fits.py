"""Small fits that the tests of reports share; each is made once."""

from dataclasses import replace
from functools import cache

import numpy as np

from otherhalf import GOALClassifier, Graph, Split, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.mixture import Mixture
from otherhalf.report.reported import Reported

PLAN = {"folds": 1, "plain": 1, "candidates": ("GCN",), "trees": False}
"""An ensemble of spread, label propagation, GOAL and one plain model, each trained once."""


@cache
def graph() -> Graph:
    """A graph of 150 nodes in three classes, with text as ids."""
    sbm = contextual_sbm(num_nodes=150, num_classes=3, num_features=6, homophily=0.2, seed=4)
    return Graph(edges=sbm.edges, x=sbm.x, y=sbm.y, ids=[f"n{i}" for i in range(150)], name="small")


@cache
def parts() -> Split:
    """Its split."""
    return split(graph())


def fitted(half: str = "found") -> GOALClassifier:
    """A model of the default method; with "both members", spread and GOAL are blended by hand."""
    return _fitted(half)


@cache
def _fitted(half: str) -> GOALClassifier:
    found = "found" if half == "both members" else half
    model = GOALClassifier(ensemble={**PLAN, "half": found}, epochs=15, patience=15, hidden=8)
    model.fit(graph(), parts())
    if half == "both members":
        weights = {"GOAL": 0.75, "spread": 0.25}
        mixture = Mixture({"GOAL": 0.5, "spread": 1.4}, weights)
        board = [replace(row, weight=weights.get(row.member, 0.0)) for row in model.leaderboard_]
        model.leaderboard_ = sorted(board, key=lambda row: -row.weight)
        model._way.ensemble = replace(model._way.ensemble, mixture=mixture, leaderboard=model.leaderboard_)
    return model


@cache
def embedded() -> GOALClassifier:
    """A model of the paper's method, blended with its encoder."""
    model = GOALClassifier(encoder="mlp", epochs=15, patience=15, hidden=8, blend=True)
    return model.fit(graph(), parts())


def reported(half: str = "found") -> Reported:
    """What a report of such a model is about."""
    return Reported.of(fitted(half), graph(), parts())


def by_hand(y, edges, *, train=(), val=(), test=(), probabilities=None, model=None) -> Reported:
    """What a report is about, of a graph by hand and any predictions."""
    y = np.asarray(y)
    pairs = np.array(edges, dtype=int).reshape(-1, 2).T
    made = Graph(edges=pairs, x=np.eye(len(y)), y=y, classes=np.arange(max(2, y.max() + 1)))
    if probabilities is None:
        probabilities = np.full((len(y), made.num_classes), 1 / made.num_classes)
    parts = Split(*(np.array(part, dtype=int) for part in (train, val, test)))
    return Reported(model, made, parts, None, np.asarray(probabilities, dtype=np.float32))
