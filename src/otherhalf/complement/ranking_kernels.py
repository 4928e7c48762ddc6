"""Ranking lists of sparse rows by an inverted index: what has no feature in common is never multiplied."""

import numpy as np
import numpy.typing as npt

from otherhalf.nn.ops.compiled import Int32s, compiled

Floats = npt.NDArray[np.float32]
Int64s = npt.NDArray[np.int64]


@compiled("f4(f4[::1], i8[::1], f4, i8)")
def _enter(scores: Floats, places: Int64s, score: np.float32, place: int) -> np.float32:
    """Put a score into a list, worst first and equal ones by falling place; return the worst score then."""
    at, last = 0, len(scores) - 1
    while at < last and scores[at + 1] < score:
        scores[at], places[at] = scores[at + 1], places[at + 1]
        at += 1
    scores[at], places[at] = score, place
    worst: np.float32 = scores[0]
    return worst


@compiled(
    "void(i4[::1], i4[::1], f4[::1], i4[::1], i4[::1], f4[::1], i8[::1], i8[::1], i8[:, ::1], i8[:, ::1],"
    " i8, i8)"
)
def rank_rows(
    crow: Int32s,
    col: Int32s,
    values: Floats,
    of_column: Int32s,
    row: Int32s,
    entries: Floats,
    labels: Int64s,
    candidates: Int64s,
    nearest: Int64s,
    farthest: Int64s,
    first: int,
    last: int,
) -> None:
    """Rank the candidates for the rows ``first`` … ``last`` − 1 of a CSR matrix of unit rows.

    Args:
        crow: The matrix: start of the entries of each row, and the end of the last.
        col: Their columns.
        values: Their values.
        of_column: The rows of the candidates by columns: start of the entries of each column, and the end.
        row: Their rows, as positions in ``candidates``.
        entries: Their values.
        labels: Classes of the rows of the matrix.
        candidates: Rows that may be in a list, in rising order.
        nearest: ``[rows, K]``, filled with −1: gets the most similar candidates of a row's class, the least
            similar of them first.
        farthest: Likewise the least similar candidates of other classes, the most similar of them first.
        first: The first row.
        last: The end of the rows.
    """
    similar = np.empty(len(candidates), dtype=np.float32)
    near = np.empty(nearest.shape[1], dtype=np.float32)
    far = np.empty(nearest.shape[1], dtype=np.float32)
    for i in range(first, last):
        similar[:] = 0.0
        for e in range(crow[i], crow[i + 1]):
            value = values[e]
            for other in range(of_column[col[e]], of_column[col[e] + 1]):
                similar[row[other]] += value * entries[other]
        near[:] = -np.inf
        far[:] = -np.inf
        near_limit, far_limit = near[0], far[0]
        for position in range(len(candidates)):
            j = candidates[position]
            if labels[j] == labels[i]:
                if similar[position] > near_limit and j != i:
                    near_limit = _enter(near, nearest[i], similar[position], j)
            elif -similar[position] > far_limit:
                far_limit = _enter(far, farthest[i], -similar[position], j)
