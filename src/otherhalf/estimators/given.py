"""What a user gives to an estimator: a graph in one of several forms, and labels under other codes."""

import sys
from typing import Any

import numpy as np

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import IntArray

GraphLike = Any
"""A Graph, a networkx graph or a PyG ``Data``."""


def as_graph(given: GraphLike) -> Graph:
    """Return a Graph as it is, and a networkx graph or a PyG ``Data`` as a Graph; else raise InputError."""
    if isinstance(given, Graph):
        return given
    if _is_pyg(given):
        return Graph.from_pyg(given)
    if not isinstance(given, type) and hasattr(given, "nodes") and hasattr(given, "is_directed"):
        return Graph.from_networkx(given)
    raise InputError(
        "an estimator takes a Graph, a networkx graph or a torch_geometric Data, not "
        f"{type(given).__name__}: make a Graph with otherhalf.load, read_tables, Graph(edges=…, x=…, y=…) "
        "or Graph.from_scipy"
    )


def codes_among(classes: Any, graph: Graph, nodes: IntArray) -> IntArray:
    """Return the codes of the nodes' labels among a model's classes; C for a class that the model lacks.

    Classes are compared by name: the codes of another graph may count from another class.
    """
    places = {str(name): code for code, name in enumerate(classes)}
    known = np.array([places.get(str(name), len(places)) for name in graph.classes], dtype=np.int64)
    return known[graph.y[nodes]]


def _is_pyg(given: Any) -> bool:
    # An object of PyG cannot exist unless PyG was imported, which is slow.
    if "torch_geometric" not in sys.modules:
        return False
    from torch_geometric.data.data import BaseData

    return isinstance(given, BaseData)
