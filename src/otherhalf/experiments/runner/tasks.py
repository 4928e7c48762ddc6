"""What a run does: open the graph, fit, and say how it went. One function per kind of run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from otherhalf.data.source import open_data
from otherhalf.data.splits import split as make_split
from otherhalf.diagnosis.duplicates import audit_duplicates
from otherhalf.errors import InputError
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.experiments.models import Classifier, model_of
from otherhalf.experiments.paper import tasks as half_tasks
from otherhalf.experiments.paper.tasks import Task
from otherhalf.experiments.runner.benchmark_data import data_hash
from otherhalf.experiments.runner.job import Job
from otherhalf.graph import Graph, Split
from otherhalf.system.process import keep_freed_memory
from otherhalf.training.metrics import score


class Worker:
    """Does the jobs of a plan.

    Args:
        places: Where own data was put, by the name that jobs call it.
        device: Where models are trained: ``cpu`` or ``cuda``.
    """

    def __init__(self, places: Mapping[str, str] | None = None, device: str = "cpu") -> None:
        self.places = dict(places or {})
        self.device = device

    def open(self, data: str) -> Graph:
        """The graph that jobs call by this name."""
        return open_data(self.places.get(data, data))

    def __call__(self, job: Job) -> dict[str, Any]:
        """The result of one job."""
        keep_freed_memory()
        graph = self.open(job.data)
        if data_hash(graph, job.split) != job.data_hash:
            raise InputError(f"{job.data} has changed since the experiment was planned: start it again")
        split = make_split(graph, job.split or "uniform", job.seed)
        return TASKS[job.task](job, graph, split, self.device)


def fit(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Fit on train, select on val, and score once on test."""
    model, probabilities = _fitted(job, graph, split, device)
    metric = job.options["metric"]
    result = _about(model, graph, split)
    result["val"] = _finite(score(metric, probabilities[split.val], graph.y[split.val]))
    result["test"] = _finite(score(metric, probabilities[split.test], graph.y[split.test]))
    return result


def trial(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """One try of a search over settings: fit on train, score on val; the test nodes are not looked at."""
    model, probabilities = _fitted(job, graph, split, device)
    found = score(job.options["metric"], probabilities[split.val], graph.y[split.val])
    return {"val": _finite(found), "epochs": _epochs(model)}


def audit(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """How many test nodes a look-up of identical training nodes answers, and what it scores."""
    found = audit_duplicates(graph, split).to_dict()
    best = max(found["kinds"], key=lambda kind: found["kinds"][kind]["accuracy"])
    return {**found, "best": best, "test": found["kinds"][best]["accuracy"]}


TASKS: dict[str, Task] = {
    "fit": fit,
    "trial": trial,
    "audit": audit,
    "ablation": half_tasks.ablation,
    "autotune": half_tasks.autotune,
    "half": half_tasks.half,
    "diagnose": half_tasks.diagnosis,
    "filter": half_tasks.linear_filter,
    "restart": half_tasks.with_model_seed(fit),
}


def _fitted(job: Job, graph: Graph, split: Split, device: str) -> tuple[Classifier, np.ndarray[Any, Any]]:
    model = model_of(job, device).fit(graph, split)
    return model, model.predict_proba(graph)


def _about(model: Classifier, graph: Graph, split: Split) -> dict[str, Any]:
    sizes = {"train": len(split.train), "val": len(split.val), "test": len(split.test)}
    result: dict[str, Any] = {"epochs": _epochs(model), "stages": model.seconds_, "nodes": sizes}
    if isinstance(model, GOALClassifier):
        half = model.missing_half_
        result |= {
            "coefficients": model.coefficients_,
            "ks": model.diagnosis_.ks,
            "tendency": model.diagnosis_.tendency,
            "encoder": half.encoder,
            "encoder_share": model.encoder_share_,
            "half": half.kind,
            "half_edges": half.num_edges,
            "half_homophily": half.homophily(graph.y),
            "half_test_homophily": half.homophily(graph.y, split.test),
        }
    return result


def _epochs(model: Classifier) -> int:
    history = model.history_
    return history["classifier"].epochs if isinstance(history, dict) else history.epochs


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
