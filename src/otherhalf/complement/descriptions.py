"""Descriptions of nodes: by their features, by their neighbours' features, by their place in the graph.

Every description is a matrix of unit rows, so that the product of two rows is their cosine. What it learns
from the fitted graph (means, rarities) is kept, so that the nodes of a grown graph are described alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch

from otherhalf.complement.basis import Basis
from otherhalf.complement.relations import names_by_relation, rows_by_relation, words_by_relation
from otherhalf.complement.search import fills, unit_rows
from otherhalf.complement.smoothing import smoothed_around, surroundings
from otherhalf.complement.walks import ENDS, stacked, walk_parts
from otherhalf.diagnosis.similarity import row_norms
from otherhalf.graph import Direction, Graph
from otherhalf.nn.magnitudes import Rows, magnitudes
from otherhalf.nn.ops.sparse import SparseOperator, normalized_adjacency
from otherhalf.system.arrays import FloatArray, IntArray

DENSE_ENTRIES = 50_000_000
"""Smoothed features are dense. With more entries than this (200 MB) they are projected to fewer columns."""

PROJECTED = 512
"""Columns of the random projection; it keeps cosines to about 1 / √512."""

SMALL = 8192
"""Graphs of this many nodes or fewer are described whole, also if only some of their nodes are asked for."""

KEPT_NODES = 100_000
"""On a larger graph, rows that a few products give are computed whenever they are asked for."""

MAGNITUDES_AT_ONCE = 1 << 16
"""Nodes whose scaled features are in memory at a time to be summed."""

SMOOTHED = {"smoothed_1": 1, "smoothed_2": 2, "smoothed_4": 4}
"""Steps of each kind of smoothed features."""

ROUNDING = 1e-5
"""A difference of rows that is shorter than this, relative to the row, is rounding."""


class Descriptions:
    """The descriptions of the nodes of one graph, or of some of its nodes.

    Rows that cost much are computed once, for all nodes in question, and then kept. On a large graph, those
    that a few products give are computed whenever they are asked for.

    Args:
        graph: The fitted graph, or that graph with new nodes after its own.
        basis: What was learned from the fitted graph.
        only: The only nodes that are asked for: what is far from them is not touched.
        names: The only descriptions that are asked for; None: any.
    """

    def __init__(
        self, graph: Graph, basis: Basis, only: IntArray | None = None, names: Collection[str] | None = None
    ) -> None:
        self.graph, self.basis, self._wanted = graph, basis, names
        # Small graphs are described whole: whether their rows are kept sparse depends on all of them.
        self._only = None if only is None or graph.num_nodes <= SMALL else np.unique(only)
        self._rows: dict[str, Rows] = {}
        self._directions: dict[str, sp.csr_matrix] = {}

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

    @cached_property
    def nodes(self) -> IntArray:
        """The nodes that are described, in order."""
        return np.arange(self.graph.num_nodes) if self._only is None else self._only

    def rows(self, name: str, nodes: IntArray | None = None) -> Rows:
        """Return the unit rows of a description, of these nodes or of all that are described."""
        at_once = DESCRIPTIONS[name].make if name in DESCRIPTIONS else None
        if nodes is None or at_once is None or self._only is not None or self.graph.num_nodes <= KEPT_NODES:
            kept = self._kept(name)
            return kept if nodes is None else kept[self._places(nodes)]
        return unit_rows(at_once(self, nodes), dense=self._dense(name))

    def _places(self, nodes: IntArray) -> IntArray:
        return nodes if self._only is None else np.searchsorted(self._only, nodes)

    def _kept(self, name: str) -> Rows:
        """Return the unit rows of all nodes that are described, computed once."""
        if name not in self._rows:
            known = DESCRIPTIONS.get(name)
            if name in ENDS:
                self._rows |= self._walked([each for each in ENDS if self._wants(each, name)])
            elif name in SMOOTHED:
                self._rows |= self._smoothed([each for each in SMOOTHED if self._wants(each, name)])
            elif known is not None and known.make is not None:
                self._rows[name] = unit_rows(known.make(self, self.nodes), dense=self._dense(name))
            else:
                self._rows[name] = unit_rows(rows_by_relation(self, name, self.nodes))
        return self._rows[name]

    def _wants(self, each: str, name: str) -> bool:
        """Return whether a description is computed together with another one."""
        wanted = self._wanted is None or each in self._wanted
        return each == name or (wanted and each not in self._rows)

    def _walked(self, names: list[str]) -> dict[str, Rows]:
        adjacency, dense = self.graph.adjacency, self._dense(names[0])
        parts = walk_parts(
            adjacency,
            names,
            only=self._only,
            change=lambda rows: unit_rows(self.to_known(rows), dense=dense),
        )
        return {name: each[0] if len(each) == 1 else stacked(each) for name, each in parts.items()}

    def _smoothed(self, names: list[str]) -> dict[str, Rows]:
        adjacency, rows, done = self.graph.adjacency, {}, 0
        h: torch.Tensor | None = None
        for name in names:
            steps = SMOOTHED[name]
            reached = None if self._only is None else surroundings(adjacency, self._only, steps)
            if reached is not None:
                rows[name] = unit_rows(smoothed_around(adjacency, self.dense_features, reached))
                continue
            h = torch.from_numpy(self.dense) if h is None else h
            for _ in range(done, steps):
                h = self._smoothing @ h
            done, smoothed = steps, h.numpy()
            rows[name] = unit_rows(smoothed if self._only is None else smoothed[self._only])
        self.__dict__.pop("_smoothing", None)
        if self._wanted is not None and not {"neighbours_features", "contrast"} & set(self._wanted):
            self.__dict__.pop("dense", None)
        return rows

    @cached_property
    def _smoothing(self) -> SparseOperator:
        return normalized_adjacency(self.graph.adjacency, self_loops=True)

    def _dense(self, name: str) -> bool | None:
        """Return whether the rows are kept dense; None if that is decided when all of them are known."""
        n, kind = self.graph.num_nodes, DESCRIPTIONS[name]
        if n <= SMALL:
            return None
        if name in ENDS:
            return False
        if kind.needs in ("features", "sparse"):
            x = self.graph.x
            return None if isinstance(x, np.ndarray) else fills(x.nnz, x.shape)
        return fills(self.adjacency(kind.direction).nnz, (n, self.basis.num_known))

    def only(self, nodes: IntArray) -> Descriptions:
        """Return the descriptions of some of the nodes alone."""
        return Descriptions(self.graph, self.basis, nodes, self._wanted)

    def magnitude(self, name: str, nodes: IntArray) -> FloatArray:
        """Return log(1 + sum of the absolute features) or log(1 + degree) of some nodes."""
        return self.magnitudes[name][self._places(nodes)]

    @cached_property
    def magnitudes(self) -> dict[str, FloatArray]:
        """Both magnitudes of all nodes that are described."""
        tops = range(0, len(self.nodes), MAGNITUDES_AT_ONCE)
        parts = [self.nodes[top : top + MAGNITUDES_AT_ONCE] for top in tops]
        found = [magnitudes(self.features(part), self.graph.adjacency[part]) for part in parts]
        return {name: np.concatenate([each[name] for each in found]) for name in MAGNITUDE_WORDS}

    def features(self, nodes: IntArray) -> Rows:
        """Return the features of some nodes, scaled as models read them."""
        return self.basis.scaling.apply(self.graph.x[nodes])

    def rare_features(self, nodes: IntArray) -> Rows:
        """Return sparse features of some nodes times their rarity; dense ones as they are."""
        features = self.features(nodes)
        if not sp.issparse(features):
            return features
        return sp.csr_matrix(features @ sp.diags(self.basis.feature_rarity))

    @cached_property
    def dense(self) -> FloatArray:
        """The features of all nodes to be smoothed."""
        return self._densified(np.arange(self.graph.num_nodes))

    def dense_features(self, nodes: IntArray) -> FloatArray:
        """Return the features of some nodes to be smoothed."""
        known = self._only is None or "dense" in self.__dict__
        return self.dense[nodes] if known else self._densified(nodes)

    def _densified(self, nodes: IntArray) -> FloatArray:
        """Return the rows, dense, and projected where all of them would fill the memory."""
        x = self.rare_features(nodes)
        # By the size of the fitted graph: a grown graph must be described like it.
        if self.basis.num_known * x.shape[1] > DENSE_ENTRIES and x.shape[1] > PROJECTED:
            drawn = np.random.default_rng(0).standard_normal((x.shape[1], PROJECTED), dtype=np.float32)
            x = x @ (drawn / np.float32(np.sqrt(PROJECTED)))
        # Writable, as torch wants it: unscaled features are the graph's own.
        return np.require(x if isinstance(x, np.ndarray) else x.toarray(), np.float32, "W")

    def times_features(self, rows: sp.csr_matrix) -> FloatArray:
        """Return the product of sparse rows with the features to be smoothed, of the nodes in them alone."""
        if self._only is None or "dense" in self.__dict__:
            return np.asarray(rows @ self.dense)
        used, columns = np.unique(rows.indices, return_inverse=True)
        shape = rows.shape[0], len(used)
        return np.asarray(
            sp.csr_matrix((rows.data, columns, rows.indptr), shape=shape) @ self._densified(used)
        )

    def neighbour_mean(self, nodes: IntArray) -> FloatArray:
        r"""Return rows of :math:`\mathbf{D}^{-1}\mathbf{A}\mathbf{X}`; 0 for a node without neighbours."""
        rows = self.graph.adjacency[nodes]
        sums = np.asarray(rows.sum(axis=1), dtype=np.float32).ravel()
        sums[sums == 0] = 1.0
        return np.asarray(self.times_features(rows) * (1 / sums)[:, None], dtype=np.float32)

    def contrast(self, nodes: IntArray) -> FloatArray:
        """Return the features less the neighbours' mean; 0 where they differ by rounding only."""
        own = self.dense_features(nodes)
        rows = own - self.neighbour_mean(nodes)
        rows[row_norms(rows) < ROUNDING * row_norms(own)] = 0.0
        return rows

    def to_known(self, matrix: sp.csr_matrix) -> sp.csr_matrix:
        """Return the columns of known nodes."""
        known = self.basis.num_known
        return matrix if matrix.shape[1] == known else matrix[:, :known]

    def adjacency(self, direction: Direction) -> sp.csr_matrix:
        """Return the adjacency matrix with the edges in this direction, made once."""
        if direction not in self._directions:
            self._directions[direction] = self.graph.adjacency_in(direction)
        return self._directions[direction]

    def neighbours(self, direction: Direction, nodes: IntArray, *, rarity: bool) -> sp.csr_matrix:
        """Return adjacency rows towards known nodes, times the rarity of the neighbour if asked."""
        rows = self.to_known(self.adjacency(direction)[nodes])
        if not rarity:
            return rows
        which = ("undirected", "given", "reversed").index(direction)
        return sp.csr_matrix(rows @ sp.diags(self.basis.node_rarity[which]))


def words_of_description(name: str) -> str:
    """Return what two nodes share that are similar by this description."""
    known = DESCRIPTIONS.get(name)
    return words_by_relation(name) if known is None else known.words


@dataclass(frozen=True)
class Description:
    """One description.

    Attributes:
        words: What two nodes share that are similar by it.
        make: Computes the rows of some nodes; None where those of all nodes are computed together.
        needs: ``features`` that differ between nodes, such features that are ``sparse``, or ``directed``
            edges; empty for nothing.
        direction: Direction of the edges whose rows they are.
    """

    words: str
    make: Callable[[Descriptions, IntArray], Rows] | None = None
    needs: str = ""
    direction: Direction = "undirected"


def _of_edges(words: str, direction: Direction, *, rarity: bool) -> Description:
    return Description(
        f"the same {words}" + (", weighted by rarity" if rarity else ""),
        lambda d, nodes: d.neighbours(direction, nodes, rarity=rarity),
        "" if direction == "undirected" else "directed",
        direction,
    )


DESCRIPTIONS: dict[str, Description] = {
    "features": Description("similar features", lambda d, nodes: d.features(nodes), "features"),
    "rare_features": Description(
        "similar features, weighted by rarity", lambda d, nodes: d.rare_features(nodes), "sparse"
    ),
    "neighbours_features": Description(
        "neighbours with similar features", lambda d, nodes: d.neighbour_mean(nodes), "features"
    ),
    "smoothed_1": Description("similar features within one step", needs="features"),
    "smoothed_2": Description("similar features within two steps", needs="features"),
    "smoothed_4": Description("similar features within four steps", needs="features"),
    "contrast": Description(
        "a similar difference from their neighbours' features", lambda d, nodes: d.contrast(nodes), "features"
    ),
    "neighbours": _of_edges("neighbours", "undirected", rarity=False),
    "rare_neighbours": _of_edges("neighbours", "undirected", rarity=True),
    "targets": _of_edges("targets of edges", "given", rarity=False),
    "rare_targets": _of_edges("targets of edges", "given", rarity=True),
    "sources": _of_edges("sources of edges", "reversed", rarity=False),
    "rare_sources": _of_edges("sources of edges", "reversed", rarity=True),
    "two_steps": Description("the same surroundings within two steps"),
    "four_steps": Description("the same surroundings within four steps"),
    "pagerank": Description("the same surroundings by PageRank"),
}
"""A new description is one entry. Those that start at the same rows share what they compute."""

MAGNITUDE_WORDS = {"features": "a similar number of features", "neighbours": "a similar number of neighbours"}
"""Magnitudes of :attr:`Descriptions.magnitudes`, and what two nodes share that are similar by them."""
