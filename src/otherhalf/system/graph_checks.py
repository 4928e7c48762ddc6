"""Checks of the arrays of a Graph: one sentence with the fix for each wrong input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from otherhalf.errors import InputError
from otherhalf.system.arrays import UNKNOWN, FloatArray, IntArray, checked_csr, distinct_keys, frozen
from otherhalf.system.names import LONGEST_CLASS, as_text

MOST_FEATURES = 2**31 - 1
"""Indices of columns are int32 in sparse operators, and a sparse matrix can claim any number of columns."""


def _rectangular(what: str, values: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # numpy raises it for a ragged list
        raise InputError(f"the {what} have rows of different lengths: make every row equally long") from error


def checked_indices(what: str, values: Any) -> IntArray:
    """Return node indices from a list of indices or a mask; ``what`` is their name in messages."""
    array = _rectangular(f"{what} indices", values)
    if array.dtype == bool and array.ndim == 1:
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
    """Return a read-only float32 copy of the features. Raise InputError if one is not finite."""
    sparse = sp.issparse(x)
    if not sparse:
        x = _rectangular("features", x)
    if x.ndim != 2:
        raise InputError(f"the features have the shape {tuple(x.shape)}: give one row per node, [N, D]")
    if x.shape[0] == 0:
        raise InputError("the graph has no nodes: give at least two nodes and an edge between them")
    if sparse and x.format == "csr":
        try:
            checked_csr(x)
        except ValueError as error:
            raise InputError(f"the sparse features are damaged ({error}): make the matrix again") from None
    if x.shape[1] == 0:
        x = _ones(x.shape[0])
        sparse = False
    if x.shape[1] > MOST_FEATURES:
        raise InputError(f"the features have {x.shape[1]:,} columns: give at most {MOST_FEATURES:,}")
    if x.dtype.kind not in "biuf":
        raise InputError(f"the features are {x.dtype}, not numbers: give numeric columns only")
    with np.errstate(over="ignore"):  # a number that is too large becomes infinite; see below
        x = sp.csr_matrix(x, dtype=np.float32, copy=True) if sparse else np.array(x, np.float32, order="C")
    if sparse:
        x.sum_duplicates()
        x.eliminate_zeros()
    values = x.data if sparse else x
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
    return frozen(x)


def checked_feature_names(
    names: Sequence[str] | None, read: Sequence[str] | None, x: Any, width: int
) -> tuple[str, ...] | None:
    """Return the names of the features, or None if nobody named them.

    Args:
        names: The names that were given, if any.
        read: Those of the columns that were read; they are not used for an attribute that holds a vector, or
            for a column of ones.
        x: The features as they were given; the columns of a pandas table have names.
        width: D.
    """
    if names is None and read is not None and len(read) == width:
        return tuple(read)
    if names is None:
        names = getattr(x, "columns", None)
        if names is None or not all(isinstance(name, str) for name in names):
            return None
    names = tuple(str(name) for name in names)
    if len(names) != width:
        raise InputError(
            f"there are {len(names)} feature names for {width} columns: give one name per column"
        )
    if len(set(names)) < width and names != read:
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two features are called {twice!r}: rename one")
    return names


def featureless(y: Any, ids: Any) -> FloatArray:
    """Return the features of nodes that have none: a column of ones, as long as the labels or the ids."""
    known = y if y is not None else ids
    if known is None:
        raise InputError("neither features, labels nor ids say how many nodes there are: give one of them")
    return _ones(len(known))


def _ones(count: int) -> FloatArray:
    return np.ones((count, 1), dtype=np.float32)


def checked_labels(y: Any, classes: Any, n: int) -> tuple[IntArray, npt.NDArray[Any]]:
    """Return class codes (unknown = −1) and the label that each code stands for."""
    if classes is not None:
        classes = _checked_classes(classes)
    codes = np.full(n, UNKNOWN, dtype=np.int64)
    if y is None:
        return codes, np.array([], dtype=np.int64) if classes is None else classes
    values = _label_series(y, n)
    rows = np.flatnonzero(values.notna())
    known = values.iloc[rows]
    if known.dtype == object or isinstance(known.dtype, pd.CategoricalDtype):
        known = known.astype(object).infer_objects()  # [1, None, 2] holds numbers
    if pd.api.types.is_bool_dtype(known):
        known = known.astype(np.int64)
    numeric = pd.api.types.is_numeric_dtype(known)
    if classes is not None:
        if not numeric and len(known):
            raise InputError(
                f"the label {str(known.iloc[0])!r} is not a code: with classes given, y holds whole numbers "
                "0 … C−1, the positions in classes"
            )
        codes[rows] = _checked_integers(known.to_numpy())
        if codes.max(initial=UNKNOWN) >= len(classes):
            raise InputError(
                f"the label code {codes.max()} is outside −1 … {len(classes) - 1}: with classes given, y "
                "holds the positions in classes"
            )
        return codes, classes
    if numeric:
        labels = _checked_integers(known.to_numpy())
        given = labels != UNKNOWN
    else:
        # As objects: an array of text is as wide as its longest label in every row.
        texts = known.map(lambda label: _text(label).strip()).to_numpy(dtype=object)
        labels = as_text(texts, "label", LONGEST_CLASS)
        given = (labels != "") & (labels != str(UNKNOWN))
    names, codes[rows[given]] = np.unique(labels[given], return_inverse=True)
    return codes, names if numeric else names.astype(str)


def _text(label: Any) -> str:
    return label.decode(errors="surrogateescape") if isinstance(label, bytes) else str(label)


def _label_series(y: Any, n: int) -> pd.Series[Any]:
    if isinstance(y, pd.Series):
        values = y.reset_index(drop=True)
    else:
        # A list becomes an array of objects: numpy would turn ["a", nan] into the two texts "a" and "nan".
        array = np.asarray(y) if hasattr(y, "__array__") else np.asarray(y, dtype=object)
        if array.ndim > 1 and array.shape != (n, 1):
            raise InputError(f"the labels have the shape {array.shape}: give one class per node, [N]")
        values = pd.Series(array.ravel())
    if len(values) != n:
        raise InputError(f"there are {len(values)} labels for {n} nodes: give one per node")
    return values


def _checked_integers(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    integral = np.isfinite(numbers) & (numbers == np.round(numbers))
    if not integral.all():
        raise InputError(
            f"the label {numbers[~integral][0]} is not a whole number: give classes, not measurements"
        )
    if numbers.size and numbers.min() < UNKNOWN:
        raise InputError(
            f"the label {numbers.min()} is negative: classes are 0 or above, and −1 means unknown"
        )
    if numbers.size and numbers.max() >= 2**63:
        raise InputError(f"the label {numbers.max()} is too large for a number: give the classes as text")
    return numbers.astype(np.int64)


def _checked_classes(classes: Any) -> npt.NDArray[Any]:
    array = np.array(classes)  # a copy, which the caller cannot change
    if array.ndim != 1:
        raise InputError(f"the classes have the shape {array.shape}: give a list of names, one per class")
    if array.dtype.kind not in "iu":
        array = as_text(array, "class", LONGEST_CLASS).astype(str)
    if len(np.unique(array)) != len(array):
        raise InputError("a class is named twice: give each class one name")
    return array


def simple_edges(edges: Any, n: int, directed: bool) -> tuple[IntArray, int, int]:
    """Return the edges of a simple graph, sorted, and the numbers of self loops and repeats dropped."""
    array = _rectangular("edges", edges)
    if array.ndim != 2 or array.shape[0] != 2:
        raise InputError(
            f"the edges have the shape {array.shape}: give [2, E], sources in row 0, targets in row 1"
        )
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"the edges are {array.dtype}: give integers 0 … N−1")
    if array.size and (array.min() < 0 or array.max() >= n):
        bad = int(array.min() if array.min() < 0 else array.max())
        raise InputError(f"an edge ends at node {bad}, but the nodes are 0 … {n - 1}: correct the edge list")
    source, target = array.astype(np.int64)
    loops = source == target
    source, target = source[~loops], target[~loops]
    if not directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    keys = distinct_keys(source * np.int64(n) + target)
    if len(keys) == 0:
        raise InputError(
            f"the graph has no edges ({int(loops.sum())} self loops were dropped): "
            "give at least one edge between two nodes"
        )
    return np.stack([keys // n, keys % n]), int(loops.sum()), len(source) - len(keys)


def summed_weights(weights: Any, given: Any, n: int, edges: IntArray, directed: bool) -> FloatArray:
    """Return the weight of each edge of a simple graph: the sum over the given edges that it stands for.

    Args:
        weights: One weight for each of the given edges.
        given: The edges as they were given, self loops and repeats among them.
        n: N.
        edges: The edges of :func:`simple_edges`.
        directed: Whether the order of the ends has a meaning.
    """
    array = np.asarray(weights)
    ends = np.asarray(given).astype(np.int64)
    if array.shape != (ends.shape[1],):
        raise InputError(
            f"the weights have the shape {array.shape} for {ends.shape[1]} edges: give one weight per edge"
        )
    if array.dtype.kind not in "fiub":
        raise InputError(f"the weights are {array.dtype}: give numbers")
    array = array.astype(np.float64)
    wrong = ~(np.isfinite(array) & (array > 0))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"the weight of edge {first} is {array[first]:g} ({int(wrong.sum())} such weights in all): give "
            "positive finite weights, and leave out edges without one"
        )
    place = places_of(ends, n, edges, directed)
    kept = place >= 0
    sums = np.bincount(place[kept], array[kept], minlength=edges.shape[1])
    with np.errstate(over="ignore", under="ignore"):  # what is outside becomes infinite or 0; see below
        rounded = sums.astype(np.float32)
    wrong = ~(np.isfinite(rounded) & (rounded > 0))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"the weights of the edge between nodes {edges[0, first]} and {edges[1, first]} sum to "
            f"{sums[first]:g}, which float32 cannot hold: divide all weights by one number"
        )
    return rounded


def places_of(given: Any, n: int, edges: IntArray, directed: bool) -> IntArray:
    """Return the place of each given edge among those of :func:`simple_edges`; −1 for a self loop."""
    ends = np.asarray(given).astype(np.int64)
    source, target = ends if directed else np.sort(ends, axis=0)
    place = np.searchsorted(edges[0] * np.int64(n) + edges[1], source * np.int64(n) + target)
    return np.where(source == target, -1, place)
