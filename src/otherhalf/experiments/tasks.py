"""What a run does: open the graph, do the task, return a result. One function per task."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from otherhalf.data.splits import split as make_split
from otherhalf.diagnosis.duplicate_audit import audit_duplicates
from otherhalf.estimators.averaged import AveragedClassifier
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.experiments.paper import tasks as paper_tasks
from otherhalf.experiments.paper.tasks import Task, node_counts
from otherhalf.experiments.runner.graphs import GraphFolder, check_content
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import model_of
from otherhalf.experiments.tuning.divisions import division, seed_of, without_test_labels
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import FloatArray
from otherhalf.system.process import keep_freed_memory
from otherhalf.training.metrics import score


@dataclass(frozen=True)
class Worker:
    """Does jobs.

    Attributes:
        graphs: Where the graphs are.
        device: Device of the models: ``cpu`` or ``cuda``.
    """

    graphs: GraphFolder = GraphFolder()
    device: str = "cpu"

    def __call__(self, job: Job) -> dict[str, Any]:
        """Return the result of a job."""
        return self.on(self.load(job), job)

    def load(self, job: Job) -> Graph:
        """Return the graph of a job."""
        return self.graphs.open(job.data, job.data_hash)

    def on(self, graph: Graph, job: Job) -> dict[str, Any]:
        """Return the result of a job on its graph, which may have come from another machine."""
        keep_freed_memory()
        check_content(graph, job.data, job.data_hash)
        split = make_split(graph, job.split or "uniform", job.seed)
        return TASKS[job.task](job, graph, split, self.device)


def fit(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Fit on train, select on val, and score once on test."""
    model, probabilities = _fitted(job, graph, split, device)
    return {**_description(model, graph, split), **_scores(job, graph, split, probabilities)}


def averaged(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Fit as many members as the job says, and score the mean of their class probabilities once on test."""
    model = AveragedClassifier(model_of(job, device), job.options["members"]).fit(graph, split)
    stages = [member.history_.get("classifier") for member in model.members_]
    epochs = sum(history.epochs for history in stages if history is not None)
    result = {"epochs": epochs, "stages": model.seconds_, "nodes": node_counts(split)}
    return {**result, **_scores(job, graph, split, model.predict_proba(graph))}


def trial(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Try settings in a search: fit on train and score on val; the test nodes are not used."""
    model, probabilities = _fitted(job, graph, split, device)
    val = score(job.options["metric"], probabilities, graph.y, split.val)
    return {"val": _finite(val), "epochs": model.history_["classifier"].epochs}


def tune(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Do one fit of a trial: score on validation nodes. The graph that it is given has no test label."""
    fit = job.options["fit"]
    seen, part = without_test_labels(graph, split), division(graph, split, fit)
    model = model_of(replace(job, seed=seed_of(job.seed, fit)), device).fit(seen, part)
    return {"val": _finite(score(job.options["metric"], model.predict_proba(seen), seen.y, part.val))}


def audit(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Return how many test nodes have an identical training node, and the score of copying its label."""
    report = audit_duplicates(graph, split).to_dict()
    best = max(report["kinds"], key=lambda kind: report["kinds"][kind]["accuracy"])
    return {**report, "best": best, "test": report["kinds"][best]["accuracy"]}


TASKS: dict[str, Task] = {
    "fit": fit,
    "averaged": averaged,
    "trial": trial,
    "tune": tune,
    "audit": audit,
    "ablation": paper_tasks.ablation,
    "autotune": paper_tasks.autotune,
    "half": paper_tasks.half,
    "diagnose": paper_tasks.diagnosis,
    "filter": paper_tasks.linear_filter,
    "restart": paper_tasks.with_model_seed(fit),
}


def _fitted(job: Job, graph: Graph, split: Split, device: str) -> tuple[NodeClassifier, FloatArray]:
    model = model_of(job, device).fit(graph, split)
    return model, model.predict_proba(graph)


def _description(model: NodeClassifier, graph: Graph, split: Split) -> dict[str, Any]:
    result: dict[str, Any] = {
        "epochs": model.history_["classifier"].epochs if "classifier" in model.history_ else 0,
        "stages": model.seconds_,
        "nodes": node_counts(split),
    }
    if isinstance(model, GOALClassifier):
        half = model.missing_half_
        result |= {
            "coefficients": model.coefficients_,
            "ks": model.diagnosis_.ks,
            "tendency": model.diagnosis_.tendency,
            "encoder": half and half.encoder,
            "encoder_share": model.encoder_share_,
            "half": half and half.kind,
            "half_edges": half and half.num_edges,
            "half_homophily": half and half.homophily(graph.y),
            "half_test_homophily": half and half.homophily(graph.y, split.test),
        }
        if model.settings_.method == "kernel":
            result |= {
                "half_words": half and half.words,
                "leaderboard": [vars(row) for row in model.leaderboard_],
            }
    return result


def _scores(job: Job, graph: Graph, split: Split, probabilities: FloatArray) -> dict[str, float | None]:
    parts, metric = {"val": split.val, "test": split.test}, job.options["metric"]
    return {name: _finite(score(metric, probabilities, graph.y, part)) for name, part in parts.items()}


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
