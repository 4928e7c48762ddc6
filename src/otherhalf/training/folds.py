"""Folds of training nodes: every node is predicted by a model that was not trained on it."""

import numpy as np

from otherhalf.system.arrays import IntArray


def stratified_folds(codes: IntArray, count: int, seed: int) -> IntArray:
    """Return the fold 0 … ``count`` − 1 of each node; folds have equal shares of every class, up to one node.

    Args:
        codes: ``[n]`` class codes of the training nodes.
        count: Number of folds.
        seed: Seed of the order within a class.
    """
    order = np.random.default_rng(seed).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[order] = np.arange(len(codes)) % count
    return folds
