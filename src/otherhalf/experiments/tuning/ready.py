"""The end of a search: the chosen settings are fitted once more, kept, and scored once on the test nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.estimators.any_model import load_model
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.run_folder import fit_into
from otherhalf.estimators.simple_rows import lead_of
from otherhalf.experiments.runner.models import GOAL, make_model
from otherhalf.experiments.tuning.trial import Trial
from otherhalf.experiments.tuning.tune import Search
from otherhalf.graph import Graph, Split
from otherhalf.report.content import content_writer
from otherhalf.system.arrays import UNKNOWN, FloatArray
from otherhalf.training.loop import OnStep
from otherhalf.training.metrics import metric_named


@dataclass(frozen=True)
class Ready:
    """The model that a search ends with, beside that of the defaults.

    Attributes:
        model: The model, fitted on the split of the search.
        out: Its folder; None if it was not written.
        test_nodes: Number of test nodes with a label.
        test: Its score on them; None if it is undefined.
        default_test: The score of the defaults on the same nodes.
        lead: How much better it is than the defaults there, whether larger or smaller scores are better.
        lead_error: The standard error of the lead, by drawing the test nodes anew.
    """

    model: NodeClassifier
    out: Path | None
    test_nodes: int
    test: float | None
    default_test: float | None
    lead: float | None
    lead_error: float | None

    def values(self) -> dict[str, Any]:
        """Return the scores, for JSON."""
        names = ("test_nodes", "test", "default_test", "lead", "lead_error")
        return {"out": self.out and str(self.out), **{name: getattr(self, name) for name in names}}


def make_ready(
    search: Search,
    graph: Graph,
    out: Path | None = None,
    *,
    device: str = "cpu",
    command: str = "",
    on_step: OnStep | None = None,
) -> Ready:
    """Fit the chosen settings and the defaults on the split of the search, and score both once on test.

    These are the only scores on test nodes that a search computes. Fits of the search saw another division of
    the nodes or are gone, so both are fitted again; with one thread each, they are those of the search.

    Args:
        search: The search, which has ended.
        graph: Its graph.
        out: Folder for the model, as ``otherhalf fit --out`` writes it; an earlier model there is replaced.
        device: Device of the fits.
        command: The command that made the search, for the report of the fit.
        on_step: Progress callback (stage, done, total).
    """
    split = make_split(graph, search.benchmark.split, search.seed)
    trial, _ = search.best()
    model = _unfitted(search, trial, device)
    step = _named(on_step, 1, trial)
    if out is None:
        model.fit(graph, split, on_step=step)
    else:
        model = _kept(model, graph, split, out, command, step)
    found = model.predict_proba(graph)
    default = found
    if trial.number != 0 and not search.trials[0].error:
        first = _unfitted(search, search.trials[0], device)
        step = _named(on_step, 2, search.trials[0])
        default = first.fit(graph, split, on_step=step).predict_proba(graph)
    return Ready(model, out, **_scores(search, graph, split, found, default))


def _unfitted(search: Search, trial: Trial, device: str) -> NodeClassifier:
    params = trial.way.params(trial.point)
    return make_model(trial.way.model, params, search.seed, search.metric.name, device)


def _named(on_step: OnStep | None, number: int, trial: Trial) -> OnStep | None:
    """Return a callback whose stages say which of the two fits they are of."""
    if on_step is None:
        return None

    def step(stage: str, done: int, total: int) -> None:
        # The one stage of a model other than GOAL has the name of GOAL's last one.
        own = stage if trial.way.model == GOAL or stage != "classifier" else "training"
        on_step(f"member {number} {own}", done, total)

    return step


def _kept(
    model: NodeClassifier, graph: Graph, split: Split, out: Path, command: str, on_step: OnStep | None
) -> NodeClassifier:
    """Fit into a folder; a fit of the same settings that was stopped there continues."""
    write = content_writer(model, graph, split, command=command)
    options: dict[str, Any] = {"write_report": write, "on_step": on_step}
    try:
        fit_into(model, graph, split, out, resume=True, **options)
    except InputError:  # another model is there, or a part of one; what else is wrong is said again
        fit_into(model, graph, split, out, **options)
    return load_model(out)


def _scores(
    search: Search, graph: Graph, split: Split, found: FloatArray, default: FloatArray
) -> dict[str, Any]:
    """Return the scores on test nodes. Their labels are read here, once."""
    nodes = split.test[graph.y[split.test] != UNKNOWN]
    metric, y = metric_named(search.metric.name), graph.y[nodes]
    known: dict[str, Any] = {"test_nodes": len(nodes), "test": None, "default_test": None}
    known |= {"lead": None, "lead_error": None}
    if len(nodes) == 0:
        return known
    test, first = (metric.sign * metric.quality(each[nodes], y) for each in (found, default))
    if not np.isfinite([test, first]).all():
        return known
    lead, error = lead_of(found[nodes], default[nodes], y, metric, search.seed % (1 << 32))
    return {**known, "test": test, "default_test": first, "lead": lead, "lead_error": error}
