"""One step of neighbour sampling, and the transpose of what it gives, compiled."""

from typing import Any

import numba
import numpy as np
from numba import f4, i4, i8, u8, void

from otherhalf.nn.ops.compiled import compiled
from otherhalf.system.compiled import read_only

FLOYD = 8
"""Floyd's draw compares each of k numbers with those before: it is for k² up to so many times the degree."""

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@numba.njit(inline="always")
def _mixed(state: Any) -> Any:
    """Return 64 random bits of a state (SplitMix64)."""
    z = (state ^ (state >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@compiled(
    i8(read_only(i4), read_only(i4), i8[::1], i8[::1], i8, i8, i8, u8, i4[::1], i4[::1], i4[::1], i8[::1])
)
def sample_step(
    crow: Any,
    col: Any,
    start: Any,
    nodes: Any,
    first: int,
    last: int,
    fanout: int,
    seed: Any,
    local: Any,
    out_crow: Any,
    out_col: Any,
    out_entry: Any,
) -> Any:
    """Sample neighbours of ``nodes[first:last]``, and return the number of nodes that are known afterwards.

    A node has ``fanout`` of its neighbours, drawn uniformly without replacement, or all if it has no more or
    ``fanout`` is negative. What a node draws depends on the seed and the node alone.

    Args:
        crow: Start of the rows of the whole adjacency matrix.
        col: Their columns.
        start: [1] number of nodes that are known already; they are in ``nodes``.
        nodes: The nodes in the order in which they were met; new ones are added.
        first: First node of the step.
        last: End of the step.
        fanout: Number of neighbours.
        seed: Seed of this step.
        local: [N] place of each node in ``nodes``, −1 for those that were not met.
        out_crow: Ends of the rows, after the first entry.
        out_col: Places of the neighbours.
        out_entry: Positions of the entries in the whole matrix.
    """
    known, filled = start[0], np.int64(out_crow[0])
    base = filled
    for place in range(first, last):
        node = nodes[place]
        low, degree = np.int64(crow[node]), np.int64(crow[node + 1] - crow[node])
        row = filled
        state = _mixed(seed + STEP * np.uint64(node + 1))
        if fanout < 0 or degree <= fanout:
            for k in range(degree):
                out_entry[filled - base] = low + k
                filled += 1
        elif fanout * fanout <= FLOYD * degree:
            for top in range(degree - fanout, degree):
                state += STEP
                drawn = np.int64(((_mixed(state) >> S32) * np.uint64(top + 1)) >> S32)
                for k in range(row, filled):
                    if out_entry[k - base] == low + drawn:
                        drawn = np.int64(top)
                        break
                out_entry[filled - base] = low + drawn
                filled += 1
        else:  # one pass over the neighbours; each is taken with the share that is still missing
            wanted = fanout
            for k in range(degree):
                state += STEP
                left = np.uint64(degree - k)
                if ((_mixed(state) >> S32) * left) >> S32 < np.uint64(wanted):
                    out_entry[filled - base] = low + k
                    filled += 1
                    wanted -= 1
        for k in range(row, filled):
            other = col[out_entry[k - base]]
            if local[other] < 0:
                local[other] = known
                nodes[known] = other
                known += 1
            out_col[k - base] = local[other]
        out_crow[place - first + 1] = filled
    return known


@compiled(void(read_only(i4), read_only(i4), read_only(f4), i4[::1], i4[::1], f4[::1], i8[::1]))
def transpose(
    crow: Any, col: Any, values: Any, out_crow: Any, out_col: Any, out_values: Any, out_order: Any
) -> None:
    """Write the transpose of a CSR matrix, rows in order, and the positions of its entries in the matrix.

    ``out_crow`` are zeros, one more than columns.
    """
    for e in range(crow[len(crow) - 1]):
        out_crow[col[e] + 1] += 1
    for j in range(1, len(out_crow)):
        out_crow[j] += out_crow[j - 1]
    place = out_crow.copy()
    for i in range(len(crow) - 1):
        for e in range(crow[i], crow[i + 1]):
            to = place[col[e]]
            place[col[e]] = to + 1
            out_col[to] = i
            out_values[to] = values[e]
            out_order[to] = e
