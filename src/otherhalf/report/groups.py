"""Where a model fails: its score by degree, by node homophily, by distance to training nodes, by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from otherhalf.graph import Graph
from otherhalf.report.intervals import MEANS, Values, Z, per_node, wilson
from otherhalf.report.reported import PARTS, Reported
from otherhalf.report.values import number
from otherhalf.system.arrays import UNKNOWN, IntArray
from otherhalf.training.metrics import METRICS

FEWEST = 10
"""Fewest nodes of a group, unless there are fewer in all; then neighbouring groups are put together."""

MOST_GROUPS = 8
FURTHEST = 8
"""Largest distance that is told apart."""

STEPS = 5
"""Groups of node homophily."""


def groups(fit: Reported) -> list[dict[str, Any]]:
    """Return the score of the judged nodes in groups, and that of each part."""
    metric = group_metric(fit.model.metric_choice_.name)
    nodes = fit.judged
    values = per_node(metric, fit.probabilities[nodes], fit.graph.y[nodes])
    rows = [
        ("degree", "number of neighbours", _by_number(fit.degrees[nodes], values)),
        (
            "node homophily",
            "share of the labelled neighbours that have the node's class; it needs the node's own label, so "
            "it cannot be known before",
            _by_homophily(node_homophily(fit.graph)[nodes], values),
        ),
        (
            "distance to the nearest training node",
            "number of given edges on the shortest way",
            _by_distance(distances(fit.graph, fit.split.train)[nodes], values),
        ),
        (
            "part",
            "the model has learned from the labels of training nodes and was selected by those of validation "
            "nodes",
            _by_part(fit, metric),
        ),
    ]
    return [
        {"title": title, "explained": explained, "metric": METRICS[metric].title, "groups": found}
        for title, explained, found in rows
        if found
    ]


def group_metric(name: str) -> str:
    """Return the metric itself if it is a mean over nodes, and accuracy for all others."""
    return name if name in MEANS else "accuracy"


def node_homophily(graph: Graph) -> Values:
    """Return ``[N]``: the share of a node's labelled neighbours with its class; NaN where there is none."""
    y, (one, other) = graph.y, graph.undirected_edges
    kept = (y[one] != UNKNOWN) & (y[other] != UNKNOWN)
    ends = np.concatenate([one[kept], other[kept]])
    same = np.tile(y[one[kept]] == y[other[kept]], 2)
    count = np.bincount(ends, minlength=graph.num_nodes)
    alike = np.bincount(ends, weights=same, minlength=graph.num_nodes)
    with np.errstate(invalid="ignore"):
        return np.asarray(alike / count)


def distances(graph: Graph, start: IntArray, furthest: int = FURTHEST) -> IntArray:
    """Return ``[N]``: the number of edges to the nearest start node; ``furthest + 1`` if more, or no way."""
    adjacency = graph.adjacency
    found = np.full(graph.num_nodes, furthest + 1, dtype=np.int64)
    found[start] = 0
    edge = np.asarray(start)
    for step in range(1, furthest + 1):
        reached = np.unique(adjacency[edge].indices)
        edge = reached[found[reached] > furthest]
        if len(edge) == 0:
            break
        found[edge] = step
    return found


def merged(counts: Sequence[int], fewest: int) -> list[tuple[int, int]]:
    """Return ranges of neighbouring groups, first and last included, that have enough nodes each.

    Args:
        counts: Numbers of nodes of the groups in order.
        fewest: Fewest nodes of a range, unless all together have fewer.
    """
    ranges: list[tuple[int, int]] = []
    first = size = 0
    for place, count in enumerate(counts):
        size += count
        if size >= fewest:
            ranges.append((first, place))
            first, size = place + 1, 0
    if first < len(counts):
        if ranges:
            ranges[-1] = (ranges[-1][0], len(counts) - 1)
        else:
            ranges.append((first, len(counts) - 1))
    return ranges


def group(label: str, values: Values) -> dict[str, Any]:
    """Return the mean of a group with its 95 % interval: Wilson's for shares, else by the standard error."""
    n, mean = len(values), float(values.mean())
    if np.isin(values, (0.0, 1.0)).all():
        low, high = wilson(int(values.sum()), n)
    else:
        error = Z * float(values.std(ddof=1)) / np.sqrt(n) if n > 1 else np.nan
        low, high = mean - error, mean + error
    return {"label": label, "nodes": n, "value": number(mean), "low": number(low), "high": number(high)}


def _enough(n: int) -> int:
    return max(FEWEST, -(-n // MOST_GROUPS))


def _by_number(numbers: IntArray, values: Values, *, open_end: bool = True) -> list[dict[str, Any]]:
    distinct, counts = np.unique(numbers, return_counts=True)
    found = []
    ranges = merged(counts.tolist(), _enough(len(numbers)))
    for first, last in ranges:
        low, high = int(distinct[first]), int(distinct[last])
        label = str(low) if low == high else f"{low}–{high}"
        if open_end and (first, last) == ranges[-1] and low != high:
            label = f"{low} and more"
        found.append(group(label, values[(numbers >= low) & (numbers <= high)]))
    return found


def _by_homophily(shares: Values, values: Values) -> list[dict[str, Any]]:
    known = ~np.isnan(shares)
    step = np.clip((shares[known] * STEPS).astype(np.int64), 0, STEPS - 1)
    found = []
    for first, last in merged(np.bincount(step, minlength=STEPS).tolist() if len(step) else [], FEWEST):
        chosen = values[known][(step >= first) & (step <= last)]
        if len(chosen):
            found.append(group(f"{100 * first // STEPS}–{100 * (last + 1) // STEPS} %", chosen))
    if not known.all():
        found.append(group("no labelled neighbour", values[~known]))
    return found


def _by_distance(steps: IntArray, values: Values) -> list[dict[str, Any]]:
    near = steps <= FURTHEST
    found = _by_number(steps[near], values[near], open_end=bool(near.all())) if near.any() else []
    if not near.all():
        found.append(group(f"more than {FURTHEST}, or no way", values[~near]))
    return found


def _by_part(fit: Reported, metric: str) -> list[dict[str, Any]]:
    found = []
    words = {"train": "training", "val": "validation", "test": "test"}
    for part in PARTS:
        nodes = getattr(fit.split, part)
        nodes = nodes[fit.graph.y[nodes] != UNKNOWN]
        if len(nodes):
            found.append(group(words[part], per_node(metric, fit.probabilities[nodes], fit.graph.y[nodes])))
    return found
