"""What the simplest ways would score on the known labels.

Neither neighbours nor regression see the label of the node that they are judged on. It counts only, as one of
all, in which class is the most frequent.
"""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from otherhalf.diagnosis.units import UnitFree
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN, IntArray

FEATURE_NODES = 2000
"""The estimate by features is made on a sample of at most so many labelled nodes, in seconds."""

FOLDS = 5
MIN_NODES = 20
"""With fewer labelled nodes an estimate would say nothing."""


def simple_scores(
    graph: Graph, features: UnitFree, y: IntArray, rng: np.random.Generator
) -> dict[str, dict[str, Any]]:
    """Return what three simple ways would score.

    - ``majority``: the most frequent ``class``;
    - ``neighbours``: the most frequent label among the neighbours of a node, which counts by the weights of
      the edges; nodes ``without`` a labelled neighbour get the most frequent class, and it decides ties;
    - ``features``: logistic regression on the features alone, by five-fold cross-validation.

    Args:
        graph: The graph; its own labels are not read.
        features: Its features.
        y: ``[N]`` class codes that may be used, −1 for unknown.
        rng: Generator of sample and folds.

    Returns:
        For each way its ``accuracy`` and the number of ``nodes`` that it was judged on. It is empty with
        fewer than :data:`MIN_NODES` labels or one class, and without ``features`` if they are constant.
    """
    known = np.flatnonzero(y != UNKNOWN)
    counts = np.bincount(y[known], minlength=graph.num_classes)
    if len(known) < MIN_NODES or np.count_nonzero(counts) < 2:
        return {}
    top = int(counts.argmax())
    vote = _votes(graph.adjacency[known], y, counts)
    scores: dict[str, dict[str, Any]] = {
        "majority": {
            "accuracy": float(counts[top] / len(known)),
            "nodes": len(known),
            "class": str(graph.classes[top]),
        },
        "neighbours": {
            "accuracy": float(np.mean(np.where(vote == UNKNOWN, top, vote) == y[known])),
            "nodes": len(known),
            "without": int(np.count_nonzero(vote == UNKNOWN)),
        },
    }
    if features.used_columns():
        sample = known
        if len(known) > FEATURE_NODES:
            sample = np.sort(rng.choice(known, FEATURE_NODES, replace=False))
        accuracy = _cross_validated(features, sample, y, int(rng.integers(2**31)))
        scores["features"] = {"accuracy": accuracy, "nodes": len(sample)}
    return scores


def _votes(rows: sp.csr_matrix, y: IntArray, counts: IntArray) -> IntArray:
    """Return the most frequent label among the entries of each row; UNKNOWN if none has a label.

    The more frequent class of all decides ties, then the lower code.
    """
    known = np.flatnonzero(y != UNKNOWN)
    ones = np.ones(len(known), dtype=np.float64)
    labels = sp.csr_matrix((ones, (known, y[known])), shape=(len(y), len(counts)))
    votes = sp.csr_matrix(rows @ labels)
    row = np.repeat(np.arange(votes.shape[0]), np.diff(votes.indptr))
    order = np.lexsort((-votes.indices, counts[votes.indices], votes.data, row))
    result = np.full(votes.shape[0], UNKNOWN)
    result[row[order]] = votes.indices[order]  # the last one of a row stays
    return result


def _cross_validated(features: UnitFree, nodes: IntArray, y: IntArray, seed: int) -> float:
    # Half a second to import, and a fit does not need them.
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold
    from sklearn.preprocessing import MaxAbsScaler

    x, y = features.x[nodes], y[nodes]
    if features.scaling != "standard":
        x = MaxAbsScaler().fit_transform(x)
    right = 0
    for train, test in KFold(FOLDS, shuffle=True, random_state=seed).split(nodes):
        guess = y[train[0]]
        if (y[train] != guess).any():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of few steps, and of many classes
                guess = LogisticRegression(tol=1e-2, max_iter=50).fit(x[train], y[train]).predict(x[test])
        right += int(np.count_nonzero(guess == y[test]))
    return right / len(nodes)
