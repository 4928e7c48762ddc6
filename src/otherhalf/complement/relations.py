"""Descriptions of nodes by one relation of their edges: the same rows as of all edges, but of these alone.

The name of such a description is that of its kind, a colon and the relation: ``rare_neighbours:cites``.
Nothing after the colon stands for all relations without a group of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from otherhalf.complement.walks import walk_rows
from otherhalf.graph import Direction, Graph
from otherhalf.nn.magnitudes import Rows
from otherhalf.nn.ops.sparse import mean_matrix
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.relations import RelationGroups

if TYPE_CHECKING:
    from otherhalf.complement.descriptions import Descriptions

MARK = ":"


@dataclass(frozen=True)
class RelationDescription:
    """One kind of description.

    Attributes:
        words: What two nodes share that are similar by it; ``{}`` stands for the relation.
        make: Computes the rows of some nodes from the adjacency matrix of the relation.
        direction: The direction of the edges; other than ``undirected``, it needs a directed graph.
        rarity: Whether the rows are those of known neighbours, times their rarity.
        features: Whether it needs features that differ between nodes.
    """

    words: str
    make: Callable[[Descriptions, sp.csr_matrix, IntArray], Rows]
    direction: Direction = "undirected"
    rarity: bool = False
    features: bool = False


def _rows(descriptions: Descriptions, adjacency: sp.csr_matrix, nodes: IntArray) -> Rows:
    return descriptions.to_known(adjacency[nodes])


KINDS: dict[str, RelationDescription] = {
    "neighbours": RelationDescription("the same neighbours by {}", _rows),
    "rare_neighbours": RelationDescription(
        "the same neighbours by {}, weighted by rarity", _rows, rarity=True
    ),
    "neighbours_features": RelationDescription(
        "neighbours by {} with similar features",
        lambda d, adjacency, nodes: d.times_features(mean_matrix(adjacency[nodes])),
        features=True,
    ),
    "two_steps": RelationDescription(
        "the same surroundings by {} within two steps",
        lambda d, adjacency, nodes: d.to_known(walk_rows(adjacency, ["two_steps"], only=nodes)["two_steps"]),
    ),
    "rare_targets": RelationDescription(
        "the same targets of edges by {}, weighted by rarity", _rows, "given", rarity=True
    ),
    "rare_sources": RelationDescription(
        "the same sources of edges by {}, weighted by rarity", _rows, "reversed", rarity=True
    ),
}
"""A new kind is one entry."""


def names_by_relation(groups: RelationGroups, *, directed: bool, features: bool) -> list[str]:
    """Return the names of all descriptions by one relation.

    Args:
        groups: The relations.
        directed: Whether the edges have a direction.
        features: Whether the features of some nodes differ.
    """
    kinds = [
        name
        for name, kind in KINDS.items()
        if (directed or kind.direction == "undirected") and (features or not kind.features)
    ]
    return [f"{kind}{MARK}{name or ''}" for name in groups.names for kind in kinds]


def words_by_relation(name: str) -> str:
    """Return what two nodes share that are similar by a description."""
    kind, _, relation = name.partition(MARK)
    return KINDS[kind].words.format(repr(relation) if relation else "other relations")


def rows_by_relation(descriptions: Descriptions, name: str, nodes: IntArray) -> Rows:
    """Return the rows of a description of some nodes."""
    named, _, relation = name.partition(MARK)
    graph, basis, kind = descriptions.graph, descriptions.basis, KINDS[named]
    group = basis.relations.names.index(relation or None)
    members = basis.relations.members(graph.relations)[group]
    rows = kind.make(descriptions, graph.relation_adjacency(members, kind.direction), nodes)
    if not kind.rarity:
        return rows
    assert basis.relation_rarity is not None
    which = ("undirected", "given", "reversed").index(kind.direction)
    return sp.csr_matrix(rows @ sp.diags(basis.relation_rarity[group, which]))


def counts_by_relation(graph: Graph, groups: RelationGroups) -> FloatArray:
    """Return ``[R, 1, N]``: the number of neighbours by each relation; ``[R, 3, N]`` in a directed graph.

    The three are: as a neighbour, as a target (edges into the node) and as a source (edges out of it).
    """
    directions: tuple[Direction, ...] = ("undirected", "given", "reversed")
    directions = directions if graph.directed else directions[:1]
    counts = [
        [graph.relation_adjacency(names, each).getnnz(axis=0) for each in directions]
        for names in groups.members(graph.relations)
    ]
    return np.array(counts, dtype=np.float32)
