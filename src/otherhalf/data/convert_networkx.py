"""Graphs from networkx, whose nodes carry their features and labels as attributes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.node_table import read_nodes
from otherhalf.data.notes import counted, hand_over
from otherhalf.data.reading import Columns, Reading
from otherhalf.data.roles.labels import read_labels
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.names import short

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(
    graph: nx.Graph,
    *,
    features: str | Sequence[str] | None = None,
    label: str | None = "label",
    weight: str | bool = "weight",
    relation: str | None = None,
    name: str = "",
    notes: list[str] | None = None,
    reading: Reading | None = None,
) -> Graph:
    """Return the graph of a networkx graph; the names of its nodes become the ids.

    Args:
        graph: Any networkx graph. A ``DiGraph`` is directed; the repeated edges of a ``MultiGraph`` are
            dropped and counted, and their weights are summed.
        features: Name of one node attribute that holds a vector, or a list of names of numeric attributes.
            Default: the attribute ``x`` if it holds vectors, or else every attribute but the label. These are
            taken as they are if all are numbers without gaps, else by their kinds, like the columns of a
            table (:func:`~otherhalf.data.tables.read_tables`). Without attributes there is a column of ones.
        label: Node attribute with the label; nodes without it are unlabelled.
        weight: Edge attribute with the weight, which is used if an edge has it; an edge without it has the
            weight 1, as everywhere in networkx. ``False`` for edges that all count the same.
        relation: Edge attribute with the name of the relation; an edge without it is in none. Other edge
            attributes are not used.
        name: Name of the graph.
        notes: List to which the decisions about attributes are added; default: each is a warning.
        reading: The reading of an earlier graph, ``graph.reading`` or ``model.reading_``: the attributes mean
            the same as there.
    """
    if not hasattr(graph, "nodes") or not hasattr(graph, "is_directed"):
        raise InputError(f"from_networkx takes a networkx graph, not {type(graph).__name__}")
    nodes = list(graph.nodes)
    if not nodes:
        raise InputError("the networkx graph has no nodes: add nodes with features, and edges between them")
    rows = [graph.nodes[node] for node in nodes]
    present = list(dict.fromkeys(key for row in rows for key in row))
    found: list[str] = []
    if reading is not None:
        earlier = reading.columns
        label = earlier.label if label == "label" and earlier.label in present else label
        weight = earlier.weight if weight == "weight" and earlier.weight is not None else weight
        relation = str(earlier.relation) if relation is None and earlier.relation else relation
    if label is not None and label not in present:
        if label != "label":
            raise InputError(
                f"no node has the attribute {label!r} for its label: the attributes are "
                f"{', '.join(map(str, present)) or 'none'}"
            )
        label = None
    place = {node: index for index, node in enumerate(nodes)}
    weights = None if weight is False else _weights(graph, str(weight), found)
    kept = [(place[source], place[target]) for source, target in graph.edges()]
    ends = np.array(kept, dtype=np.int64).reshape(-1, 2).T
    relations = None if relation is None else _relations(graph, relation)
    if weights is not None:
        positive = weights > 0
        ends, weights = ends[:, positive], weights[positive]
        relations = None if relations is None else relations[positive]
    numbered = all(isinstance(node, int) for node in nodes)
    keys = [key for key in present if key != label]
    columns = Columns(
        label=label,
        directed=graph.is_directed(),
        weight=None if weight == "weight" else weight,
        relation=relation,
    )
    if reading is not None and features is None:
        features = reading.columns.features
    plain = features is not None or _is_vector(rows) or _are_numbers(rows, keys)
    if plain and (reading is None or reading.encoding is None):
        named = features if features is not None else "x" if _is_vector(rows) else keys
        x: Any = _networkx_features(nodes, rows, named)
        if reading is not None:
            reading.check_new([str(key) for key in keys])
        unused = tuple(
            str(key) for key in keys if key not in {*([named] if isinstance(named, str) else named)}
        )
        kept_reading = Reading(replace(columns, features=named, encode=False), None, unused=unused)
    else:
        x, read = _encoded(nodes, rows, keys, reading, found)
        kept_reading = replace(read, columns=columns)
    y, classes = _labels(rows, label, found)
    result = Graph(
        edges=ends,
        x=x,
        y=y,
        classes=classes,
        directed=graph.is_directed(),
        ids=nodes if numbered else [str(node) for node in nodes],  # type: ignore[arg-type]
        name=name,
        weights=weights,  # type: ignore[arg-type]  # float64 until those of repeats are summed
        relations=relations,  # type: ignore[arg-type]  # names, from which it makes Relations
        reading=kept_reading,
    )
    hand_over(found, notes)
    return result


def _labels(rows: list[Any], label: str | None, notes: list[str]) -> tuple[Any, Any]:
    if label is None:
        return None, None
    column = pd.Series([row.get(label) for row in rows], dtype=object, name=label)
    return read_labels(MemoryTable("the networkx graph", column.to_frame()), column, notes)


def _weights(graph: nx.Graph, name: str, notes: list[str]) -> npt.NDArray[np.float64] | None:
    """Return the weights of all edges, or None if no edge has the attribute ``name``."""
    edges = list(graph.edges(data=True))
    if not any(name in attributes for *_, attributes in edges):
        if name != "weight":
            raise InputError(f"no edge has the attribute {name!r} for its weight: check the name")
        return None
    weights = np.ones(len(edges))
    for number, (source, target, attributes) in enumerate(edges):
        value = attributes.get(name, 1)
        if not _is_number(value) or not 0 <= value <= sys.float_info.max:
            raise InputError(
                f"the attribute {name!r} of the edge from {source!r} to {target!r} is {short(repr(value))}: "
                "give positive numbers, name another attribute, or ignore it with weight=False"
            )
        weights[number] = value
    zeros = int((weights == 0).sum())
    if zeros:
        notes.append(f"the reader dropped {counted(zeros, 'edge')} whose {name!r} is 0.")
    return weights


def _relations(graph: nx.Graph, name: str) -> npt.NDArray[np.object_]:
    relations = np.array([attributes.get(name) for *_, attributes in graph.edges(data=True)], dtype=object)
    if all(each is None for each in relations):
        raise InputError(f"no edge has the attribute {name!r} for its relation: check the name")
    return relations


def _is_vector(rows: list[Any]) -> bool:
    return any(np.ndim(row["x"]) == 1 for row in rows if "x" in row)


def _are_numbers(rows: list[Any], keys: list[Any]) -> bool:
    return bool(keys) and all(key in row and _is_number(row[key]) for row in rows for key in keys)


def _encoded(
    nodes: list[Any], rows: list[Any], keys: list[Any], reading: Reading | None, notes: list[str]
) -> tuple[Any, Reading]:
    """Return features by the kinds of the attributes, and how these were read."""
    cells = {str(key): [row.get(key) for row in rows] for key in keys}
    id = "node"
    while id in cells:
        id += "_"
    table = MemoryTable("the networkx graph", pd.DataFrame({id: range(len(nodes)), **cells}))
    read = read_nodes(table, Columns(id=id, label=None), notes, reading)
    return read.x, read.reading


def _networkx_features(
    nodes: list[Any], rows: list[Any], features: str | Sequence[str]
) -> npt.NDArray[np.float64]:
    keys = [features] if isinstance(features, str) else list(features)
    if not keys:
        raise InputError("the list of feature attributes is empty: name at least one")
    columns = [_networkx_attribute(nodes, rows, key, vector=isinstance(features, str)) for key in keys]
    return np.concatenate(columns, axis=1)


def _networkx_attribute(
    nodes: list[Any], rows: list[Any], key: Any, *, vector: bool
) -> npt.NDArray[np.float64]:
    """Return the ``[N, width]`` values of one attribute. Raise InputError with the name of a wrong node."""
    values = []
    for node, row in zip(nodes, rows, strict=True):
        if key not in row:
            raise InputError(f"the node {node!r} has no attribute {key!r}: give every node the same features")
        try:
            value = np.asarray(row[key], dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"the attribute {key!r} of the node {node!r} is {short(repr(row[key]))}, which is no number"
                + (" or a vector of numbers" if vector else "")
                + ": give numbers, or name other features"
            ) from None
        if value.ndim > vector:
            raise InputError(
                f"the attribute {key!r} of the node {node!r} has the shape {value.shape}: "
                + (
                    "give one vector per node"
                    if vector
                    else f"name it alone, features={key!r}, to use a vector"
                )
            )
        if not np.isfinite(value).all():
            raise InputError(
                f"the attribute {key!r} of the node {node!r} is NaN or infinite: "
                "fill it in, or name other features"
            )
        values.append(value.reshape(-1))
        if len(values[-1]) != len(values[0]):
            raise InputError(
                f"the attribute {key!r} has {len(values[0])} values at the node {nodes[0]!r} and "
                f"{len(values[-1])} at {node!r}: give vectors of one length"
            )
    return np.stack(values)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | np.bool_)
