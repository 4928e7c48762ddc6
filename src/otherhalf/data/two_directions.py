"""Edges that are given in both directions, as PyG and matrices have those of an undirected graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.system.arrays import IntArray, distinct_keys

ROUNDING = 1e-6
"""Weights of the two directions of an edge that differ by this part of the largest weight are the same."""


def without_reverses(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    weights: npt.NDArray[Any] | None,
    n: int,
    directed: bool | None,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None, bool]:
    """Return edges and weights, in one direction if the graph is symmetric, and whether they are directed.

    The reverses are removed because a graph would count them as repeats, and add their weights.

    Args:
        source: ``[E]`` node indices.
        target: ``[E]`` node indices.
        weights: ``[E]``, or None.
        n: N.
        directed: Whether to keep the direction; None keeps it unless the graph is symmetric.
    """
    if source.dtype.kind not in "iu" or directed:
        return np.stack([source, target]), weights, bool(directed)
    symmetric = np.array_equal(_keys(source, target, n), _keys(target, source, n))
    if symmetric and weights is not None and len(weights):
        there, back = (_sums(*ends, weights, n) for ends in ((source, target), (target, source)))
        symmetric = bool(np.abs(there - back).max() <= ROUNDING * there.max())
    if symmetric:
        one_way = source <= target
        source, target = source[one_way], target[one_way]
        weights = None if weights is None else weights[one_way]
    return np.stack([source, target]), weights, not symmetric if directed is None else directed


def _sums(
    source: npt.NDArray[Any], target: npt.NDArray[Any], weights: npt.NDArray[Any], n: int
) -> npt.NDArray[np.float64]:
    """Return the weight of each pair of ends, in the order of the pairs."""
    _, place = np.unique(source.astype(np.int64) * n + target, return_inverse=True)
    return np.bincount(place, weights.astype(np.float64)).astype(np.float64)


def _keys(source: npt.NDArray[Any], target: npt.NDArray[Any], n: int) -> IntArray:
    return distinct_keys(source.astype(np.int64) * n + target)


def differing(entries: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return the entries, or None if they are all the same and so no weights."""
    return entries if len(entries) and (entries != entries[0]).any() else None
