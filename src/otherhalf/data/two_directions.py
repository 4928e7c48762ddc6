"""Edges that are given in both directions, as PyG and matrices have those of an undirected graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

ROUNDING = 1e-6
"""Weights of the two directions of an edge that differ by this part of the largest weight are the same."""


def without_reverses(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    n: int,
    directed: bool | None,
    *,
    weights: npt.NDArray[Any] | None = None,
    relations: npt.NDArray[Any] | None = None,
) -> tuple[npt.NDArray[np.bool_], bool]:
    """Return which edges to keep, of a symmetric graph those of one direction, and whether it is directed.

    The reverses are left out because a graph would count them as repeats, and add their weights.

    Args:
        source: ``[E]`` node indices.
        target: ``[E]`` node indices.
        n: N.
        directed: Whether to keep the direction; None keeps it unless the graph is symmetric.
        weights: ``[E]``: a symmetric graph has the same weights in both directions.
        relations: ``[E]`` codes: a symmetric graph has the same relations in both directions.
    """
    everything = np.ones(len(source), dtype=bool)
    if source.dtype.kind not in "iu" or directed:
        return everything, bool(directed)
    there, back = (_sums(*ends, n, weights, relations) for ends in ((source, target), (target, source)))
    symmetric = np.array_equal(there[0], back[0])
    if symmetric and weights is not None and len(weights):
        symmetric = bool(np.abs(there[1] - back[1]).max() <= ROUNDING * there[1].max())
    kept = source <= target if symmetric else everything
    return kept, not symmetric if directed is None else directed


def _sums(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    n: int,
    weights: npt.NDArray[Any] | None,
    relations: npt.NDArray[Any] | None,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the distinct pairs of ends as sorted numbers, and the sum of the weights of each."""
    keys = source.astype(np.int64) * n + target
    if relations is not None:
        keys = keys + relations.astype(np.int64) * np.int64(n) ** 2
    if weights is None:
        return np.unique(keys), np.empty(0)
    distinct, place = np.unique(keys, return_inverse=True)
    return distinct, np.bincount(place, weights.astype(np.float64))


def differing(entries: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return the entries, or None if they are all the same and so no weights."""
    return entries if len(entries) and (entries != entries[0]).any() else None
