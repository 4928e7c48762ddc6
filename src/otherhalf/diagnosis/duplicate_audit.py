"""The accuracy of copying the labels of identical training nodes, without any learning.

A model that remembers a node also knows every node with the same neighbours or features. If one of them is in
train and another in test, the test score shows memory and not learning (Platonov et al. 2023, "A critical
look at the evaluation of GNNs under heterophily", found this in Chameleon and Squirrel).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from otherhalf.diagnosis.duplicates import NONE, WORDS, Duplicates, find_duplicates
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, IntArray

SUBSTANTIAL = 0.05
"""There is a warning if the look-up beats the most frequent class by more than this much accuracy.

And by more than twice the standard error: with a few dozen test nodes, chance alone often gives 0.05.
"""


@dataclass(frozen=True)
class Lookup:
    """The result of looking up identical training nodes, for one kind of identity.

    ``groups`` and ``nodes`` are those of the graph. ``answerable`` test nodes have an identical training
    node; ``answerable_accuracy`` is the accuracy on these alone (None if there are none), ``accuracy`` that
    on all test nodes. ``gain`` is the difference to the accuracy of the most frequent class, and
    ``gain_error`` its standard error, from comparing the two node by node. ``roc_auc`` is None unless there
    are two classes and both are among the test nodes.
    """

    groups: int
    nodes: int
    answerable: int
    answerable_share: float
    answerable_accuracy: float | None
    accuracy: float
    gain: float
    gain_error: float
    roc_auc: float | None


@dataclass(frozen=True)
class DuplicateAudit:
    """The result of :func:`audit_duplicates`: ``print`` gives sentences, :meth:`to_dict` values."""

    split: str
    seed: int | None
    nodes: int
    test_nodes: int
    majority_accuracy: float
    kinds: Mapping[str, Lookup]

    @property
    def substantial(self) -> tuple[str, ...]:
        """The kinds whose look-up beats the most frequent class by more than :data:`SUBSTANTIAL`."""
        return tuple(k for k, v in self.kinds.items() if v.gain > max(SUBSTANTIAL, 2 * v.gain_error))

    @property
    def warning(self) -> str:
        """Two sentences on the kind with the most accurate look-up, if it is substantial; otherwise empty."""
        if not self.substantial:
            return ""
        kind = max(self.substantial, key=lambda kind: self.kinds[kind].accuracy)
        advice = (
            "If the features have few different values, that may be fair; if nodes are repeated, "
            if kind == "features"
            else "If the reason is that nodes are repeated, "
        )
        return (
            f"{self._sentence(kind)} {advice}a score on this graph shows memory as well as learning: "
            "also report a score without the repeated nodes."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers in Python types that JSON has."""
        return {**vars(self), "kinds": {kind: dict(vars(lookup)) for kind, lookup in self.kinds.items()}}

    def __str__(self) -> str:
        return " ".join(self._sentence(kind) for kind in self.kinds)

    def _sentence(self, kind: str) -> str:
        lookup, words = self.kinds[kind], WORDS[kind]
        text = f"{lookup.nodes:,} of {self.nodes:,} nodes have the same {words} as another node"
        if lookup.answerable_accuracy is None:
            return f"{text}; no test node has those of a training node."
        seed = "" if self.seed is None else f", seed {self.seed}"
        return (
            f"{text}; {lookup.answerable_share:.1%} of the test nodes ({self.split} split{seed}) can be "
            f"answered by looking up a training node with the same {words}, which is right for "
            f"{lookup.answerable_accuracy:.1%} of them, and that alone scores {lookup.accuracy:.1%} on all "
            f"test nodes, where the most frequent class scores {self.majority_accuracy:.1%}."
        )


def audit_duplicates(graph: Graph, split: Split, duplicates: Duplicates | None = None) -> DuplicateAudit:
    """Score the look-up of identical training nodes on the test nodes, for each kind of identity.

    A test node gets the most frequent label of the training nodes identical to it or, if there are none, of
    all training nodes; of equally frequent labels the one with the smaller code. With two classes, the share
    of the second class among the same training nodes is the score for the ROC-AUC.

    The test labels are read once and only to score, as for any model: nothing is selected by them. Nothing
    that trains should use the result.

    Args:
        graph: The graph, with labels.
        split: The training and the test nodes; validation nodes and unlabelled nodes are not used.
        duplicates: Result of :func:`find_duplicates` for this graph, if it is known.
    """
    split.check_against(graph)
    train, test = (part[graph.y[part] != UNKNOWN] for part in (split.train, split.test))
    if len(train) == 0 or len(test) == 0:
        raise InputError(
            'the look-up needs labelled nodes in train and in test: use, for example, split(graph, "uniform")'
        )
    duplicates = find_duplicates(graph) if duplicates is None else duplicates
    counts = np.bincount(graph.y[train], minlength=graph.num_classes)
    majority = int(counts.argmax())
    right_by_majority = graph.y[test] == majority
    kinds = {}
    for kind, first in duplicates.first.items():
        frequent = _most_frequent(first[train], graph.y[train], graph.num_nodes, graph.num_classes)
        answers = np.where(first[test] == NONE, UNKNOWN, frequent[first[test]])
        answerable = answers != UNKNOWN
        right = np.where(answerable, answers, majority) == graph.y[test]
        gained = right.astype(np.float64) - right_by_majority
        groups, nodes = duplicates.count(kind)
        kinds[kind] = Lookup(
            groups=groups,
            nodes=nodes,
            answerable=int(answerable.sum()),
            answerable_share=float(answerable.mean()),
            answerable_accuracy=float(right[answerable].mean()) if answerable.any() else None,
            accuracy=float(right.mean()),
            gain=float(gained.mean()),
            gain_error=float(gained.std() / np.sqrt(len(test))),
            roc_auc=_lookup_roc_auc(first, train, test, graph.y) if graph.num_classes == 2 else None,
        )
    return DuplicateAudit(
        split=split.kind,
        seed=split.seed,
        nodes=graph.num_nodes,
        test_nodes=len(test),
        majority_accuracy=float(right_by_majority.mean()),
        kinds=kinds,
    )


def _most_frequent(first: IntArray, y: IntArray, num_nodes: int, num_classes: int) -> IntArray:
    """Return [N]: the most frequent label of the nodes whose first identical node is this one, or UNKNOWN."""
    keys, counts = np.unique((first * np.int64(num_classes) + y)[first != NONE], return_counts=True)
    groups, labels = keys // num_classes, keys % num_classes
    # The last entry of a group has the largest count and, of equal counts, the smallest class.
    order = np.lexsort((-labels, counts, groups))
    groups, labels = groups[order], labels[order]
    last = np.append(np.diff(groups) != 0, True)[: len(groups)]
    result = np.full(num_nodes, UNKNOWN, dtype=np.int64)
    result[groups[last]] = labels[last]
    return result


def _lookup_roc_auc(first: IntArray, train: IntArray, test: IntArray, y: IntArray) -> float | None:
    positive, truth = y[train] == 1, y[test] == 1
    if truth.all() or not truth.any():
        return None
    from sklearn.metrics import roc_auc_score  # takes a second to import, and most graphs do not need it

    comparable = first[train] != NONE
    totals = np.bincount(first[train][comparable], minlength=len(y))
    positives = np.bincount(first[train][comparable & positive], minlength=len(y))
    shares = np.where(totals > 0, positives / np.maximum(totals, 1), positive.mean())
    scores = np.where(first[test] == NONE, positive.mean(), shares[first[test]])
    return float(roc_auc_score(truth, scores))
