"""The simple models that a user would take instead of GOAL, and their scores beside those of a fit."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from otherhalf.errors import NotEnoughMemory
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.logistic import LogisticClassifier
from otherhalf.estimators.members.boosted import MOST_WORK
from otherhalf.estimators.simple import MajorityClassifier, PropagationClassifier
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.profile import timed
from otherhalf.training.loop import OnStep
from otherhalf.training.metrics import METRICS, Metric, metric_named, score

SIMPLE: dict[str, tuple[str, Callable[..., NodeClassifier]]] = {
    "majority": ("Majority class", MajorityClassifier),
    "propagation": ("Label propagation", PropagationClassifier),
    "logistic-own": ("Logistic regression on own columns", partial(LogisticClassifier, "own")),
    "logistic": ("Logistic regression on the graph as a table", LogisticClassifier),
    "boosted-own": (
        "Boosted trees on own columns",
        partial(TreesClassifier, "boosted", leaf=20, columns="own"),
    ),
    "boosted": ("Boosted trees on the graph as a table", partial(TreesClassifier, "boosted", leaf=20)),
}
"""What a user would try without a neural network: title, and how it is made. Each selects on validation by
itself, so there is nothing to search."""

QUICK = ("majority", "propagation")
"""Those that take no time on any graph. The others are left out where boosting is no member either: training
nodes times classes are more than :data:`~otherhalf.estimators.members.boosted.MOST_WORK`."""

ITERATIONS = 100
"""Most iterations of boosting beside a fit; ``compare`` has 300."""

DRAWS = 200
STANDARD_ERRORS = 2.0
"""A simple model is better if its lead on validation is more than so many standard errors of the lead."""


@dataclass(frozen=True)
class SimpleRow:
    """A simple model beside a fit, of which it is no part.

    Attributes:
        model: Its name in ``compare``.
        title: Its name in words.
        validation: The metric of the fit on validation nodes.
        test: The metric on test nodes; None where it is undefined.
        seconds: Duration of its fit and its predictions.
        better: Whether it is better than the fit on validation, by more than chance.
    """

    model: str
    title: str
    validation: float
    test: float | None
    seconds: float
    better: bool


@timed("simple models to compare with")
def simple_rows(
    model: GOALClassifier,
    graph: Graph,
    split: Split,
    probabilities: FloatArray,
    on_step: OnStep | None = None,
) -> list[SimpleRow]:
    """Fit the simple models on the same split, and score them by the metric of a fitted model.

    Args:
        model: The fitted model; it is not changed.
        graph: The graph.
        split: Labels of ``train`` teach, of ``val`` select, of ``test`` score.
        probabilities: The model's ``[N, C]`` class probabilities.
        on_step: Progress callback (stage, done, total).
    """
    metric = metric_named(model.metric_choice_.name)
    names = list(SIMPLE) if len(split.train) * graph.num_classes <= MOST_WORK else QUICK
    rows = []
    for done, name in enumerate(names, start=1):
        started = time.perf_counter()
        simple = _made(name, model)
        try:
            found = simple.fit(graph, split).predict_proba(graph)
        except NotEnoughMemory as error:  # the fit itself is done: its result must not be lost
            warnings.warn(f"{SIMPLE[name][0]} is left out: {error}", stacklevel=2)
            continue
        seconds = time.perf_counter() - started
        val, test = (score(metric.name, found, graph.y, part) for part in (split.val, split.test))
        lead = _leads(found[split.val], probabilities[split.val], graph.y[split.val], metric, model.seed)
        title = SIMPLE[name][0]
        rows.append(SimpleRow(name, title, val, None if np.isnan(test) else test, seconds, lead))
        if on_step is not None:
            on_step("simple", done, len(names))
    return rows


def better_simple(rows: Iterable[dict[str, Any]], metric: str, validation: float | None) -> str:
    """Return a sentence about the best of the simple models that are better than the fit; empty if none is.

    Args:
        rows: The rows, as JSON has them.
        metric: Name of the metric of the fit.
        validation: Its value on validation nodes.
    """
    better = [row for row in rows if row["better"]]
    if not better or validation is None:
        return ""
    judge = METRICS[metric]
    best = max(better, key=lambda row: judge.sign * row["validation"])
    return (
        f"{best['title']} alone has {best['validation']:.4f} on validation ({judge.title}), the blend "
        f"has {validation:.4f}: more than chance explains, so it may serve you better."
    )


def _made(name: str, model: GOALClassifier) -> NodeClassifier:
    make = SIMPLE[name][1]
    options: dict[str, Any] = {"seed": model.seed, "metric": model.metric_choice_.name}
    known = inspect.signature(make).parameters
    if "class_weight" in known:
        options["class_weight"] = model.class_weight
    if "trees" in known:
        options["trees"] = ITERATIONS
    return make(**options)


def _leads(one: FloatArray, other: FloatArray, y: IntArray, metric: Metric, seed: int) -> bool:
    """Whether ``one`` is better than ``other`` by more than chance, by drawing the nodes anew (bootstrap)."""
    lead, error = lead_of(one, other, y, metric, seed)
    return lead > 0 and error is not None and bool(lead > STANDARD_ERRORS * error)


def lead_of(
    one: FloatArray, other: FloatArray, y: IntArray, metric: Metric, seed: int
) -> tuple[float, float | None]:
    """Return how much better ``one`` is than ``other``, and the standard error by drawing the nodes anew.

    The error is None where it is undefined: too few draws have a score.

    Args:
        one: ``[n, C]`` class probabilities.
        other: Those of another model for the same nodes.
        y: ``[n]`` class codes.
        metric: The metric.
        seed: Seed of the draws.
    """
    lead = metric.quality(one, y) - metric.quality(other, y)
    rng = np.random.default_rng(seed)
    draws = (rng.integers(0, len(y), len(y)) for _ in range(DRAWS))
    leads = np.array([metric.quality(one[d], y[d]) - metric.quality(other[d], y[d]) for d in draws])
    leads = leads[np.isfinite(leads)]  # a draw without one of the classes has no ROC-AUC
    return float(lead), float(leads.std(ddof=1)) if len(leads) > 1 else None
