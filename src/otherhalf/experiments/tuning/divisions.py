"""The fits of a trial: on which nodes each one learns and is judged. No test label is within their reach."""

from dataclasses import replace

import numpy as np

from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN

RANDOM_KINDS = ("uniform", "stratified", "quota")
"""Splits that are drawn; the others came with the data: somebody chose their validation nodes."""


def without_test_labels(graph: Graph, split: Split) -> Graph:
    """Return the graph with the labels of training and validation nodes only."""
    known = np.concatenate([split.train, split.val])
    y = np.full(graph.num_nodes, UNKNOWN)
    y[known] = graph.y[known]
    return replace(graph, y=y, classes=graph.classes)


def division(graph: Graph, split: Split, fit: int) -> Split:
    """Return the nodes of a fit, without test nodes; fit 0 has those of the split.

    Later fits of a split that was drawn divide its training and validation nodes anew, and each class keeps
    its number of nodes in both. A split that came with the data stays: its validation nodes may be newer than
    its training nodes, or of another kind. There, later fits differ in their seed alone.
    """
    nobody = np.empty(0, dtype=np.int64)
    if fit == 0 or split.kind not in RANDOM_KINDS:
        return replace(split, test=nobody)
    nodes = np.concatenate([split.train, split.val])
    in_val = np.concatenate([np.zeros(len(split.train), bool), np.ones(len(split.val), bool)])
    rng = np.random.default_rng([split.seed or 0, fit])
    for label in np.unique(graph.y[nodes]):
        own = np.flatnonzero(graph.y[nodes] == label)
        in_val[own] = rng.permutation(in_val[own])
    return replace(split, train=nodes[~in_val], val=nodes[in_val], test=nobody)


def seed_of(seed: int, fit: int) -> int:
    """Return the seed of the weights of a fit; fit 0 has that of the final model."""
    return seed if fit == 0 else int(np.random.SeedSequence([seed, fit]).generate_state(1, np.uint64)[0])
