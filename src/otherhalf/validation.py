"""Checks at the door of :class:`~otherhalf.graph.Graph`: each wrong input gets one sentence with the fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from otherhalf.errors import InputError

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]

UNKNOWN = -1
"""The class code of a node whose label is not known."""


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of the array that cannot be written through."""
    array = array.view()
    array.setflags(write=False)
    return array


def checked_indices(what: str, values: Any) -> IntArray:
    """Node indices from a list of indices or a mask; ``what`` names them in the message."""
    array = np.asarray(values)
    if array.dtype == bool:
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"{what} must be a list of node indices or a mask, not {array.dtype} of shape {array.shape}"
        )
    array = array.astype(np.int64)
    if array.size and array.min() < 0:
        raise InputError(f"{what} holds the negative node index {array.min()}: count nodes from 0")
    return array


def checked_features(x: Any) -> FloatArray | sp.csr_matrix:
    """An own, read-only float32 copy of the features: all finite, one row per node."""
    sparse = sp.issparse(x)
    if not sparse:
        x = np.asarray(x)
    if x.ndim != 2:
        raise InputError(f"the features have the shape {tuple(x.shape)}: give one row per node, [N, D]")
    if x.shape[0] == 0:
        raise InputError("the graph has no nodes: give at least two nodes and an edge between them")
    if x.shape[1] == 0:
        raise InputError(
            "the nodes have no features: give at least one numeric feature column "
            "(the degree or a constant will do)"
        )
    if x.dtype.kind not in "biuf":
        raise InputError(f"the features are {x.dtype}, not numbers: give numeric columns only")
    if sparse:
        x = sp.csr_matrix(x, dtype=np.float32, copy=True)
        x.sum_duplicates()
        x.eliminate_zeros()
        values = x.data
    else:
        with np.errstate(over="ignore"):
            x = np.array(x, dtype=np.float32, order="C")
        values = x
    finite = np.isfinite(values)
    if not finite.all():
        if sparse:
            at = int(np.flatnonzero(~finite)[0])
            row, col = int(np.searchsorted(x.indptr, at, side="right")) - 1, int(x.indices[at])
        else:
            row, col = (int(v) for v in np.argwhere(~finite)[0])
        raise InputError(
            f"{int((~finite).sum())} feature value(s) are NaN, infinite or too large for float32, the "
            f"first at node {row}, column {col}: fill them in or drop the column"
        )
    values.setflags(write=False)
    return x


def checked_labels(y: Any, classes: Any, n: int) -> tuple[IntArray, npt.NDArray[Any]]:
    """Class codes (unknown = −1) and the label that each code stands for."""
    if y is None:
        given = np.asarray([] if classes is None else classes)
        return np.full(n, UNKNOWN, dtype=np.int64), given
    values = pd.Series(np.asarray(y).ravel()) if not isinstance(y, pd.Series) else y
    values = values.reset_index(drop=True)
    if np.ndim(y) > 1 and np.shape(y) != (n, 1):
        raise InputError(f"the labels have the shape {np.shape(y)}: give one class per node, [N]")
    if len(values) != n:
        raise InputError(f"there are {len(values)} labels for {n} nodes: give one per node")
    unknown = np.array(values.isna(), dtype=bool)
    if classes is not None:
        return _coded_labels(values, unknown, np.asarray(classes))
    if pd.api.types.is_bool_dtype(values):
        values = values.astype(np.int64)
    if pd.api.types.is_numeric_dtype(values):
        known = values[~unknown].to_numpy()
        if known.size and not np.all(np.isfinite(known) & (known == np.round(known))):
            bad = known[~(np.isfinite(known) & (known == np.round(known)))][0]
            raise InputError(
                f"the label {bad} is not a whole number: give classes, not measurements, as labels"
            )
        numbers = values.fillna(UNKNOWN).astype(np.int64).to_numpy()
        if numbers.min(initial=UNKNOWN) < UNKNOWN:
            raise InputError(
                f"the label {numbers.min()} is negative: classes are 0 or above, and −1 means unknown"
            )
        known_classes, codes = np.unique(numbers[numbers != UNKNOWN], return_inverse=True)
        result = np.full(n, UNKNOWN, dtype=np.int64)
        result[numbers != UNKNOWN] = codes
        return result, known_classes
    text = values.where(~unknown, "").map(lambda v: str(v).strip()).to_numpy(dtype=str)
    unknown |= (text == "") | (text == str(UNKNOWN))
    names, codes = np.unique(text[~unknown], return_inverse=True)
    result = np.full(n, UNKNOWN, dtype=np.int64)
    result[~unknown] = codes
    return result, names


def _coded_labels(
    values: pd.Series[Any], unknown: npt.NDArray[np.bool_], classes: npt.NDArray[Any]
) -> tuple[IntArray, npt.NDArray[Any]]:
    if len(np.unique(classes)) != len(classes):
        raise InputError("a class is named twice: give each class one name")
    codes = values.where(~unknown, UNKNOWN).astype(np.int64).to_numpy(copy=True)
    if codes.min(initial=UNKNOWN) < UNKNOWN or codes.max(initial=UNKNOWN) >= len(classes):
        raise InputError(
            f"a label code is outside −1 … {len(classes) - 1}: with classes given, y holds codes into them"
        )
    return codes, classes


def simple_edges(edges: Any, n: int, directed: bool) -> tuple[IntArray, int, int]:
    """The edges of a simple graph, sorted, and how many self loops and repeats were dropped."""
    array = np.asarray(edges)
    if array.ndim != 2 or array.shape[0] != 2:
        raise InputError(
            f"the edges have the shape {array.shape}: give [2, E], sources in row 0, targets in row 1"
        )
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"the edges are {array.dtype}: give whole node indices 0 … N−1")
    array = array.astype(np.int64)
    if array.size and (array.min() < 0 or array.max() >= n):
        bad = int(array.min() if array.min() < 0 else array.max())
        raise InputError(f"an edge ends at node {bad}, but the nodes are 0 … {n - 1}: correct the edge list")
    source, target = array
    loops = source == target
    source, target = source[~loops], target[~loops]
    if not directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    keys = np.unique(source * np.int64(n) + target)
    if len(keys) == 0:
        raise InputError(
            f"the graph has no edges ({int(loops.sum())} self loops were dropped): "
            "give at least one edge between two nodes"
        )
    return np.stack([keys // n, keys % n]), int(loops.sum()), len(source) - len(keys)


def checked_ids(ids: Sequence[Any] | npt.NDArray[Any] | None, n: int) -> npt.NDArray[Any] | None:
    """Distinct node ids, as whole numbers or text."""
    if ids is None:
        return None
    array = np.asarray(ids)
    if array.dtype.kind not in "iu":
        array = array.astype(str)
    if array.shape != (n,):
        raise InputError(f"there are {array.shape} node ids for {n} nodes: give one per node")
    names, counts = np.unique(array, return_counts=True)
    if len(names) < n:
        twice = names[counts > 1][0]
        raise InputError(
            f"the node id {str(twice)!r} occurs more than once: give every node an id of its own"
        )
    return frozen(array)
