"""The classifier over precomputed rows against the one of full batches: same graph, half, labels and seed."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.marks.whole import ARXIV
from benchmarks.measure import Mark, Measure, Missing, Setting
from otherhalf import GOALClassifier, load, split
from otherhalf.errors import InputError
from otherhalf.estimators.kernel_way import KernelWay
from otherhalf.estimators.members.complemented import fit_complemented
from otherhalf.estimators.members.replicas import Plan
from otherhalf.estimators.presets import BEST
from otherhalf.training.supervised import Supervision

ONLY_GOAL = {"trees": False, "propagation": False, "plain": 0}


def run(setting: Setting, data: str) -> dict[str, float]:
    """Return the test accuracy of both, in percent, and how far full batches are ahead."""
    try:
        graph = load(data)
    except InputError as error:
        raise Missing(str(error)) from error
    parts = split(graph, "uniform", seed=0)
    model = GOALClassifier(seed=0, ensemble={"training": "rows", **ONLY_GOAL}).fit(graph, parts)
    way = model._way
    assert isinstance(way, KernelWay)
    prepared, _ = model.prepare(graph)  # the fitted graph: its nodes are in their order
    view = way.ensemble.view(prepared)
    over_rows = way.ensemble.members["GOAL"].probabilities(view)
    full = fit_complemented(view, Supervision(parts, seed=0), BEST.goal, Plan(1)).probabilities
    test, y = parts.test, np.asarray(graph.y)
    rows, batch = (100 * float((p[test].argmax(axis=1) == y[test]).mean()) for p in (over_rows, full))
    return {"over rows": rows, "full batch": batch, "behind": batch - rows}


MEASURES = (
    Measure(
        "rows_accuracy",
        partial(run, data=ARXIV),
        (
            Mark(
                "the arxiv graph, GOAL's classifier over rows, test accuracy, points behind full batches",
                "behind",
                limit=0.3,
                unit="points",
            ),
        ),
        quick=False,
    ),
)
