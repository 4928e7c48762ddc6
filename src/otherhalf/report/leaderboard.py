"""The classifier: its members, the simple models beside it, its trainings, and its coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from otherhalf.report.reported import Reported
from otherhalf.report.values import number, numbers
from otherhalf.training.checkpoint import History
from otherhalf.training.metrics import METRICS

MOST_POINTS = 200
"""Most points of a curve."""

EXPLAINED = {
    "spread": "labels spread over the found half",
    "label propagation": "labels passed along the given edges",
    "trees": "randomised trees over the graph as a table",
    "boosted trees": "boosted trees over the graph as a table",
    "GOAL": "a network over both halves",
}
ENCODER = "the encoder of the embedding, which sees the given edges only"
PLAIN = "a network over the given edges only"

COEFFICIENTS = {
    "alpha": "how much a node's own features count",
    "beta": "how much the homophilic half counts, whose neighbours are added",
    "gamma": "how much the heterophilic half counts, whose neighbours are subtracted",
    "delta": "how much the homophilic neighbours of the heterophilic neighbours count, which are subtracted",
}


def classifier(fit: Reported, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the model is made of, and how it was trained.

    Args:
        fit: The fit.
        result: The result of the command that made it, with its simple models; it may be empty.
    """
    choice = fit.model.metric_choice_
    metric = METRICS[choice.name]
    history = dict(fit.model.history_)
    if "GOAL 1" in history:
        history.pop("classifier", None)  # another name for it
    return {
        "metric": metric.name,
        "metric_title": metric.title,
        "metric_reason": choice.reason,
        "larger_is_better": metric.larger_is_better,
        "leaderboard": [
            {
                "member": row.member,
                "explained": explained(row.member),
                "validation": number(row.validation),
                "weight": number(row.weight),
                "seconds": number(row.seconds, 2),
            }
            for row in getattr(fit.model, "leaderboard_", [])
        ],
        "simple": [
            {"title": row["title"], "validation": number(row["validation"]), "test": number(row["test"])}
            for row in result.get("simple", [])
        ],
        "curves": [
            # The head of an embedding is not judged by the metric.
            curve(name, each, 1 if name == "head" else metric.sign)
            for name, each in history.items()
            if each.epochs
        ],
        "coefficients": [
            {name: number(value) for name, value in layer.items()}
            for layer in getattr(fit.model, "coefficients_", [])
        ],
        "coefficient_meaning": COEFFICIENTS,
    }


def explained(member: str) -> str:
    """Return what a member of the leaderboard is."""
    return EXPLAINED.get(member, ENCODER if member.startswith("encoder ") else PLAIN)


def curve(name: str, history: History, sign: int = 1) -> dict[str, Any]:
    """Return the losses and the validation scores of a training, every ``step``-th epoch.

    Args:
        name: Name of the training.
        history: Its losses and scores by epoch.
        sign: −1 for a metric of which less is better: the scores of a training have the sign changed.
    """
    step = -(-history.epochs // MOST_POINTS)
    scores = [row[0] if row else np.nan for row in history.scores[::step]]
    return {
        "name": name,
        "losses": numbers(history.losses[::step]),
        "scores": numbers(sign * np.asarray(scores, dtype=np.float64)),
        "best": history.best_epoch,
        "step": step,
    }
