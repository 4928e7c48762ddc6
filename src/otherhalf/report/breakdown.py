"""How good the classifier is on nodes it has not learned from: metrics, classes, groups and reliability.

The labels of the test nodes are read here to score, and nothing that learns sees the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.estimators.evaluation import Evaluation, class_shares
from otherhalf.report.groups import groups
from otherhalf.report.intervals import bootstrap_intervals
from otherhalf.report.reported import Reported
from otherhalf.report.values import number
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.training.metrics import METRICS

BINS = 10
MOST_WRONG = 20
MOST_CLASSES = 60
"""Most classes of which the confusion matrix and the table are complete; of more, the largest."""


def evaluation(fit: Reported, result: Mapping[str, Any], place: Mapping[int, int]) -> dict[str, Any]:
    """Return everything that the labels of the judged nodes say about the predictions.

    Args:
        fit: The fit.
        result: The result of the command that made it, which has evaluated it; it may be empty.
        place: Place of each node in the list of the explorer.
    """
    graph, nodes = fit.graph, fit.judged
    probabilities, y = fit.probabilities[nodes], graph.y[nodes]
    found = _evaluated(fit, result)
    bounds = bootstrap_intervals(probabilities, y, fit.seed)
    kept = _kept_classes(found)
    return {
        "part": fit.judged_part,
        "nodes": found.nodes,
        "metrics": [
            {
                "name": name,
                "title": metric.title,
                "value": number(found.metrics[name]),
                "low": number((bounds.get(name) or (None, None))[0]),
                "high": number((bounds.get(name) or (None, None))[1]),
                "majority": number(found.majority[name]),
                "larger_is_better": metric.larger_is_better,
            }
            for name, metric in METRICS.items()
            if found.metrics.get(name) is not None
        ],
        "per_class": [_class_row(found.per_class[c]) for c in kept],
        "confusion": [[found.confusion[row][column] for column in kept] for row in kept],
        "confusion_classes": [str(found.classes[c]) for c in kept],
        "largest": [
            {"true": str(row["true"]), "predicted": str(row["predicted"]), "nodes": row["nodes"]}
            for row in found.largest
        ],
        "by": groups(fit) if len(nodes) else [],
        "reliability": reliability(fit.confidence[nodes], fit.predicted[nodes] == y),
        "calibration_error": number(found.metrics.get("calibration_error")),
        "surest_wrong": [
            {"node": place[node], "confidence": number(fit.confidence[node])} for node in surest_wrong(fit)
        ],
    }


def surest_wrong(fit: Reported) -> list[int]:
    """Return the wrongly predicted judged nodes with the largest probabilities, surest first."""
    wrong = wrong_nodes(fit)
    order = np.argsort(-fit.confidence[wrong], kind="stable")
    return [int(node) for node in wrong[order][:MOST_WRONG]]


def wrong_nodes(fit: Reported) -> IntArray:
    """Return the judged nodes that are predicted wrongly, ascending."""
    return np.asarray(fit.judged[fit.predicted[fit.judged] != fit.graph.y[fit.judged]])


def reliability(confidence: FloatArray, right: npt.NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Return the bins of confidence that have nodes: their mean confidence, and the share that is right."""
    sure = confidence.astype(np.float64)
    # The second step is for a confidence at the end of a bin, which rounding may put into the next one.
    bins = np.clip(np.ceil(np.round(sure * BINS, 6)).astype(np.int64) - 1, 0, BINS - 1)
    rows = []
    for each in np.unique(bins):
        chosen = bins == each
        rows.append(
            {
                "low": number(each / BINS),
                "high": number((each + 1) / BINS),
                "confidence": number(sure[chosen].mean()),
                "accuracy": number(right[chosen].mean()),
                "nodes": int(chosen.sum()),
            }
        )
    return rows


def _evaluated(fit: Reported, result: Mapping[str, Any]) -> Evaluation:
    if "evaluation" in result:
        return Evaluation.from_dict(result["evaluation"][fit.judged_part])
    shares = class_shares(fit.graph.y[fit.split.train], fit.graph.num_classes)
    nodes, metric = fit.judged, fit.model.metric_choice_.name
    return Evaluation.of(
        fit.probabilities[nodes], fit.graph.y[nodes], fit.graph.classes, metric, shares=shares
    )


def _kept_classes(found: Evaluation) -> list[int]:
    """Return the classes to show: all, or those with the most nodes."""
    sizes = np.array([row["nodes"] for row in found.per_class])
    return [int(c) for c in np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])]


def _class_row(row: Mapping[str, Any]) -> dict[str, Any]:
    shares = {name: number(row[name]) for name in ("precision", "recall", "f1")}
    return {"class": str(row["class"]), "nodes": row["nodes"], **shares}
