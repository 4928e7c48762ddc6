"""The missing half of a graph's topology, as a value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.complement.half_files import NPZ, edge_table, write_edges
from otherhalf.data.files.arrays import read_arrays
from otherhalf.diagnosis.sentences import adjective
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.ops.sparse import SparseOperator, normalized_matrix
from otherhalf.system.adjacency import symmetric_adjacency
from otherhalf.system.arrays import UNKNOWN, FloatArray, Frozen, IntArray
from otherhalf.system.atomic import atomic_write, check_place
from otherhalf.system.html import card, facts

KINDS = ("homophily", "heterophily", "both")
METHODS = ("kernel", "embedding")


@dataclass(frozen=True, eq=False)
class MissingHalf(Frozen):
    """The missing half of a graph's topology, and how it was learned.

    Attributes:
        pairs: ``[2, P]``: row 0 the node that searched, row 1 the node it was joined to.
        num_nodes: N.
        kind: ``homophily`` (nodes joined to the most similar ones), ``heterophily`` (to the least similar),
            or ``both``.
        k: Number of nodes that each node was joined to; of ``both`` kinds, the number of each.
        candidates: Number of nodes that each node was compared with: all or a sample of all nodes, and by
            leave-one-out of the training nodes.
        encoder: Kind of the encoder that made the embedding.
        seconds: Duration of each stage.
        weights: ``[P]``: share of each pair in the half of its searching node, negative for least similar
            nodes; None where all pairs weigh the same.
        method: ``embedding`` (the paper's) or ``kernel`` (by leave-one-out).
        words: What the half is made of.
    """

    pairs: IntArray
    num_nodes: int
    kind: str
    k: int
    candidates: int
    encoder: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    weights: FloatArray | None = None
    method: str = "embedding"
    words: str = ""

    def part(self, kind: str) -> MissingHalf:
        """Return the pairs of one kind, ``homophily`` or ``heterophily``; none in a half of the other."""
        if kind == self.kind:
            return self
        if self.weights is None and self.kind == "both":
            raise ValueError("a half of both kinds needs weights: their signs say the kind of a pair")
        signs = np.zeros(self.pairs.shape[1]) if self.weights is None else self.weights
        chosen = signs > 0 if kind == "homophily" else signs < 0
        weights = None if self.weights is None else self.weights[chosen]
        return replace(self, pairs=self.pairs[:, chosen], weights=weights, kind=kind)

    @cached_property
    def adjacency(self) -> sp.csr_matrix:
        """Symmetric 0/1 matrix of the pairs, as an undirected simple graph."""
        return symmetric_adjacency(self.pairs, self.num_nodes)

    @cached_property
    def operator(self) -> SparseOperator:
        """The matrix that the convolution reads.

        Without weights, the normalised adjacency matrix. With weights, each row holds the weights of the
        pairs of its node, without sign: messages go from labelled nodes to all others, not back.
        """
        return SparseOperator.from_scipy(self.matrix, symmetric=self.weights is None)

    @cached_property
    def matrix(self) -> sp.csr_matrix:
        """The matrix of :attr:`operator`, as a scipy matrix."""
        if self.weights is None:
            return normalized_matrix(self.adjacency)
        return sp.csr_matrix((abs(self.weights), tuple(self.pairs)), shape=(self.num_nodes,) * 2)

    @property
    def num_edges(self) -> int:
        """Number of undirected edges, each counted once."""
        return int(self.adjacency.nnz // 2)

    @property
    def sampled(self) -> bool:
        """Whether the embedding was compared with a sample of the nodes (Section 6.4)."""
        return self.method == "embedding" and self.candidates < self.num_nodes

    def homophily(self, y: IntArray, nodes: IntArray | None = None) -> float | None:
        """Return the share of pairs within a class, over pairs whose searching node is one of ``nodes``.

        It counts the pairs before they become an undirected graph, which would mix those of training and of
        test nodes: the former are much better, because the embedding was learned from the training labels.
        None if no pair has two known labels.
        """
        source, target = self.pairs
        counted = (y[source] != UNKNOWN) & (y[target] != UNKNOWN)
        if nodes is not None:
            wanted = np.zeros(self.num_nodes, dtype=bool)
            wanted[nodes] = True
            counted &= wanted[source]
        return float(np.mean(y[source[counted]] == y[target[counted]])) if counted.any() else None

    def to_frame(self, graph: Graph) -> pd.DataFrame:
        """Return the edges as a table of ``source``, ``target``, ``weight`` and ``kind``, by the graph's ids.

        :func:`~otherhalf.complement.half_files.edge_table` says what a row holds.
        """
        return edge_table(self, graph)

    def to_table(self, path: str | Path, graph: Graph, *, spreadsheet_safe: bool = False) -> int:
        """Write the edges of :meth:`to_frame` to a CSV, Parquet or GraphML file; return their number.

        With ``spreadsheet_safe``, no cell is a formula to a spreadsheet
        (:func:`~otherhalf.data.table_writer.write_table`).
        """
        return write_edges(path, self, graph, spreadsheet_safe=spreadsheet_safe)

    def to_npz(self, path: str | Path) -> None:
        """Write the missing half to an npz file, which :meth:`from_npz` reads."""
        check_place(path, (NPZ,))
        upper = sp.triu(self.adjacency, k=1).tocoo()
        arrays = {} if self.weights is None else {"weights": self.weights}
        with atomic_write(path) as temporary:
            np.savez_compressed(
                temporary,
                edge_index=np.stack([upper.row, upper.col]).astype(np.int32),
                pairs=self.pairs.astype(np.int32),
                num_nodes=np.array(self.num_nodes),
                kind=np.array(self.kind),
                k=np.array(self.k),
                candidates=np.array(self.candidates),
                encoder=np.array(self.encoder),
                method=np.array(self.method),
                words=np.array(self.words),
                **arrays,  # type: ignore[arg-type]  # mypy takes it for the argument allow_pickle
            )

    @classmethod
    def from_npz(cls, path: str | Path) -> MissingHalf:
        """Read a missing half written by :meth:`to_npz`; raise InputError if the file is not one."""
        path = Path(path)
        # Files of earlier versions, which had the embedding only, have none of the optional arrays.
        needed = ("pairs", "num_nodes", "kind", "k", "candidates", "encoder")
        arrays = read_arrays(path, needed, optional=("method", "words", "weights"))
        method, words = str(arrays.get("method", "embedding")), str(arrays.get("words", ""))
        weights = arrays.get("weights")
        try:
            pairs, kind = arrays["pairs"].astype(np.int64), str(arrays["kind"])
            n, k, candidates = (int(arrays[name]) for name in ("num_nodes", "k", "candidates"))
            valid = kind in KINDS and pairs.ndim == len(pairs) == 2 and ((pairs >= 0) & (pairs < n)).all()
            if weights is not None:
                weights = weights.astype(np.float32)
                valid = valid and weights.shape == pairs.shape[1:] and np.isfinite(weights).all()
        except (TypeError, ValueError):
            valid = False
        if not valid or method not in METHODS:
            raise InputError(f"{path} is not a missing half: give a file that `complement --out` wrote")
        return cls(
            pairs, n, kind, k, candidates, str(arrays["encoder"]), weights=weights, method=method, words=words
        )

    def _repr_html_(self) -> str:
        values = {
            "kind": adjective(self.kind),
            "edges": f"{self.num_edges:,} between {self.num_nodes:,} nodes",
            "joined": self._how(),
            "made of": self.words or None,
            "encoder": self.encoder or None,
        }
        return card("Missing half", facts(values))

    def __repr__(self) -> str:
        words = f", {self.words}" if self.method == "kernel" and self.words else ""
        return f"MissingHalf({self.kind}, {self.num_edges} edges, {self._how()}{words})"

    def _how(self) -> str:
        """Return which nodes each node was joined to."""
        if self.method == "kernel":
            count = f"{self.k} + {self.k}" if self.kind == "both" else str(self.k)
            return f"each node to {count} of {self.candidates} training nodes"
        which = {"homophily": "most", "heterophily": "least", "both": "most and least"}[self.kind]
        sampled = f", {self.candidates} sampled candidates" if self.sampled else ""
        return f"{self.k} {which} similar of each node{sampled}"
