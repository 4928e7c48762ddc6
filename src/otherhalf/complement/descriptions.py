"""Descriptions of nodes: by their features, by their neighbours' features, by their place in the graph.

Every description is a matrix of unit rows, so that the product of two rows is their cosine. What it learns
from the fitted graph (means, rarities) is kept, so that the nodes of a grown graph are described alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from otherhalf.complement.relations import (
    counts_by_relation,
    names_by_relation,
    rows_by_relation,
    words_by_relation,
)
from otherhalf.complement.search import unit_rows
from otherhalf.complement.walks import Walks, walk_rows
from otherhalf.diagnosis.similarity import row_norms
from otherhalf.graph import Direction, Graph
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.magnitudes import Rows, magnitudes
from otherhalf.nn.ops.sparse import normalized_adjacency
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.relations import RelationGroups

DENSE_ENTRIES = 50_000_000
"""Smoothed features are dense. With more entries than this (200 MB) they are projected to fewer columns."""

PROJECTED = 512
"""Columns of the random projection; it keeps cosines to about 1 / √512."""

ROUNDING = 1e-5
"""A difference of rows that is shorter than this, relative to the row, is rounding."""


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


class Descriptions:
    """The descriptions of the nodes of one graph, each computed at its first use and then kept.

    Args:
        graph: The fitted graph, or that graph with new nodes after its own.
        basis: What was learned from the fitted graph.
        only: The only nodes that are asked for, which takes less time: rows of other nodes may be empty.
    """

    def __init__(self, graph: Graph, basis: Basis, only: IntArray | None = None) -> None:
        self.graph, self.basis, self._only = graph, basis, only
        self._rows: dict[str, Rows] = {}

    @property
    def names(self) -> list[str]:
        """The descriptions that this graph has."""
        sparse, features = sp.issparse(self.graph.x), self._features_differ
        directed = self.graph.directed
        has = {"sparse": sparse and features, "directed": directed, "features": features, "": True}
        plain = [name for name, each in DESCRIPTIONS.items() if has[each.needs]]
        return [*plain, *names_by_relation(self.basis.relations, directed=directed, features=features)]

    @cached_property
    def _features_differ(self) -> bool:
        """Whether the features of some nodes differ; else they describe nothing."""
        least, most = self.graph.x.min(axis=0), self.graph.x.max(axis=0)
        return bool((least != most).sum())

    def rows(self, name: str) -> Rows:
        """Return the unit rows of a description."""
        if name not in self._rows:
            known = DESCRIPTIONS.get(name)
            made = rows_by_relation(self, name) if known is None else known.make(self)
            self._rows[name] = unit_rows(self._asked_for(made))
        return self._rows[name]

    def _asked_for(self, made: Rows) -> Rows:
        """Return sparse rows without those of nodes that are not asked for."""
        if self._only is None or isinstance(made, np.ndarray):
            return made
        asked = np.zeros(self.graph.num_nodes, dtype=np.float32)
        asked[self._only] = 1.0
        return sp.csr_matrix(sp.diags(asked) @ made)

    def forget(self, kept: list[str]) -> None:
        """Free the memory of all descriptions but these."""
        self._rows = {name: rows for name, rows in self._rows.items() if name in kept}
        for name in ("rare_features", "dense", "walks", "_smoothing"):
            self.__dict__.pop(name, None)

    @cached_property
    def magnitudes(self) -> dict[str, FloatArray]:
        """log(1 + sum of the absolute features) and log(1 + degree) of every node."""
        return magnitudes(self.features, self.graph.adjacency)

    @cached_property
    def features(self) -> Rows:
        """The features, scaled as models read them."""
        return self.basis.scaling.apply(self.graph.x)

    @cached_property
    def rare_features(self) -> Rows:
        """Sparse features times their rarity; dense ones as they are."""
        if not sp.issparse(self.features):
            return self.features
        return sp.csr_matrix(self.features @ sp.diags(self.basis.feature_rarity))

    @cached_property
    def dense(self) -> FloatArray:
        """The features to be smoothed: dense, and projected where they would fill the memory."""
        x = self.rare_features
        # By the size of the fitted graph: a grown graph must be described like it.
        if self.basis.num_known * x.shape[1] > DENSE_ENTRIES and x.shape[1] > PROJECTED:
            drawn = np.random.default_rng(0).standard_normal((x.shape[1], PROJECTED), dtype=np.float32)
            x = x @ (drawn / np.float32(np.sqrt(PROJECTED)))
        # Writable, as torch wants it: unscaled features are the graph's own.
        return np.require(x if isinstance(x, np.ndarray) else x.toarray(), np.float32, "W")

    @cached_property
    def walks(self) -> Walks:
        """Rows of short walks."""
        return walk_rows(self.graph.adjacency, only=self._only)

    @cached_property
    def _smoothing(self) -> sp.csr_matrix:
        return normalized_adjacency(self.graph.adjacency, self_loops=True)

    def smoothed(self, steps: int) -> FloatArray:
        r"""Return :math:`\hat{\mathbf{S}}^t\mathbf{X}`."""
        h = torch.from_numpy(self.dense)
        for _ in range(steps):
            h = self._smoothing @ h
        return h.numpy()

    def neighbour_mean(self) -> FloatArray:
        r"""Return :math:`\mathbf{D}^{-1}\mathbf{A}\mathbf{X}`; 0 for a node without neighbours."""
        sums = np.asarray(self.graph.adjacency.sum(axis=1), dtype=np.float32).ravel()
        sums[sums == 0] = 1.0
        return np.asarray(sp.diags(1 / sums) @ (self.graph.adjacency @ self.dense), dtype=np.float32)

    def contrast(self) -> FloatArray:
        """Return the features less the neighbours' mean; 0 where they differ by rounding only."""
        rows = self.dense - self.neighbour_mean()
        rows[row_norms(rows) < ROUNDING * row_norms(self.dense)] = 0.0
        return rows

    def to_known(self, matrix: sp.csr_matrix) -> sp.csr_matrix:
        """Return the columns of known nodes."""
        known = self.basis.num_known
        return matrix if matrix.shape[1] == known else matrix[:, :known]

    def neighbours(self, direction: Direction, *, rarity: bool) -> sp.csr_matrix:
        """Return the adjacency rows towards known nodes, times the rarity of the neighbour if asked."""
        rows = self.to_known(self.graph.adjacency_in(direction))
        if not rarity:
            return rows
        which = ("undirected", "given", "reversed").index(direction)
        return sp.csr_matrix(rows @ sp.diags(self.basis.node_rarity[which]))


def words_of_description(name: str) -> str:
    """Return what two nodes share that are similar by this description."""
    known = DESCRIPTIONS.get(name)
    return words_by_relation(name) if known is None else known.words


def _rarity(counts: npt.NDArray[Any], nodes: int) -> FloatArray:
    return np.log((nodes + 1) / (counts + 1)).astype(np.float32)


@dataclass(frozen=True)
class Description:
    """One description.

    Attributes:
        words: What two nodes share that are similar by it.
        make: Computes its rows.
        needs: ``features`` that differ between nodes, such features that are ``sparse``, or ``directed``
            edges; empty for nothing.
    """

    words: str
    make: Callable[[Descriptions], Rows]
    needs: str = ""


DESCRIPTIONS: dict[str, Description] = {
    "features": Description("similar features", lambda d: d.features, needs="features"),
    "rare_features": Description(
        "similar features, weighted by rarity", lambda d: d.rare_features, needs="sparse"
    ),
    "neighbours_features": Description(
        "neighbours with similar features", lambda d: d.neighbour_mean(), needs="features"
    ),
    "smoothed_1": Description("similar features within one step", lambda d: d.smoothed(1), needs="features"),
    "smoothed_2": Description("similar features within two steps", lambda d: d.smoothed(2), needs="features"),
    "smoothed_4": Description(
        "similar features within four steps", lambda d: d.smoothed(4), needs="features"
    ),
    "contrast": Description(
        "a similar difference from their neighbours' features", lambda d: d.contrast(), needs="features"
    ),
    "neighbours": Description("the same neighbours", lambda d: d.neighbours("undirected", rarity=False)),
    "rare_neighbours": Description(
        "the same neighbours, weighted by rarity", lambda d: d.neighbours("undirected", rarity=True)
    ),
    "targets": Description(
        "the same targets of edges", lambda d: d.neighbours("given", rarity=False), needs="directed"
    ),
    "rare_targets": Description(
        "the same targets of edges, weighted by rarity",
        lambda d: d.neighbours("given", rarity=True),
        needs="directed",
    ),
    "sources": Description(
        "the same sources of edges", lambda d: d.neighbours("reversed", rarity=False), needs="directed"
    ),
    "rare_sources": Description(
        "the same sources of edges, weighted by rarity",
        lambda d: d.neighbours("reversed", rarity=True),
        needs="directed",
    ),
    "two_steps": Description(
        "the same surroundings within two steps", lambda d: d.to_known(d.walks.two_steps)
    ),
    "four_steps": Description(
        "the same surroundings within four steps", lambda d: d.to_known(d.walks.four_steps)
    ),
    "pagerank": Description("the same surroundings by PageRank", lambda d: d.to_known(d.walks.pagerank)),
}
"""A new description is one entry. Those that start at the same rows share what they compute."""

MAGNITUDE_WORDS = {"features": "a similar number of features", "neighbours": "a similar number of neighbours"}
"""Magnitudes of :attr:`Descriptions.magnitudes`, and what two nodes share that are similar by them."""
