"""What a user gives to an estimator: a graph in one of several forms, and labels under other codes.

Three forms are taken by ``fit``, ``predict``, ``predict_proba``, ``predict_sets`` and ``score``:

- ``fit(graph)``: a Graph, a networkx graph or a PyG ``Data``;
- ``fit(nodes=…, edges=…)``: two tables, with any argument of :meth:`Graph.from_frames`;
- ``fit(X, y, edge_index=…)``: features, labels and edges, as scikit-learn and PyG have them.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.reading import Columns, Reading
from otherhalf.data.splits import published_splits
from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, IntArray
from otherhalf.system.graph_checks import checked_labels

GraphLike = Any
"""A Graph, a networkx graph or a PyG ``Data``; or the features X, beside ``edge_index``."""

FORMS = "give one of (graph), (nodes=…, edges=…) and (X, y, edge_index=…)"
ROWS_CUT = (
    "scikit-learn's cross_val_score and GridSearchCV take rows away, which breaks a graph: give them "
    "OnGraph(model, graph), and numbers of nodes as X"
)
VALUES = ("nodes", "edges", "X", "y", "edge_index")


def read_given(
    graph: GraphLike = None, given: Mapping[str, Any] | None = None, reading: Reading | None = None
) -> Graph:
    """Return what was given in one of the three forms as a Graph; raise InputError for anything else.

    Args:
        graph: The first argument of the user's call: a graph, or X.
        given: The named arguments: ``nodes`` and ``edges``; ``X``, ``y`` and ``edge_index``; options.
        reading: How the graph of the fit was read; options in ``given`` come before what it says.
    """
    options = {name: value for name, value in (given or {}).items() if value is not None}
    nodes, edges, X, y, edge_index = (options.pop(name, None) for name in VALUES)
    if X is not None:
        if graph is not None:
            raise InputError(f"both a first argument and X are given: {FORMS}")
        graph = X
    tables = nodes is not None or edges is not None
    if tables and (graph is not None or y is not None or edge_index is not None):
        raise InputError(f"tables and another form of a graph are given together: {FORMS}")
    if tables:
        if nodes is None or edges is None:
            raise InputError(f"{'nodes' if nodes is None else 'edges'} is missing: {FORMS}")
        return Graph.from_frames(nodes, edges, **options, reading=reading)
    if edge_index is not None:
        return _graph_of_arrays(graph, y, edge_index, options, reading)
    if _is_features(graph):
        raise InputError(f"X is given without the edges: {FORMS}; {ROWS_CUT}")
    if options or y is not None:
        name = min(options, default="y")
        raise InputError(f"a graph holds everything itself, and {name} is given beside it: {FORMS}")
    return as_graph(graph, reading)


def as_graph(given: GraphLike, reading: Reading | None = None) -> Graph:
    """Return a Graph as it is, and a networkx graph or a PyG ``Data`` as a Graph; else raise InputError.

    The reading of a fit says what the attributes of a networkx graph mean.
    """
    if isinstance(given, Graph):
        return given
    if _is_pyg(given):
        return Graph.from_pyg(given)
    if not isinstance(given, type) and hasattr(given, "nodes") and hasattr(given, "is_directed"):
        return Graph.from_networkx(given, reading=reading)
    raise InputError(
        "an estimator takes a Graph, a networkx graph or a torch_geometric Data, not "
        f"{type(given).__name__}: make a Graph with otherhalf.load, read_tables, Graph(edges=…, x=…, y=…) "
        "or Graph.from_scipy, or give nodes=… and edges=…, or X, y and edge_index=…"
    )


def default_split(graph: Graph, seed: int) -> Split:
    """Return the split that the user's table names, or else the uniform one of this seed."""
    return make_split(graph, "given" if published_splits(graph, "given") else "uniform", seed)


def codes_among(classes: Any, graph: Graph, nodes: IntArray) -> IntArray:
    """Return the codes of the nodes' labels among a model's classes; C for a class that the model lacks.

    Classes are compared by name: the codes of another graph may count from another class.
    """
    places = {str(name): code for code, name in enumerate(classes)}
    known = np.array([places.get(str(name), len(places)) for name in graph.classes], dtype=np.int64)
    return known[graph.y[nodes]]


# ---------------------------------------------------------------------- X, y and edge_index


def _graph_of_arrays(
    X: Any, y: Any, edge_index: Any, options: dict[str, Any], reading: Reading | None
) -> Graph:
    if not _is_features(X):
        raise InputError(f"edge_index belongs to X, an array or a table with one row per node: {FORMS}")
    directed = options.pop("directed", False if reading is None else reading.columns.directed)
    if options:
        raise InputError(f"{min(options)} is an option of tables and not of X: {FORMS}")
    X = _as_array(X)
    rows = X.shape[0] if X.ndim else 0
    edges = _edges(edge_index, rows)
    codes, classes = label_codes(y, rows)
    if not isinstance(X, pd.DataFrame):
        numbers = Reading(Columns(directed=directed, encode=False), None)
        return Graph(edges=edges, x=X, y=codes, classes=classes, directed=directed, reading=numbers)
    # The table is read by the kinds of its columns. Its rows are the nodes, whatever its index says.
    id, label = (_unused(name, X.columns) for name in ("node", "class"))
    known = pd.Series(codes).where(codes != UNKNOWN).astype("Int64")
    nodes = X.reset_index(drop=True)
    nodes[id], nodes[label] = np.arange(rows), known
    ends = pd.DataFrame({"source": edges[0], "target": edges[1]})
    graph = Graph.from_frames(nodes, ends, id=id, label=label, directed=directed, reading=reading)
    return replace(graph, y=codes, classes=classes, ids=None)


def _edges(edge_index: Any, nodes: int) -> npt.NDArray[Any]:
    """Return ``[2, E]`` from such an array or from a list of pairs."""
    try:
        if not hasattr(edge_index, "shape"):
            edge_index = list(edge_index)
            if edge_index and all(isinstance(each, tuple) for each in edge_index):
                edge_index = list(zip(*edge_index, strict=True))
        array: npt.NDArray[Any] = _as_array(edge_index)
    except (TypeError, ValueError):  # no list, or a ragged one
        array = np.empty(0)
    if array.ndim == 2 and array.shape[1] == 2 != array.shape[0]:
        array = array.T
    if array.ndim != 2 or array.shape[0] != 2 or array.dtype.kind not in "iu":
        raise InputError(
            f"edge_index has the shape {array.shape} and the type {array.dtype}: give whole numbers, as "
            "[2, E] or as a list of (source, target) tuples"
        )
    if array.size and array.max() >= nodes:
        raise InputError(
            f"edge_index names node {array.max()}, but X has {nodes} rows: give every node a row; {ROWS_CUT}"
        )
    return array


def label_codes(y: Any, nodes: int) -> tuple[IntArray, npt.NDArray[Any]]:
    """Return codes and classes. Where −1 and 1 are all the labels there are, −1 is a class."""
    y = _as_array(y) if hasattr(y, "detach") else y
    if y is not None:
        values = pd.Series(np.asarray(y, dtype=object).ravel())
        if set(values.dropna()) == {-1, 1}:
            return checked_labels(values.map({-1: 0, 1: 1}), np.array([-1, 1]), nodes)
    return checked_labels(y, None, nodes)


def _is_features(given: Any) -> bool:
    return hasattr(given, "shape") or isinstance(given, list | tuple)


def _as_array(values: Any) -> Any:
    """Return a tensor or a list as an array; a table and a sparse matrix stay what they are."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return values if isinstance(values, pd.DataFrame) or sp.issparse(values) else np.asarray(values)


def _unused(name: str, columns: Any) -> str:
    while name in columns:
        name += "_"
    return name


def _is_pyg(given: Any) -> bool:
    # An object of PyG cannot exist unless PyG was imported, which is slow.
    if "torch_geometric" not in sys.modules:
        return False
    from torch_geometric.data.data import BaseData

    return isinstance(given, BaseData)
