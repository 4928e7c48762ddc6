"""Graphs with new nodes: the nodes of the fit come first, new ones after them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from otherhalf.data.notes import listing
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import IntArray
from otherhalf.system.relations import RelationGroups
from otherhalf.system.typed import typed


@dataclass(frozen=True, eq=False)
class KnownNodes:
    """What a model keeps of the nodes it was fitted on.

    Attributes:
        count: N of the fitted graph.
        features: D.
        ids: Their ids as text, or None where nodes are known by position alone.
        fingerprint: The fitted graph's edges and features, without labels.
        relations: The relations of its edges; empty if they were not told apart.
        weighted: Whether its edges had weights.
        directed: Whether they had a direction; None if an older version did not write it.
        feature_names: Names of its features, if they had some that no reading has.
    """

    count: int
    features: int
    ids: tuple[str, ...] | None
    fingerprint: str
    relations: tuple[str, ...] = ()
    weighted: bool = False
    directed: bool | None = None
    feature_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, graph: Graph) -> KnownNodes:
        """Return what is kept of the nodes of a graph."""
        ids = None if graph.ids is None else tuple(str(i) for i in graph.ids)
        relations = () if graph.relations is None else graph.relations.names
        relations = relations if RelationGroups.of(graph.relations).names else ()
        return cls(
            graph.num_nodes,
            graph.num_features,
            ids,
            graph.unlabelled_fingerprint,
            relations,
            weighted=graph.weights is not None,
            directed=graph.directed,
            feature_names=graph.own_feature_names,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what the model folder has of them; what came later only if there is some."""
        late = ("relations", "weighted", "feature_names")
        return {name: value for name, value in vars(self).items() if name not in late or value}

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> KnownNodes:
        """Return what :meth:`to_dict` was called on, after JSON has made lists of tuples."""
        values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in saved.items()}
        known = typed(cls, values)
        if known.count < 1 or known.features < 0 or (known.ids is not None and len(known.ids) != known.count):
            raise ValueError("its known nodes are not as many as it says")
        return known

    def known_first(self, graph: Graph) -> tuple[Graph, IntArray]:
        """Return the graph with the known nodes first, in the order of the fit, and each node's old place.

        Nodes are known by their ids where the fit had ids, else by position: the first N are the known ones.
        """
        if graph.num_features != self.features:
            raise InputError(
                f"the graph has {graph.num_features} features and the model was fitted with {self.features}: "
                "give the same feature columns in the same order"
            )
        if graph.num_nodes < self.count:
            raise InputError(
                f"the graph has {graph.num_nodes} nodes and the model was fitted on {self.count}: give the "
                "fitted graph, or that graph with new nodes added after its own"
            )
        self._check_direction(graph)
        self._check_weights(graph)
        self._check_relations(graph)
        order = np.arange(graph.num_nodes)
        if self.ids is not None:
            order = self._order_by_id(graph)
        elif graph.num_nodes == self.count and graph.unlabelled_fingerprint != self.fingerprint:
            warnings.warn(
                "the graph has as many nodes as the fitted one but other edges or features; its nodes are "
                "taken to be the fitted nodes in the same order",
                UserWarning,
                stacklevel=3,
            )
        return (graph if np.array_equal(order, np.arange(len(order))) else reordered(graph, order)), order

    def _check_direction(self, graph: Graph) -> None:
        if self.directed is not None and graph.directed != self.directed:
            words = {True: "directed", False: "undirected"}
            raise InputError(
                f"the model was fitted on {words[self.directed]} edges, and those of the graph are "
                f"{words[graph.directed]}: make the graph with directed={self.directed}, or fit again"
            )

    def _check_weights(self, graph: Graph) -> None:
        if self.weighted and graph.weights is None:
            raise InputError(
                "the model was fitted with weights of the edges, and the graph has none: name their column "
                "with weight"
            )
        if not self.weighted and graph.weights is not None:
            raise InputError(
                "the model was fitted without weights of the edges, and the graph has some: leave them out "
                "(weight=False, --no-weight), or fit again"
            )

    def _check_relations(self, graph: Graph) -> None:
        given = () if graph.relations is None else graph.relations.names
        if self.relations and not set(self.relations) & set(given):
            raise InputError(
                f"the model was fitted with the relations {listing(self.relations)}, and the graph has "
                f"{listing(given) or 'none'}: give the same edge tables, or name the column with relation"
            )
        new = [name for name in given if name not in self.relations]
        if self.relations and new:
            warnings.warn(
                f"the relations {listing(new)} were not in the fitted graph; their edges count like those of "
                "relations that are not told apart",
                UserWarning,
                stacklevel=4,
            )

    def _order_by_id(self, graph: Graph) -> IntArray:
        place = {str(name): index for index, name in enumerate(graph.node_names())}
        missing = [name for name in self.ids or () if name not in place]
        if missing:
            raise InputError(
                f"the graph lacks {len(missing)} of the {self.count} nodes of the model's fit, the first "
                f"with id {missing[0]!r}: give the fitted graph with new nodes added, not new nodes alone"
            )
        known = np.array([place[name] for name in self.ids or ()], dtype=np.int64)
        new = np.ones(graph.num_nodes, dtype=bool)
        new[known] = False
        return np.concatenate([known, np.flatnonzero(new)])


def reordered(graph: Graph, order: IntArray) -> Graph:
    """Return the graph, without its fixed splits, with its nodes in this order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    ids = None if graph.ids is None else graph.ids[order]
    return replace(
        graph, edges=place[graph.edges], x=graph.x[order], y=graph.y[order], ids=ids, fixed_splits=()
    )
