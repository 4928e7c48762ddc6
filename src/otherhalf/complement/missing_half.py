"""The missing half of a graph's topology, as a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from otherhalf.data.npz import read_arrays
from otherhalf.errors import InputError
from otherhalf.graph import symmetric_adjacency
from otherhalf.nn.ops.sparse import SparseOperator, normalized_adjacency
from otherhalf.system.arrays import UNKNOWN, Frozen, IntArray
from otherhalf.system.atomic import atomic_write, check_place

KINDS = ("homophily", "heterophily")


@dataclass(frozen=True, eq=False)
class MissingHalf(Frozen):
    """The missing half of a graph's topology, and how it was learned.

    Attributes:
        pairs: ``[2, P]``: row 0 the node that searched, row 1 the node it was joined to.
        num_nodes: N.
        kind: ``homophily`` (nodes joined to the most similar ones) or ``heterophily`` (to the least similar).
        k: Number of nodes that each node was joined to.
        candidates: Number of nodes that each node was compared with; fewer than N means a sample.
        encoder: Kind of the encoder that made the embedding.
        seconds: Duration of each stage.
    """

    pairs: IntArray
    num_nodes: int
    kind: str
    k: int
    candidates: int
    encoder: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @cached_property
    def adjacency(self) -> sp.csr_matrix:
        """Symmetric 0/1 matrix of the pairs, as an undirected simple graph."""
        return symmetric_adjacency(self.pairs, self.num_nodes)

    @cached_property
    def operator(self) -> SparseOperator:
        """Normalised adjacency matrix, as the convolution reads it."""
        return normalized_adjacency(self.adjacency)

    @property
    def num_edges(self) -> int:
        """Number of undirected edges, each counted once."""
        return int(self.adjacency.nnz // 2)

    @property
    def sampled(self) -> bool:
        """Whether the candidates were a sample of the nodes (Section 6.4)."""
        return self.candidates < self.num_nodes

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

    def to_npz(self, path: str | Path) -> None:
        """Write the missing half to an npz file, which :meth:`from_npz` reads."""
        check_place(path, (".npz",))
        upper = sp.triu(self.adjacency, k=1).tocoo()
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
            )

    @classmethod
    def from_npz(cls, path: str | Path) -> MissingHalf:
        """Read a missing half written by :meth:`to_npz`; raise InputError if the file is not one."""
        path = Path(path)
        arrays = read_arrays(path, ("pairs", "num_nodes", "kind", "k", "candidates", "encoder"))
        try:
            pairs, kind = arrays["pairs"].astype(np.int64), str(arrays["kind"])
            n, k, candidates = (int(arrays[name]) for name in ("num_nodes", "k", "candidates"))
            valid = kind in KINDS and pairs.ndim == len(pairs) == 2 and ((pairs >= 0) & (pairs < n)).all()
        except (TypeError, ValueError):
            valid = False
        if not valid:
            raise InputError(f"{path} is not a missing half: give a file that `complement --out` wrote")
        return cls(pairs, n, kind, k, candidates, str(arrays["encoder"]))

    def __repr__(self) -> str:
        how = f"{self.k} {'most' if self.kind == 'homophily' else 'least'} similar of each node"
        sampled = f", {self.candidates} sampled candidates" if self.sampled else ""
        return f"MissingHalf({self.kind}, {self.num_edges} edges, {how}{sampled})"
