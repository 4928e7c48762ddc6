r"""The graph as a table for trees: one row per node.

The columns, with X the features (or their projection), A the adjacency matrix, P = D⁻¹A and Y the labels of
the training nodes:

- X, P X and P² X: the features, and their means over neighbours one and two steps away;
- log(1 + degree), its mean over the neighbours, the log of PageRank, and log(1 + Σ|x|);
- the row of the normalised adjacency matrix with self loops, projected;
- P Y; A Y and P² Y without weights of edges, the latter without the share that comes back to the node itself;
- for a directed graph, P X and P Y also over the outgoing and over the incoming edges alone;
- for a graph with several relations, log(1 + degree), P X and P Y also over the edges of each one alone, in a
  directed graph outgoing and incoming;
- scores of other models, if given.

.. math::
    (\mathbf{P}^2\mathbf{Y} - \mathrm{diag}(\mathbf{P}^2)\mathbf{Y})_{ic}
    = \frac{1}{d_i} \sum_{j \sim i} \frac{1}{d_j} \big((\mathbf{A}\mathbf{Y})_{jc} - Y_{ic}\big)

The bracket is the number of neighbours of j other than i with the class c: a difference of two whole numbers,
which has no rounding error. So no bit of a row depends on the label of its own node. A difference of the two
sides of the left would leave about 10⁻⁸ where the right has 0, and a tree can tell that from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.graph import Direction, Graph
from otherhalf.nn.ops.sparse import scaled, with_loops
from otherhalf.nn.propagation import needed_columns
from otherhalf.system.adjacency import pattern
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.relations import RelationGroups
from otherhalf.system.seeds import generator
from otherhalf.system.threads import SMALL

WIDEST = 50
"""Number of feature columns from which they are projected, and the number of columns of the projection."""

NEIGHBOUR_COLUMNS = 30
"""Number of columns that the adjacency rows are projected to."""

POWER_ITERATIONS = 5
DAMPING, RANK_STEPS = 0.85, 30
BLOCK = 4096
"""Number of rows of dense features that are projected at a time."""


@dataclass(frozen=True, eq=False)
class GraphTable:
    """What the table of a graph with new nodes must have in common with that of the fitted graph.

    Attributes:
        neighbours: ``[N, 30]``: right singular vectors of the normalised adjacency matrix.
        features: ``[D, 50]``: right singular vectors of the features; None if there are few columns.
        directed: Whether there are columns of directed edges.
        relations: The relations with columns of their own.
        ranks: ``[N]`` PageRank of the fitted nodes, which new nodes then do not change: a new node has the
            rank that one step from its neighbours gives. None to compute all ranks of every graph anew.
    """

    neighbours: FloatArray
    features: FloatArray | None = None
    directed: bool = False
    relations: RelationGroups = RelationGroups()
    ranks: FloatArray | None = None

    @classmethod
    def fit(cls, graph: Graph, seed: int, *, keep_ranks: bool = False) -> GraphTable:
        """Learn both projections from the graph, and its ranks if they are to be kept; no label is read."""
        features = None if graph.num_features <= WIDEST else singular_vectors(graph.x, WIDEST, seed)
        neighbours = singular_vectors(_normalized(graph.adjacency), NEIGHBOUR_COLUMNS, seed)
        ranks = pagerank(graph.adjacency) if keep_ranks else None
        return cls(neighbours, features, graph.directed, RelationGroups.of(graph.relations), ranks)

    def rows(
        self,
        graph: Graph,
        labels: Tensor,
        scores: FloatArray | None = None,
        *,
        ranks: FloatArray | None = None,
        known: IntArray | None = None,
    ) -> FloatArray:
        """Return the table of a graph, ``[N, F]``.

        Args:
            graph: The fitted graph, or that graph with new nodes after its own.
            labels: ``[N, C]``: 1 at the class of each training node, and 0 everywhere else.
            scores: ``[N, K]``: further columns.
            ranks: ``[N]`` PageRank of the nodes, if the graph is a part of a larger one.
            known: ``[N]`` number of each node in the fitted graph, or −1, if it is a part of a larger one.
        """
        if len(labels) != graph.num_nodes or (scores is not None and len(scores) != graph.num_nodes):
            raise ValueError(f"labels and scores must have one row for each of {graph.num_nodes} nodes")
        adjacency, taught = graph.adjacency, labels.numpy().astype(np.float32)
        own, degree = self._own(graph.x), np.diff(adjacency.indptr)
        mean, log_degree = _mean(adjacency), np.log1p(degree).astype(np.float32)
        near, unweighted = mean @ own, pattern(adjacency)
        counts = unweighted @ taught
        columns = [own, near, mean @ near]
        ranks = self._ranks(graph) if ranks is None else ranks
        columns += [log_degree, mean @ log_degree, np.log(ranks), np.log1p(_sums(graph.x))]
        columns.append(self._projected(_normalized(adjacency), known))
        columns += [_shares(adjacency, taught), counts, _two_steps(unweighted, counts, taught)]
        for direction in self._directions:
            edges = graph.adjacency_in(direction)
            columns += [_mean(edges) @ own, _shares(edges, taught)]
        for names in self.relations.members(graph.relations):
            for direction in self._directions or ("undirected",):
                edges = graph.relation_adjacency(names, direction)
                columns += [np.log1p(np.diff(edges.indptr)), _mean(edges) @ own, _shares(edges, taught)]
        if scores is not None:
            columns.append(scores)
        # In single precision before they are joined: one wider column would make all of them wide.
        return np.column_stack([np.asarray(each, dtype=np.float32) for each in columns])

    def few(
        self, graph: Graph, labels: Tensor, nodes: IntArray, scores: FloatArray | None = None
    ) -> FloatArray:
        """Return the rows of a few nodes, from the nodes one and two steps around them.

        Without kept ranks, PageRank alone is computed of all nodes. Relations are told apart in the whole
        table only.

        Args:
            graph: The graph.
            labels: As for :meth:`rows`, of all nodes.
            nodes: The nodes.
            scores: ``[len(nodes), K]``: further columns.
        """
        if self.relations.names:
            rows = self.rows(graph, labels)[nodes]
        else:
            around = nodes
            for _ in range(2):
                around = np.union1d(around, graph.adjacency[around].indices)
            part = induced(graph, around)
            known = np.where(around < len(self.neighbours), around, -1)
            ranks = self._ranks(graph)[around] if self.ranks is None else self._kept_ranks(graph, around)
            rows = self.rows(part, labels[torch.from_numpy(around)], ranks=ranks, known=known)
            rows = rows[np.searchsorted(around, nodes)]
        return rows if scores is None else np.hstack([rows, scores.astype(np.float32)])

    def _ranks(self, graph: Graph) -> FloatArray:
        if self.ranks is None:
            return pagerank(graph.adjacency)
        return self._kept_ranks(graph, np.arange(graph.num_nodes))

    def _kept_ranks(self, graph: Graph, nodes: IntArray) -> FloatArray:
        """Return the kept ranks of fitted nodes; of new ones, what one step of PageRank gives.

        A new neighbour counts with the rank 1, at which PageRank starts.
        """
        assert self.ranks is not None
        known, adjacency = len(self.ranks), graph.adjacency
        ranks = np.ones(len(nodes), dtype=np.float32)
        ranks[nodes < known] = self.ranks[nodes[nodes < known]]
        if (nodes >= known).any():
            local, near = needed_columns(adjacency[nodes[nodes >= known]])
            passed = np.ones(len(near))
            passed[near < known] = self.ranks[near[near < known]]
            passed *= _reciprocal(_degree(adjacency[near]))
            ranks[nodes >= known] = (1 - DAMPING) + DAMPING * (local.astype(np.float64) @ passed)
        return ranks

    def _projected(self, normalized: sp.csr_matrix, known: IntArray | None) -> FloatArray:
        """Return the adjacency rows towards known nodes, projected."""
        if known is None:
            return np.asarray(normalized[:, : len(self.neighbours)] @ self.neighbours)
        return np.asarray(normalized[:, known >= 0] @ self.neighbours[known[known >= 0]])

    def own(self, graph: Graph) -> FloatArray:
        """Return the columns that are the node's own: X, or its projection, and log(1 + Σ|x|)."""
        return np.column_stack([self._own(graph.x), np.log1p(_sums(graph.x))]).astype(np.float32)

    @property
    def _directions(self) -> tuple[Direction, ...]:
        return ("given", "reversed") if self.directed else ()

    def _own(self, x: FloatArray | sp.csr_matrix) -> FloatArray:
        if self.features is None:
            return x if isinstance(x, np.ndarray) else np.asarray(x.toarray())
        # A sparse product sums every row in the same order. A dense one may not: then the bits of a row would
        # depend on the number of rows.
        blocks = (sp.csr_matrix(x[top : top + BLOCK]) for top in range(0, x.shape[0], BLOCK))
        return np.vstack([block @ self.features for block in blocks])

    def tensors(self) -> dict[str, Tensor]:
        """Return what was learned, with the names that model folders use."""
        parts = {"neighbours": self.neighbours, "features": self.features, "ranks": self.ranks}
        kept = {name: torch.from_numpy(part) for name, part in parts.items() if part is not None}
        kept["directed"] = torch.tensor(self.directed)
        if self.relations.names:
            kept["relations"] = torch.from_numpy(self.relations.to_array())
        return {f"table/{name}": part for name, part in kept.items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> GraphTable:
        """Return the table that :meth:`tensors` was called on."""
        features, groups, ranks = (
            tensors.get(f"table/{name}") for name in ("features", "relations", "ranks")
        )
        for part in (tensors["table/neighbours"], features):
            if part is not None and (part.ndim != 2 or part.dtype != torch.float32):
                raise ValueError("a projection of its table is no matrix of numbers")
        known = (len(tensors["table/neighbours"]),)
        if ranks is not None and (ranks.shape != known or ranks.dtype != torch.float32):
            raise ValueError("the ranks of its table are not one number for each node")
        return cls(
            tensors["table/neighbours"].numpy(),
            None if features is None else features.numpy(),
            bool(tensors["table/directed"]),
            RelationGroups() if groups is None else RelationGroups.from_array(groups.numpy()),
            None if ranks is None else ranks.numpy(),
        )


def induced(graph: Graph, nodes: IntArray) -> Graph:
    """Return the graph of these nodes, in ascending order, and the edges among them, without relations."""
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    ends = place[graph.edges]
    kept = (ends >= 0).all(axis=0)
    return Graph(
        ends[:, kept],
        graph.x[nodes],
        graph.y[nodes],
        directed=graph.directed,
        classes=graph.classes,
        weights=None if graph.weights is None else graph.weights[kept],
    )


def pagerank(adjacency: sp.csr_matrix) -> FloatArray:
    r"""Return the PageRank of each node times N: :math:`\mathbf{r} = 0.15 + 0.85 \, \mathbf{P}^T \mathbf{r}`.

    What a node without edges would pass on is left out. So a new node that nothing links to changes no other
    rank, and no rank is below 0.15.
    """
    weight = _reciprocal(_degree(adjacency))
    backwards = adjacency.T.tocsr().astype(np.float64)
    rank = np.ones(adjacency.shape[0])
    for _ in range(RANK_STEPS):
        rank = (1 - DAMPING) + DAMPING * (backwards @ (weight * rank))
    return rank.astype(np.float32)


def singular_vectors(matrix: FloatArray | sp.csr_matrix, count: int, seed: int) -> FloatArray:
    """Return the first right singular vectors as columns, as many as there are up to ``count``.

    Those of a small graph have the same digits with any number of threads, in every process.
    """
    from sklearn.utils.extmath import randomized_svd
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    count = min(count, *matrix.shape)
    seed = int(generator(seed).integers(1 << 31))
    with threadpool_limits(1 if matrix.shape[0] < SMALL else torch.get_num_threads(), user_api="blas"):
        *_, vectors = randomized_svd(matrix, count, n_iter=POWER_ITERATIONS, random_state=seed)
    return np.ascontiguousarray(vectors.T, dtype=np.float32)


def _normalized(adjacency: sp.csr_matrix) -> sp.csr_matrix:
    """Return D^(-1/2) (A + I) D^(-1/2), with D of A + I."""
    looped = with_loops(adjacency)
    scale = (1 / np.sqrt(_degree(looped))).astype(np.float32)
    return scaled(looped, scale, scale)


def _mean(adjacency: sp.csr_matrix) -> sp.csr_matrix:
    """Return P = D⁻¹A; the row of a node without neighbours is zero."""
    weight = _reciprocal(_degree(adjacency)).astype(np.float32)
    return sp.csr_matrix(sp.diags(weight) @ adjacency)


def _degree(adjacency: sp.csr_matrix) -> FloatArray:
    """Return the sum of the weights of each node's edges: their number, if all weights are 1."""
    return np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel()


def _shares(adjacency: sp.csr_matrix, labels: FloatArray) -> FloatArray:
    """Return P Y."""
    return np.asarray((adjacency @ labels) * _reciprocal(_degree(adjacency))[:, None], dtype=np.float32)


def _two_steps(adjacency: sp.csr_matrix, counts: FloatArray, labels: FloatArray) -> FloatArray:
    """Return the last formula of the module; ``counts`` is A Y, and A has no weights: counts are whole."""
    degree = np.diff(adjacency.indptr)
    weight, ends = _reciprocal(degree), adjacency.indices
    starts = np.repeat(np.arange(len(degree)), degree)
    ones, result = np.ones(len(degree)), np.empty(labels.shape, dtype=np.float32)
    for c, (count, label) in enumerate(zip(counts.T.copy(), labels.T.copy(), strict=True)):
        others = (count[ends] - label[starts]) * weight[ends]
        sums = sp.csr_matrix((others, ends, adjacency.indptr), shape=adjacency.shape) @ ones
        result[:, c] = sums * weight
    return result


def _sums(x: FloatArray | sp.csr_matrix) -> FloatArray:
    """Return Σ|x| of each node; in double precision it cannot be infinite."""
    return np.asarray(abs(x).sum(axis=1, dtype=np.float64)).ravel()


def _reciprocal(values: FloatArray) -> FloatArray:
    """Return 1/v, and 0 for 0, in double precision."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)
