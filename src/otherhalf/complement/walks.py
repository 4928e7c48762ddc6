r"""Where short random walks from every node end: rows of powers of the normalised adjacency matrix.

Full rows of :math:`\hat{\mathbf{S}}^4` would fill the memory on a graph with hubs. After each step only the
largest entries of a row are kept, so the memory grows with N times their number.
"""

from collections.abc import Callable, Collection

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba.extending import register_jitable

from otherhalf.nn.ops.compiled import Int32s, compiled, over_rows
from otherhalf.nn.ops.sparse import with_loops
from otherhalf.system.arrays import IntArray
from otherhalf.system.prefetch import LINE, prefetch, prefetch_row

Floats = npt.NDArray[np.float32]

KEPT = 64
"""Entries of a row that are kept after each step."""

STEPS = 10
"""Steps of personalised PageRank; its later steps together have the weight 0.85¹¹ = 0.17."""

RESTART = 0.15
"""Probability of personalised PageRank to return to the start at each step."""


ENDS = {"two_steps": 2, "four_steps": 4, "pagerank": STEPS}
"""Steps that each kind of rows needs."""

STARTS = 1 << 16
"""Nodes to walk from at a time: what is kept of their walks takes 17 MB for each kind of rows."""


def walk_rows(
    adjacency: sp.csr_matrix,
    names: Collection[str] = tuple(ENDS),
    *,
    kept: int = KEPT,
    only: IntArray | None = None,
) -> dict[str, sp.csr_matrix]:
    r"""Walk over a symmetric matrix from every node and keep the ``kept`` largest entries after each step.

    Returns the rows of :math:`\hat{\mathbf{S}}^2` (``two_steps``), :math:`\hat{\mathbf{S}}^4`
    (``four_steps``) and of personalised PageRank (``pagerank``), which is
    :math:`r\sum_{t=0}^{10} (1 - r)^t\hat{\mathbf{S}}^t` with r = 0.15. Here is
    :math:`\hat{\mathbf{S}} = \tilde{\mathbf{D}}^{-1/2}(\mathbf{A} + \mathbf{I})\tilde{\mathbf{D}}^{-1/2}`.

    Args:
        adjacency: The matrix.
        names: The kinds of rows that are wanted: the walk ends when they are known.
        kept: Most entries of a row.
        only: The only nodes to walk from; row i is that of the i-th of them. Default: all.
    """
    return {
        name: stacked(parts) for name, parts in walk_parts(adjacency, names, kept=kept, only=only).items()
    }


def walk_parts(
    adjacency: sp.csr_matrix,
    names: Collection[str],
    *,
    kept: int = KEPT,
    only: IntArray | None = None,
    change: Callable[[sp.csr_matrix], sp.csr_matrix] = lambda rows: rows,
) -> dict[str, list[sp.csr_matrix]]:
    """Return :func:`walk_rows` as they are computed, :data:`STARTS` rows at a time.

    ``change`` is applied to each part: what it returns is kept instead.
    """
    n = adjacency.shape[0]
    looped = with_loops(adjacency)
    scale = sp.diags(1 / np.sqrt(np.asarray(looped.sum(axis=1)).ravel()))
    s = sp.csr_matrix(scale @ looped @ scale, dtype=np.float32)
    crow, col = s.indptr.astype(np.int32), s.indices.astype(np.int32)
    kept, every = min(kept, n), np.arange(n) if only is None else np.asarray(only)
    place = np.array([list(names).index(name) if name in names else -1 for name in ENDS])
    steps = max((ENDS[name] for name in names), default=0)
    parts: dict[str, list[sp.csr_matrix]] = {name: [] for name in names}
    for top in range(0, max(len(every), 1), STARTS):
        starts = every[top : top + STARTS].astype(np.int32)
        columns = np.zeros((len(names), len(starts), kept), dtype=np.int32)
        values = np.zeros((len(names), len(starts), kept), dtype=np.float32)
        entries = np.concatenate([[0], np.cumsum(np.diff(crow)[starts])])
        width = kept * steps
        over_rows(_walk, entries, width, crow, col, s.data, starts, place, steps, columns, values)
        for name, c, v in zip(names, columns, values, strict=True):
            parts[name].append(change(_matrix(c, v, n)))
    return parts


def stacked(parts: list[sp.csr_matrix]) -> sp.csr_matrix:
    """Return the parts, one below the other, and empty the list: nothing is in memory twice for long."""
    if len(parts) == 1:
        return parts.pop()
    shape = sum(part.shape[0] for part in parts), parts[0].shape[1]
    counts = np.concatenate([np.diff(part.indptr) for part in parts])
    bounds = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    data, columns = np.empty(bounds[-1], np.float32), np.empty(bounds[-1], np.int32)
    first = 0
    for index, part in enumerate(parts):
        data[first : first + part.nnz], columns[first : first + part.nnz] = part.data, part.indices
        first += part.nnz
        parts[index] = None
    parts.clear()
    small = bounds[-1] < np.iinfo(np.int32).max
    return sp.csr_matrix((data, columns, bounds.astype(np.int32) if small else bounds), shape=shape)


def _matrix(columns: Int32s, values: Floats, n: int) -> sp.csr_matrix:
    used = values > 0
    bounds = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    matrix = sp.csr_matrix((values[used], columns[used], bounds), shape=(len(columns), n))
    matrix.sort_indices()
    return matrix


@compiled("i8(f4[::1], i4[::1], i8, i4[::1], f4[::1])")
def _keep_largest(here: Floats, reached: Int32s, size: int, now: Int32s, weight: Floats) -> int:
    """Move the largest entries of ``here`` to ``now`` and ``weight``; set ``here`` to 0; return their number.

    Among entries equal to the smallest that is kept, those reached first are kept.
    """
    kept = len(now)
    bound, ties = np.float32(0.0), size
    if size > kept:
        found = np.empty(size, np.float32)
        for position in range(size):
            found[position] = here[reached[position]]
        bound = np.partition(found, size - kept)[size - kept]
        above = 0
        for position in range(size):
            above += found[position] > bound
        ties = kept - above
    count = 0
    for position in range(size):
        node = reached[position]
        value = here[node]
        here[node] = np.float32(0.0)
        if value > bound or (value == bound and ties > 0):
            if value == bound:
                ties -= 1
            now[count], weight[count] = node, value
            count += 1
    return count


CACHED = 1 << 20
"""Entries of a matrix, 8 MB, from which its rows are asked for before their turn: with a million nodes a walk
takes two thirds to four fifths of the time."""


@register_jitable
def _ask_ahead(
    crow: Int32s, col: Int32s, entries: Floats, here: Floats, now: Int32s, position: int, final: int
) -> None:
    """Ask for what the next nodes of a step read: where rows begin, the rows, and the sums they add to."""
    prefetch(crow, now[min(position + 6, final)])
    start = np.int64(crow[now[min(position + 3, final)]])
    prefetch_row(col, start, 2 * LINE)
    prefetch_row(entries, start, 2 * LINE)
    follows = now[min(position + 1, final)]
    for entry in range(crow[follows], crow[follows + 1]):
        prefetch(here, col[entry])


@compiled(
    "void(i8[::1], i4[::1], i4[::1], f4[::1], i4[::1], i8[::1], i8, i4[:, :, ::1], f4[:, :, ::1], i8, i8)"
)
def _walk(
    _: IntArray,
    crow: Int32s,
    col: Int32s,
    entries: Floats,
    starts: Int32s,
    place: IntArray,
    steps: int,
    columns: Int32s,
    values: Floats,
    first: int,
    last: int,
) -> None:
    """Fill the rows ``first`` … ``last`` − 1 of the matrices; ``place`` says which each kind is, or −1."""
    n, kept, ahead = len(crow) - 1, columns.shape[2], len(col) > CACHED
    here, total = np.zeros(n, np.float32), np.zeros(n, np.float32)
    reached, visited = np.empty(n, np.int32), np.empty(n, np.int32)
    now, weight = np.empty(kept, np.int32), np.empty(kept, np.float32)
    for row in range(first, last):
        start = starts[row]
        now[0], weight[0], count = start, np.float32(1.0), 1
        visited[0], seen = start, 1
        total[start] = np.float32(RESTART)
        share = np.float32(RESTART)
        for step in range(1, steps + 1):
            share *= np.float32(1.0 - RESTART)
            size = 0
            for position in range(count):
                if ahead:
                    _ask_ahead(crow, col, entries, here, now, position, count - 1)
                node, w = now[position], weight[position]
                for entry in range(crow[node], crow[node + 1]):
                    other, part = col[entry], w * entries[entry]
                    # Too small for single precision, it reaches nothing: a node must be listed once only.
                    if here[other] == np.float32(0.0) and part > np.float32(0.0):
                        reached[size] = other
                        size += 1
                    here[other] += part
            count = _keep_largest(here, reached, size, now, weight)
            for position in range(count):
                node, part = now[position], share * weight[position]
                if total[node] == np.float32(0.0) and part > np.float32(0.0):
                    visited[seen] = node
                    seen += 1
                total[node] += part
            if step == 2 or step == 4:
                which = place[0] if step == 2 else place[1]
                for position in range(count if which >= 0 else 0):
                    columns[which, row, position] = now[position]
                    values[which, row, position] = weight[position]
        count = _keep_largest(total, visited, seen, now, weight)
        for position in range(count if place[2] >= 0 else 0):
            columns[place[2], row, position] = now[position]
            values[place[2], row, position] = weight[position]
