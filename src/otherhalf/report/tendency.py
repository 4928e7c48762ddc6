"""The verdict on a graph in plain words: what its edges join, and what that means for a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from otherhalf.complement.missing_half import MissingHalf
from otherhalf.diagnosis.duplicate_audit import audit_duplicates
from otherhalf.diagnosis.plain_words import EITHER, LIKE, MEASURES, UNLIKE, sentence, what_is_joined
from otherhalf.diagnosis.sentences import adjective, sample
from otherhalf.diagnosis.simple import simple_scores
from otherhalf.diagnosis.units import UnitFree
from otherhalf.diagnosis.verdict import Diagnosis, diagnose
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.report.reported import Reported
from otherhalf.report.values import number, numbers
from otherhalf.system.arrays import UNKNOWN

ADVICE = {
    LIKE: "A node's neighbours say much about its class, so the given edges alone are strong.",
    EITHER: "A node's neighbours are of any class, so averaging over them misleads; who they are, and what "
    "their features are, may still tell the class.",
    UNLIKE: "A node's neighbours are mostly of other classes, so averaging over them misleads; which classes "
    "they are of may still tell its own.",
}
"""What the verdict of the labels means for a model."""


def verdict(fit: Reported) -> dict[str, Any]:
    """Return what kind of graph this is, by the labels of training and validation nodes."""
    diagnosis: Diagnosis | None = getattr(fit.model, "diagnosis_", None)
    if diagnosis is None:  # a model that does not diagnose
        known = np.concatenate([fit.split.train, fit.split.val])
        diagnosis = diagnose(fit.graph, nodes=known, seed=fit.seed, simple=False)
    half: MissingHalf | None = getattr(fit.model, "missing_half_", None)
    return {
        "sentence": sentence(diagnosis, fit.graph.name),
        "meaning": meaning(diagnosis, half),
        "ks": number(diagnosis.ks),
        "ks_std": number(diagnosis.ks_std),
        "threshold": number(diagnosis.threshold),
        "tendency": diagnosis.tendency,
        "label_tendency": diagnosis.label_tendency,
        "contradiction": diagnosis.contradiction,
        "doubt": diagnosis.doubt,
        "measures": _measures(diagnosis),
        "cosines": {
            "bins": numbers(diagnosis.bin_edges),
            "connected": numbers(diagnosis.connected),
            "random": numbers(diagnosis.random),
        },
        "duplicates": duplicates(fit.graph, fit.split),
        "simple": _simple(fit),
    }


def meaning(diagnosis: Diagnosis, half: MissingHalf | None) -> list[str]:
    """Return what the verdict means for this graph, a sentence each."""
    above = diagnosis.ks > diagnosis.threshold
    lines = [
        f"D = {diagnosis.ks:.3f} says how far the features of connected nodes differ in similarity from "
        f"those of random nodes. It is {'above' if above else 'not above'} {diagnosis.threshold:g}, which "
        f"the paper takes for {'like joined with like' if above else 'unlike joined with unlike'}.",
    ]
    if diagnosis.sampled:
        lines.append(sample(diagnosis))
    if diagnosis.doubt:
        lines.append(diagnosis.doubt)
    if diagnosis.contradiction:
        lines.append("The labels contradict D, and they are nearer to what is to be learned.")
    if diagnosis.label_tendency in ("homophily", "heterophily"):
        lines.append(ADVICE[what_is_joined(diagnosis)])
    if half is None:
        lines.append("The model was fitted without a missing half.")
    else:
        lines.append(f"The missing half is {adjective(half.kind)}: {_joined(half.kind)}.")
    return lines


def _joined(kind: str) -> str:
    similar, unlike = "nodes that are alike but not connected", "nodes that are unlike"
    return {"homophily": f"it joins {similar}", "heterophily": f"it joins {unlike}"}.get(
        kind, f"it joins {similar}, and {unlike}"
    )


def duplicates(graph: Graph, split: Split) -> str:
    """Return the warning that copying the labels of identical nodes scores well, or an empty text."""
    try:
        return audit_duplicates(graph, split).warning
    except InputError:  # no labelled test node to copy to
        return ""


def _measures(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    rows = []
    for name, (title, explained) in MEASURES.items():
        value = getattr(diagnosis, name)
        if value is None:
            continue
        low, high = diagnosis.intervals.get(name) or (None, None)
        rows.append(
            {
                "name": name,
                "title": title,
                "value": number(value),
                "low": number(low),
                "high": number(high),
                "explained": explained,
            }
        )
    return rows


def _simple(fit: Reported) -> list[dict[str, Any]]:
    """Return what the two ways that take no time score on the labels of training and validation nodes."""
    graph, y = fit.graph, np.full_like(fit.graph.y, UNKNOWN)
    known = np.concatenate([fit.split.train, fit.split.val])
    y[known] = graph.y[known]
    # A column of zeros leaves out the regression on the features, which takes seconds.
    nothing = UnitFree(np.zeros((graph.num_nodes, 1), dtype=np.float32), "none")
    found = simple_scores(graph, nothing, y, np.random.default_rng(fit.seed))
    if not found:
        return []
    majority, neighbours = found["majority"], found["neighbours"]
    judged = f"on {majority['nodes']:,} training and validation nodes"
    return [
        {
            "title": "majority class",
            "score": number(majority["accuracy"]),
            "explained": f"accuracy of always saying {majority['class']}, {judged}",
        },
        {
            "title": "majority of the neighbours",
            "score": number(neighbours["accuracy"]),
            "explained": f"accuracy of the most frequent known label among a node's neighbours, {judged}",
        },
    ]
