"""The two values that all packages use: a validated graph, and a split of its nodes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.errors import InputError
from otherhalf.system.adjacency import one_way_adjacency, pattern, symmetric_adjacency
from otherhalf.system.arrays import UNKNOWN, FloatArray, Frozen, IntArray, distinct_keys, frozen, sha256_of
from otherhalf.system.fingerprint import unlabelled_fingerprint
from otherhalf.system.graph_checks import (
    checked_feature_names,
    checked_features,
    checked_indices,
    checked_labels,
    featureless,
    simple_edges,
    summed_weights,
)
from otherhalf.system.names import checked_ids
from otherhalf.system.relations import Relations, checked_relations

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

    from otherhalf.data.reading import Reading

Direction = Literal["given", "reversed", "undirected"]
"""The direction of the edges: from source to target, from target to source, or both."""


@dataclass(frozen=True, eq=False)
class Split(Frozen):
    """The nodes for training, selection and the final score: three disjoint, sorted index arrays."""

    train: IntArray
    val: IntArray
    test: IntArray
    kind: str = "custom"
    seed: int | None = None

    def __post_init__(self) -> None:
        for part in ("train", "val", "test"):
            object.__setattr__(self, part, frozen(np.sort(checked_indices(part, getattr(self, part)))))
        nodes = np.concatenate([self.train, self.val, self.test])
        if len(np.unique(nodes)) != len(nodes):
            raise InputError(
                "a node is in more than one of train, val and test (or twice in one): "
                "make the three parts disjoint"
            )

    def check_against(self, graph: Graph) -> None:
        """Raise InputError if the split names a node that the graph does not have."""
        largest = max((int(p.max()) for p in (self.train, self.val, self.test) if len(p)), default=0)
        if largest >= graph.num_nodes:
            raise InputError(
                f"the split names node {largest}, but the graph has {graph.num_nodes} nodes "
                "(0 … N−1): make the split from this graph"
            )


@dataclass(frozen=True, eq=False)
class Graph(Frozen):
    """An attributed graph, validated once and never changed.

    Args:
        edges: ``[2, E]`` node indices. Self loops and repeated edges are dropped and counted in
            :attr:`dropped_self_loops` and :attr:`dropped_repeats`. Undirected edges are kept once, with
            ``source < target``; both orders of one pair count as one edge and a repeat.
        x: ``[N, D]`` features, dense or scipy sparse; sparse stays sparse. Kept as float32. ``None`` for
            nodes without features: they get a column of ones, and N is the number of ``y`` or ``ids``.
        y: ``[N]`` labels: integers or text. −1, NaN, None and the empty string mean unknown. ``None`` for a
            graph without labels.
        directed: Whether to keep the direction of the edges.
        ids: ``[N]`` distinct names of the nodes (text or integers); default ``0 … N−1``.
        classes: Label that each class code stands for; default: the sorted known labels of ``y``. If given,
            ``y`` holds codes, the positions in ``classes``.
        fixed_splits: Splits published with the data, used by ``split(graph, "fixed", seed=i)``.
        name: Name of the data set, which presets and results refer to.
        weights: ``[E]`` positive weights of the edges as they are given; those of repeated edges are summed.
            ``None`` for edges that all count the same.
        relations: ``[E]`` name of the relation of each edge as it is given, such as "cites"; None, NaN and
            the empty string for none. An edge that is given in two relations is one edge, and in both.
            ``None`` for a graph whose edges are of one kind.
        reading: How the tables of the graph were read, if it comes from tables; a model keeps it.
        feature_names: ``[D]`` names of the columns of ``x``, by which a model finds its features; default:
            those of the reading, or of a pandas table ``x``. ``None`` for features known by position alone.

    After construction ``y`` holds codes ``0 … C−1`` (:data:`UNKNOWN` = −1), ``classes`` the labels, and
    ``relations`` a :class:`~otherhalf.system.relations.Relations`.
    """

    edges: IntArray
    x: FloatArray | sp.csr_matrix
    y: IntArray = None  # type: ignore[assignment]  # None as an argument only; then an array
    directed: bool = False
    ids: npt.NDArray[Any] | None = None
    classes: npt.NDArray[Any] = None  # type: ignore[assignment]  # likewise
    fixed_splits: tuple[Split, ...] = ()
    name: str = ""
    weights: FloatArray | None = None
    relations: Relations | None = None
    reading: Reading | None = None
    feature_names: tuple[str, ...] | None = None
    dropped_self_loops: int = field(default=0, init=False)
    dropped_repeats: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        x = checked_features(featureless(self.y, self.ids) if self.x is None else self.x)
        n = x.shape[0]
        read = None if self.reading is None else self.reading.feature_names
        y, classes = checked_labels(self.y, self.classes, n)
        edges, self_loops, repeats = simple_edges(self.edges, n, self.directed)
        weights = self.weights
        if weights is not None:
            weights = summed_weights(weights, self.edges, n, edges, self.directed)
        relations = self.relations
        if relations is not None:
            relations = checked_relations(relations, self.edges, self.weights, n, edges, self.directed)
        values = {
            "weights": weights,
            "relations": relations,
            "x": x,
            "y": y,
            "classes": classes,
            "edges": edges,
            "directed": bool(self.directed),
            "ids": checked_ids(self.ids, n),
            "feature_names": checked_feature_names(self.feature_names, read, self.x, x.shape[1]),
            "fixed_splits": tuple(self.fixed_splits),
            "dropped_self_loops": self_loops,
            "dropped_repeats": repeats,
        }
        for key, value in values.items():
            object.__setattr__(self, key, frozen(value))
        for fixed in self.fixed_splits:
            fixed.check_against(self)

    # ------------------------------------------------------------------ size and shape

    @property
    def num_nodes(self) -> int:
        """N."""
        return int(self.x.shape[0])

    @property
    def num_edges(self) -> int:
        """E: undirected edges count once, directed edges each."""
        return int(self.edges.shape[1])

    @property
    def num_features(self) -> int:
        """D."""
        return int(self.x.shape[1])

    @property
    def num_classes(self) -> int:
        """C."""
        return len(self.classes)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """D, C and N: the sizes that models are made for."""
        return self.num_features, self.num_classes, self.num_nodes

    @cached_property
    def labelled(self) -> IntArray:
        """The nodes whose label is known."""
        return frozen(np.flatnonzero(self.y != UNKNOWN))

    @cached_property
    def undirected_edges(self) -> IntArray:
        """``[2, E']`` with ``source < target``, each pair once, without direction."""
        if not self.directed:
            return self.edges
        low, high = np.minimum(*self.edges), np.maximum(*self.edges)
        pairs = distinct_keys(low * np.int64(self.num_nodes) + high)
        return frozen(np.stack([pairs // self.num_nodes, pairs % self.num_nodes]))

    @cached_property
    def adjacency(self) -> sp.csr_matrix:
        """The symmetric adjacency matrix A of the undirected simple graph: its entries are 1, or weights."""
        if self.weights is None:
            return frozen(symmetric_adjacency(self.undirected_edges, self.num_nodes))
        return frozen(self._adjacency(self.weights, "undirected"))

    def adjacency_in(self, direction: Direction) -> sp.csr_matrix:
        """Return the adjacency matrix with the edges in this direction.

        Row i holds the targets of i (``given``), the sources of i (``reversed``), or both (``undirected``).
        In an undirected graph the three are the same.
        """
        if direction == "undirected" or not self.directed:
            return self.adjacency
        ones = np.ones(self.num_edges, dtype=np.float32)
        return self._adjacency(ones if self.weights is None else self.weights, direction)

    def relation_adjacency(
        self, names: Collection[str], direction: Direction = "undirected"
    ) -> sp.csr_matrix:
        """Return the adjacency matrix, as :meth:`adjacency_in`, of the edges in one of these relations."""
        nothing = np.zeros(self.num_edges, dtype=np.float32)
        values = nothing if self.relations is None else self.relations.values(names)
        matrix = self._adjacency(values, direction if self.directed else "undirected")
        return pattern(matrix) if self.weights is None else matrix

    def _adjacency(self, values: FloatArray, direction: Direction) -> sp.csr_matrix:
        edges = self.edges[::-1] if direction == "reversed" else self.edges
        one_way = one_way_adjacency(edges, values, self.num_nodes)
        return sp.csr_matrix(one_way + one_way.T) if direction == "undirected" else one_way

    @cached_property
    def isolated(self) -> IntArray:
        """The nodes without any edge."""
        return frozen(np.flatnonzero(np.diff(self.adjacency.indptr) == 0))

    @property
    def encoded(self) -> bool:
        """Whether the features are encoded columns of a table, which have their scale already."""
        return self.reading is not None and self.reading.encoding is not None

    @property
    def own_feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, if they are not those of the reading."""
        read = None if self.reading is None else self.reading.feature_names
        return None if self.feature_names == read else self.feature_names

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that a result depends on: edges, direction, features and labels."""
        return sha256_of([self.y, np.frombuffer(bytes.fromhex(self.unlabelled_fingerprint), dtype=np.uint8)])

    @cached_property
    def unlabelled_fingerprint(self) -> str:
        """Hash of edges, direction and features; dense and sparse features have the same."""
        return unlabelled_fingerprint(self)

    def node_names(self) -> npt.NDArray[Any]:
        """Return the ids, or 0 … N−1 if the graph has none."""
        return np.arange(self.num_nodes) if self.ids is None else self.ids

    def require_labels(self, purpose: str) -> None:
        """Raise InputError if there are not two known classes, which ``purpose`` needs."""
        if len(self.labelled) == 0:
            raise InputError(
                f"no node has a label, and {purpose} needs some: name the label column, "
                "or give labels for some of the nodes"
            )
        present = np.unique(self.y[self.labelled])
        if len(present) < 2:
            raise InputError(
                f"every labelled node has the class {str(self.classes[present[0]])!r}, and {purpose} "
                "needs at least two classes: check the label column"
            )

    def __repr__(self) -> str:
        label = f"{self.name}: " if self.name else ""
        kind = "directed" if self.directed else "undirected"
        return (
            f"Graph({label}{self.num_nodes} nodes, {self.num_edges} {kind} edges, "
            f"{self.num_features} features, {self.num_classes} classes)"
        )

    def _repr_html_(self) -> str:
        from otherhalf.data.graph_html import graph_html

        return graph_html(self)

    # ------------------------------------------------------------------ in and out

    @classmethod
    def from_pyg(cls, data: Data, **options: Any) -> Graph:
        """Convert a PyG ``Data`` with ``x``, ``edge_index`` and, if known, ``y`` and masks."""
        from otherhalf.data.convert import from_pyg

        return from_pyg(data, **options)

    @classmethod
    def from_networkx(cls, graph: nx.Graph, **options: Any) -> Graph:
        """Convert a networkx graph whose nodes have feature and label attributes."""
        from otherhalf.data.convert import from_networkx

        return from_networkx(graph, **options)

    @classmethod
    def from_scipy(cls, adjacency: sp.spmatrix, x: Any, y: Any = None, **options: Any) -> Graph:
        """Convert a scipy sparse adjacency matrix, features and labels."""
        from otherhalf.data.convert import from_scipy

        return from_scipy(adjacency, x, y, **options)

    @classmethod
    def from_frames(cls, nodes: Any, edges: Any, **options: Any) -> Graph:
        """Convert a table of nodes and a table of edges: pandas, Arrow, polars or DuckDB."""
        from otherhalf.data.convert import from_frames

        return from_frames(nodes, edges, **options)

    def to_pyg(self) -> Data:
        """Convert to a PyG ``Data``; the fixed splits become ``[N, S]`` masks."""
        from otherhalf.data.convert import to_pyg

        return to_pyg(self)

    def to_npz(self, path: str | Path) -> None:
        """Write the graph to one npz file for ``load`` and the command line."""
        from otherhalf.data.npz import write_npz

        write_npz(self, path)
