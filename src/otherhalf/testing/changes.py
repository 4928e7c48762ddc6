"""Changes of a graph whose effect on a result is known: another order, or none at all.

``docs/laws.md`` says which of them leave which results as they are, and how exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from otherhalf.estimators.new_nodes import reordered
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, IntArray

Numbered = TypeVar("Numbered", Graph, Split)


def renumbered(value: Numbered, order: Sequence[int] | IntArray) -> Numbered:
    """Return a graph, or a split of it, with its nodes in another order.

    A result of the new graph should be that of the old one with its rows in this order: ``result[order]``.

    Args:
        value: A graph or a split.
        order: ``[N]``: the old number of each node.
    """
    order = np.asarray(order)
    if isinstance(value, Graph):
        splits = tuple(renumbered(each, order) for each in value.fixed_splits)
        return replace(reordered(value, order), fixed_splits=splits)  # type: ignore[return-value]  # mypy: Split
    place = _places(order)
    return replace(value, train=place[value.train], val=place[value.val], test=place[value.test])


def relabelled(graph: Graph, order: Sequence[int] | IntArray) -> Graph:
    """Return the graph with its classes in another order; every node keeps its class.

    A result of the new graph should be that of the old one with its columns in this order.

    Args:
        graph: The graph.
        order: ``[C]``: the old code of each class.
    """
    order = np.asarray(order)
    codes = np.append(_places(order), UNKNOWN)  # UNKNOWN is −1, and finds itself at the end
    return replace(graph, y=codes[graph.y], classes=graph.classes[order])


def edges_given_again(graph: Graph, seed: int = 0) -> Graph:
    """Return the graph made once more from its edges: in any order, some twice, with self loops.

    Undirected edges have their ends in any order. Weights of an edge that is given twice are two halves. The
    new graph is equal to the old one, but for the numbers of dropped edges.
    """
    rng = np.random.default_rng(seed)
    again = rng.random(graph.num_edges) < 0.5
    picked = rng.permutation(np.concatenate([np.arange(graph.num_edges), np.flatnonzero(again)]))
    edges = graph.edges[:, picked]
    if not graph.directed:
        turned = rng.random(len(picked)) < 0.5
        edges = np.where(turned, edges[::-1], edges)
    loop = np.zeros((2, 1), dtype=np.int64)
    share = np.where(again, 0.5, 1.0)
    weights = None
    if graph.weights is not None:
        weights = np.append((graph.weights * share)[picked], 1.0)
    relations = graph.relations
    if relations is not None:
        columns = sp.csr_matrix(relations.edges @ sp.diags(share))[:, picked]
        columns = sp.hstack([columns, sp.csr_matrix((len(relations.names), 1))], format="csr")
        relations = replace(relations, edges=columns)
    return replace(graph, edges=np.concatenate([edges, loop], axis=1), weights=weights, relations=relations)


def with_lone_node(graph: Graph) -> Graph:
    """Return the graph with one more node: without an edge or a label, and with the features of node 0."""
    again = np.append(np.arange(graph.num_nodes), 0)
    ids = graph.ids
    if ids is not None:
        # One more than the largest, or longer than the longest: no other node has it.
        ids = np.append(ids, ids.max() + 1 if ids.dtype.kind in "iu" else max(ids, key=len) + "+")
    return replace(graph, x=graph.x[again], y=np.append(graph.y, UNKNOWN), ids=ids)


def labels_permuted(graph: Graph, nodes: IntArray) -> Graph:
    """Return the graph with the labels of some nodes exchanged among these nodes.

    Every one of them gets another class, as far as no class has more than half of them. With the test nodes
    of a split, a fit should not change by a bit: it must not read their labels.
    """
    y, nodes = np.array(graph.y), np.array(nodes)
    by_class = nodes[np.argsort(y[nodes], kind="stable")]
    _, counts = np.unique(y[nodes], return_counts=True)
    y[by_class] = np.roll(y[by_class], counts.max(initial=0))
    return replace(graph, y=y)


def _places(order: IntArray) -> IntArray:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place
