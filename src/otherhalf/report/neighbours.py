"""The neighbours of a few nodes in both halves, the weightiest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otherhalf.report.reported import Reported
from otherhalf.report.values import numbers
from otherhalf.system.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For each of some nodes: its neighbours, the heaviest first, and how many more there are.

    Attributes:
        given: Neighbours over the given edges, whatever their direction.
        given_more: How many of them are not listed.
        found: Nodes that it was joined to in the found half.
        weights: The weights of these pairs.
        found_more: How many of them are not listed.
    """

    given: list[list[int]]
    given_more: list[int]
    found: list[list[int]]
    weights: list[list[float]]
    found_more: list[int]

    @classmethod
    def of(cls, fit: Reported, nodes: IntArray, most_given: int, most_found: int) -> Neighbours:
        """List the neighbours; among equal weights the lower node number comes first.

        Args:
            fit: The fit.
            nodes: The nodes.
            most_given: Most neighbours that are listed over the given edges.
            most_found: Most neighbours that are listed in the found half.
        """
        rows = fit.graph.adjacency[nodes]
        given = [
            heaviest(rows.indices[start:end], rows.data[start:end], most_given)
            for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ]
        found = _found(fit, nodes, most_found)
        return cls(
            [listed for listed, _, _ in given],
            [more for _, _, more in given],
            [listed for listed, _, _ in found],
            [weights for _, weights, _ in found],
            [more for _, _, more in found],
        )


Listed = tuple[list[int], list[float], int]


def heaviest(nodes: IntArray, weights: FloatArray, most: int) -> Listed:
    """Return the nodes with the largest absolute weights, their weights, and how many others there are."""
    order = np.lexsort((nodes, -np.abs(weights)))[:most]
    return nodes[order].tolist(), numbers(weights[order]), len(nodes) - len(order)


def _found(fit: Reported, nodes: IntArray, most: int) -> list[Listed]:
    half = getattr(fit.model, "missing_half_", None)
    if half is None:
        return [([], [], 0)] * len(nodes)
    row_of = np.full(fit.graph.num_nodes, -1)
    row_of[nodes] = np.arange(len(nodes))
    rows = row_of[half.pairs[0]]
    kept = np.flatnonzero(rows >= 0)
    kept = kept[np.argsort(rows[kept], kind="stable")]
    targets = half.pairs[1][kept]
    weights = np.ones(len(kept), dtype=np.float32) if half.weights is None else half.weights[kept]
    ends = np.cumsum(np.bincount(rows[kept], minlength=len(nodes)))
    starts = np.append(0, ends[:-1])
    return [heaviest(targets[a:b], weights[a:b], most) for a, b in zip(starts, ends, strict=True)]
