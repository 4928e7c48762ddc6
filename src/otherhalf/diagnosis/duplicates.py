"""Identical nodes of a graph: nodes with the same neighbours or the same features as another node."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.graph import Graph
from otherhalf.system.arrays import FloatArray, IntArray, frozen

Matrix: TypeAlias = FloatArray | sp.csr_matrix

NONE = -1
"""Takes the place of the first identical node for a node that has nothing to compare."""

BLOCK = 2_000_000
"""About how many matrix entries are hashed or compared at once."""

WORDS = {
    "out_neighbours": "out-neighbours",
    "neighbours": "neighbours",
    "features": "features",
    "neighbours_and_features": "neighbours and features",
}


@dataclass(frozen=True, eq=False)
class Duplicates:
    """The identical nodes of a graph, by what is identical: see :func:`find_duplicates`.

    ``first[kind]`` is [N]: the first node that is identical to each node (the node itself if none comes
    before it), −1 for a node with nothing to compare. So two nodes are identical if their entries are equal
    and not −1.
    """

    first: Mapping[str, IntArray] = field(repr=False)

    def count(self, kind: str) -> tuple[int, int]:
        """Return the number of groups of two or more identical nodes, and of the nodes in these groups."""
        first = self.first[kind]
        sizes = np.bincount(first[first != NONE])
        return int((sizes > 1).sum()), int(sizes[sizes > 1].sum())

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return for each kind the number of ``groups`` and of the ``nodes`` in them."""
        return {kind: dict(zip(("groups", "nodes"), self.count(kind), strict=True)) for kind in self.first}


def find_duplicates(graph: Graph) -> Duplicates:
    """Find the nodes that are identical to another node. Labels are not used.

    Two nodes can be identical in these ways:

    * ``"out_neighbours"``: edges to exactly the same nodes; only in a directed graph.
    * ``"neighbours"``: the same neighbours, in either direction. Neighbours of each other are never identical
      in this way, because no node is its own neighbour.
    * ``"features"``: the same features, to the last bit.
    * ``"neighbours_and_features"``: the same neighbours and the same features.

    A node without neighbours is identical to no node by its neighbours, and a node whose features are all
    zero to no node by its features: two nodes are not the same because nothing is known about them.

    Args:
        graph: The graph. Its self loops were dropped when it was made, so they do not count here.
    """
    neighbours, features = _first_identical(graph.adjacency), _first_identical(graph.x)
    first = {
        "neighbours": neighbours,
        "features": features,
        "neighbours_and_features": _first_in_both(neighbours, features),
    }
    if graph.directed:
        first = {"out_neighbours": _first_identical(graph.adjacency_in("given")), **first}
    return Duplicates({kind: frozen(nodes) for kind, nodes in first.items()})


def _first_identical(matrix: Matrix) -> IntArray:
    """Return for each row the first row equal to it, −1 for a row of zeros.

    Equal rows have equal hashes, so only rows with equal hashes are compared, entry by entry: a collision
    costs time but never makes two different rows the same.
    """
    hashes, lengths = _hashed(matrix)
    first = np.full(len(hashes), NONE, dtype=np.int64)
    rows = np.flatnonzero(lengths)
    while len(rows):  # once, and once more for every collision of hashes
        rows = rows[np.argsort(hashes[rows], kind="stable")]
        starts = np.append(True, np.diff(hashes[rows]) != 0)
        heads = rows[starts][np.cumsum(starts) - 1]
        same = lengths[rows] == lengths[heads]
        compared = np.flatnonzero(same & ~starts)
        same[compared] = _equal(matrix, rows[compared], heads[compared])
        first[rows[same]] = heads[same]
        rows = np.sort(rows[~same])
    return first


def _first_in_both(one: IntArray, other: IntArray) -> IntArray:
    """Return for each node the first node that is identical to it in both ways."""
    first = np.full_like(one, NONE)
    nodes = np.flatnonzero((one != NONE) & (other != NONE))
    keys = one[nodes] * np.int64(len(one)) + other[nodes]
    _, heads, group = np.unique(keys, return_index=True, return_inverse=True)
    first[nodes] = nodes[heads[group]]
    return first


def _hashed(matrix: Matrix) -> tuple[npt.NDArray[np.uint64], IntArray]:
    """Return a 64-bit hash of each row, Σ_j f(j)·f(x_ij) mod 2⁶⁴, and its number of nonzeros.

    f spreads the bits of a number: those of small integers end in many zeros, which would cancel.
    """
    n = matrix.shape[0]
    hashes, lengths = np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.int64)
    for block in _blocks(matrix, n):
        rows = sp.csr_matrix(matrix[block])
        bits = _spread(rows.data.view(np.uint32)) * _spread(rows.indices + 1)
        # Differences of running sums are the sums over rows, also over empty ones; all of it wraps at 2⁶⁴.
        sums = np.append(np.uint64(0), np.cumsum(bits, dtype=np.uint64))
        hashes[block] = sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]
        lengths[block] = np.diff(rows.indptr)
    return hashes, lengths


def _spread(numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return numbers whose every bit depends on all bits of the given ones."""
    bits = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        bits ^= bits >> np.uint64(32)
        bits *= np.uint64(factor)
    return bits ^ (bits >> np.uint64(32))


def _equal(matrix: Matrix, left: IntArray, right: IntArray) -> npt.NDArray[np.bool_]:
    """Return whether row ``left[i]`` equals row ``right[i]``, for rows with equally many nonzeros."""
    equal = np.ones(len(left), dtype=np.bool_)
    for block in _blocks(matrix, len(left)):
        one, other = sp.csr_matrix(matrix[left[block]]), sp.csr_matrix(matrix[right[block]])
        differ = (one.indices != other.indices) | (one.data != other.data)
        sums = np.append(0, np.cumsum(differ))
        equal[block] = sums[one.indptr[1:]] == sums[one.indptr[:-1]]
    return equal


def _blocks(matrix: Matrix, rows: int) -> Iterator[slice]:
    entries = matrix.size if isinstance(matrix, np.ndarray) else matrix.nnz
    step = max(1, BLOCK * matrix.shape[0] // max(1, entries))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
