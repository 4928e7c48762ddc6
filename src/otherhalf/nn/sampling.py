"""Neighbour sampling: a few nodes, some neighbours of each, some neighbours of these, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.errors import InputError
from otherhalf.system.arrays import IntArray

ALL = -1
"""In place of a number of neighbours: all of them."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Nodes around some seeds, and the edges that were sampled.

    Attributes:
        nodes: ``[n]`` the seeds, then the nodes one hop away, then two, …, each once.
        within: Number of nodes within 0, 1, 2, … hops. Nodes at the last hop have no sampled neighbours.
        crow: Row i, of ``nodes[i]``, is ``col[crow[i]:crow[i + 1]]``; rows of nodes before the last hop.
        col: Places of the neighbours in ``nodes``.
        entry: Position of each entry in the adjacency matrix.
    """

    nodes: IntArray
    within: tuple[int, ...]
    crow: npt.NDArray[np.int32]
    col: npt.NDArray[np.int32]
    entry: IntArray


class NeighbourSampling:
    """Samples the neighbours of nodes of one graph, uniformly without replacement.

    Args:
        adjacency: Row i holds the neighbours of node i.
        fanout: Number of neighbours at the first hop, the second, …; :data:`ALL` for all.
    """

    def __init__(self, adjacency: sp.csr_matrix, fanout: Sequence[int]) -> None:
        if not fanout or any(f != ALL and f < 1 for f in fanout):
            raise InputError(f"fanout must be numbers ≥ 1, or −1 for all, not {tuple(fanout)}")
        if adjacency.indptr.dtype != np.int32:
            raise InputError("a graph of 2³¹ entries or more cannot be sampled: take fewer edges")
        self._crow, self._col = adjacency.indptr, adjacency.indices
        self._degree = np.diff(self._crow)
        self.fanout = tuple(int(f) for f in fanout)
        self._local = np.full(adjacency.shape[0], -1, dtype=np.int32)  # is so again after every sample

    def sample(self, seeds: IntArray, seed: int) -> Sample:
        """Return a sample around different nodes; it depends on these, their order and the seed alone."""
        from otherhalf.nn.ops.sampling_kernels import sample_step  # compiled at its first use

        nodes, known = np.array(seeds, dtype=np.int64), len(seeds)
        self._local[nodes] = np.arange(known, dtype=np.int32)
        try:
            if known == 0 or (self._local[nodes] != np.arange(known)).any():
                raise InputError("the nodes to sample around must be some, each once: leave out repeats")
            crows, cols, entries = [np.zeros(1, dtype=np.int32)], [], []
            first, filled, within = 0, 0, [known]
            for hop, fanout in enumerate(self.fanout):
                degrees = self._degree[nodes[first:known]]
                room = int((degrees if fanout == ALL else np.minimum(degrees, fanout)).sum())
                crow = np.empty(known - first + 1, dtype=np.int32)
                crow[0] = filled
                col, entry = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
                last, nodes = known, np.concatenate([nodes[:known], np.empty(room, dtype=np.int64)])
                step = np.uint64(np.random.SeedSequence([seed, hop]).generate_state(1, np.uint64)[0])
                start = np.array([known])
                matrix, out = (self._crow, self._col), (crow, col, entry)
                known = sample_step(*matrix, start, nodes, first, last, fanout, step, self._local, *out)
                first, filled = last, filled + room
                within.append(known)
                crows.append(crow[1:])
                cols.append(col)
                entries.append(entry)
        finally:
            self._local[nodes[:known]] = -1
        joined = np.concatenate(crows), np.concatenate(cols), np.concatenate(entries)
        return Sample(nodes[:known], tuple(within), *joined)
