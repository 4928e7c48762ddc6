"""What becomes of a tile of scores: the lists of the best of its rows and of its columns, compiled.

A place of a list is one number, the *key*: the bits of the score, made monotone, above those of the index,
turned round. So the larger of two keys has the larger score or, of equal scores, the lower index. A list is
sorted, its worst key first; :data:`EMPTY` fills it.
"""

import numpy as np
import numpy.typing as npt

from otherhalf.nn.ops.compiled import compiled

Floats = npt.NDArray[np.float32]
Int64s = npt.NDArray[np.int64]

LANES = 32
"""Scores that are compared with their limits at a time. Almost every time none of them is above."""

LAST = 0xFFFFFFFF
"""Indices are smaller than this number."""

EMPTY = int(np.int64(-0x7F800001) << 32)
"""The key of an empty place: the score −∞, which no list takes, and the index :data:`LAST`."""


@compiled("void(i8[::1], i8)")
def put(listed: Int64s, key: np.int64) -> None:
    """Put a key into a list in the place of the worst one, unless it is worse still.

    There is no branch, so that the compiler makes vectors of it: a place takes the key of its better
    neighbour, or the new one, or keeps its own.
    """
    last = len(listed) - 1
    for place in range(last):
        listed[place] = min(listed[place + 1], max(listed[place], key))
    listed[last] = max(listed[last], key)


@compiled("f4(i8[::1], f4, i8)")
def enter(listed: Int64s, score: np.float32, index: int) -> np.float32:
    """Put a score and its index into a list, and return the worst score of the list then."""
    bits = np.float32(score + np.float32(0.0)).view(np.int32)  # −0 and 0 are equal: adding 0 makes both 0
    put(listed, (np.int64(bits ^ ((bits >> 31) & 0x7FFFFFFF)) << 32) | (LAST - index))
    worst = np.int32(listed[0] >> 32)
    return np.int32(worst ^ ((worst >> 31) & 0x7FFFFFFF)).view(np.float32)


@compiled("void(f4[:, ::1], i8, i8, i8[::1], i8[:, ::1], f4[::1])")
def offer_to_rows(tile: Floats, first: int, column: int, own: Int64s, lists: Int64s, limits: Floats) -> None:
    """Offer every score of a tile to the list of its row, under the index of its column.

    Args:
        tile: The scores.
        first: The list of the first row.
        column: The index of the first column.
        own: The index that each row leaves out: the node itself.
        lists: The lists.
        limits: What the scores of each list must be above; they rise with the worst one of a list.
    """
    rows, columns = tile.shape
    for r in range(rows):
        row, node = tile[r], first + r
        limit, without = limits[node], own[node] - column
        for start in range(0, columns, LANES):
            part = row[start : min(start + LANES, columns)]
            above = np.int32(len(part) < LANES)
            if len(part) == LANES:
                for v in range(LANES):
                    above |= np.int32(part[v] > limit)
            if above:
                for v in range(len(part)):
                    if part[v] > limit and start + v != without:
                        limit = max(limit, enter(lists[node], part[v], column + start + v))
        limits[node] = limit


@compiled("void(f4[:, ::1], i8, i8, i8[:, ::1], f4[::1])")
def offer_to_columns(tile: Floats, first: int, row: int, lists: Int64s, limits: Floats) -> None:
    """Offer every score of a tile to the list of its column, under the index of its row.

    Args:
        tile: The scores.
        first: The list of the first column.
        row: The index of the first row.
        lists: The lists.
        limits: What the scores of each list must be above; they rise with the worst one of a list.
    """
    rows, columns = tile.shape
    for r in range(rows):
        for start in range(0, columns, LANES):
            end = min(start + LANES, columns)
            part, limit = tile[r, start:end], limits[first + start : first + end]
            above = np.int32(len(part) < LANES)
            if len(part) == LANES:
                for v in range(LANES):
                    above |= np.int32(part[v] > limit[v])
            if above:
                for v in range(len(part)):
                    if part[v] > limit[v]:
                        limit[v] = max(limit[v], enter(lists[first + start + v], part[v], row + r))


@compiled("void(i8[:, ::1], i8[:, ::1])")
def merge(lists: Int64s, others: Int64s) -> None:
    """Keep in each of ``lists`` the best keys of itself and of its row in ``others``."""
    last = lists.shape[1] - 1
    for row in range(len(lists)):
        for place in range(last, -1, -1):
            if others[row, place] <= lists[row, 0]:
                break
            put(lists[row], others[row, place])
