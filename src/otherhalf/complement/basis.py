"""What descriptions learn from the fitted graph, so that nodes of a grown graph are described alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from otherhalf.complement.relations import counts_by_relation
from otherhalf.graph import Direction, Graph
from otherhalf.nn.inputs import Scaling
from otherhalf.system.arrays import FloatArray
from otherhalf.system.relations import RelationGroups


@dataclass(frozen=True)
class Basis:
    """What descriptions learn from the fitted graph.

    Attributes:
        num_known: Its number of nodes: the columns of adjacency rows.
        scaling: Scaling of the features.
        feature_rarity: ``[D]``: log((N + 1) / (n_j + 1)), with n_j nodes that have the sparse feature j; of
            dense features: empty.
        node_rarity: ``[1, N]``: likewise, with the degree of the node. In a directed graph ``[3, N]``: as a
            neighbour, as a target (with the number of edges into it) and as a source (out of it).
        relations: The relations that are told apart; none in most graphs.
        relation_rarity: ``[R, 1, N]`` or ``[R, 3, N]``: the rarity of nodes in each relation alone.
    """

    num_known: int
    scaling: Scaling
    feature_rarity: FloatArray
    node_rarity: FloatArray
    relations: RelationGroups = RelationGroups()
    relation_rarity: FloatArray | None = None

    @classmethod
    def of(cls, graph: Graph, scaling: Scaling) -> Basis:
        """Learn the basis from the fitted graph, whose features are scaled like this."""
        directions: tuple[Direction, ...] = ("undirected", "given", "reversed")
        directions = directions if graph.directed else directions[:1]
        counts = [graph.adjacency_in(each).getnnz(axis=0).astype(np.float32) for each in directions]
        in_use = np.empty(0) if isinstance(graph.x, np.ndarray) else graph.x.getnnz(axis=0)
        n = graph.num_nodes
        basis = cls(n, scaling, _rarity(in_use, n), _rarity(np.stack(counts), n))
        groups = RelationGroups.of(graph.relations)
        if not groups.names:
            return basis
        rarity = _rarity(counts_by_relation(graph, groups), n)
        return replace(basis, relations=groups, relation_rarity=rarity)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return what was learned, with the names that model folders use."""
        parts: dict[str, npt.NDArray[Any]] = {
            "feature_rarity": self.feature_rarity,
            "node_rarity": self.node_rarity,
        }
        if self.relation_rarity is not None:
            parts |= {"relations": self.relations.to_array(), "relation_rarity": self.relation_rarity}
        return {f"basis/{name}": torch.from_numpy(part) for name, part in parts.items()}

    @classmethod
    def from_tensors(cls, num_known: int, scaling: Scaling, tensors: Mapping[str, torch.Tensor]) -> Basis:
        """Return the basis that :meth:`tensors` was called on."""
        features, nodes = (tensors[f"basis/{name}"].numpy() for name in ("feature_rarity", "node_rarity"))
        basis, groups = cls(num_known, scaling, features, nodes), tensors.get("basis/relations")
        if groups is None:
            return basis
        rarity = tensors["basis/relation_rarity"].numpy()
        return replace(basis, relations=RelationGroups.from_array(groups.numpy()), relation_rarity=rarity)


def _rarity(counts: npt.NDArray[Any], nodes: int) -> FloatArray:
    return np.log((nodes + 1) / (counts + 1)).astype(np.float32)
