"""Identical nodes: how many a graph has, and how far looking up a label among them goes without learning.

Where two nodes have the same neighbours or features, a model that knows one by heart knows the other. If
one trains and the other tests, the test score shows memory and not what was learned (Platonov et al. 2023,
"A critical look at the evaluation of GNNs under heterophily", found this in Chameleon and Squirrel).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.graph_checks import UNKNOWN, FloatArray, IntArray, frozen
from otherhalf.training.metrics import roc_auc

Matrix: TypeAlias = FloatArray | sp.csr_matrix

NONE = -1
"""Stands for the first identical node where a node has nothing that could be identical."""

SUBSTANTIAL = 0.05
"""The look-up is worth a warning where it beats the most frequent class by more than this much accuracy.

And by more than twice the standard error: with a few dozen test nodes, chance alone gives 0.05 often.
"""

BLOCK = 2_000_000
"""About how many matrix entries are hashed or compared at once."""

WORDS = {
    "out_neighbours": "out-neighbours",
    "neighbours": "neighbours",
    "features": "features",
    "neighbours_and_features": "neighbours and features",
}


@dataclass(frozen=True, eq=False)
class Duplicates:
    """The identical nodes of a graph, by what is identical: see :func:`find_duplicates`.

    ``first[kind]`` is [N]: the first node that is identical to each node (the node itself where no other
    comes before it), −1 for a node with nothing to compare. So two nodes are identical if their entries are
    equal and not −1.
    """

    first: Mapping[str, IntArray] = field(repr=False)

    def count(self, kind: str) -> tuple[int, int]:
        """How many groups of two or more identical nodes there are, and how many nodes stand in them."""
        first = self.first[kind]
        sizes = np.bincount(first[first != NONE])
        return int((sizes > 1).sum()), int(sizes[sizes > 1].sum())

    def to_dict(self) -> dict[str, dict[str, int]]:
        """For each kind the number of ``groups`` and of the ``nodes`` in them."""
        return {kind: dict(zip(("groups", "nodes"), self.count(kind), strict=True)) for kind in self.first}

    def __str__(self) -> str:
        total = len(next(iter(self.first.values())))
        parts = [f"{self.count(kind)[1]:,} the same {WORDS[kind]}" for kind in self.first]
        return f"Of {total:,} nodes, so many have the same as another node: {'; '.join(parts)}."


@dataclass(frozen=True)
class Lookup:
    """What looking up identical training nodes does, for one meaning of identical.

    ``groups`` and ``nodes`` are those of the whole graph. ``answerable`` test nodes have an identical
    training node; ``answerable_accuracy`` is the accuracy on them alone (None if there are none),
    ``accuracy`` that on all test nodes. ``gain`` is how far that is above the most frequent class, and
    ``gain_error`` its standard error, from comparing the two node by node. ``roc_auc`` is None unless there
    are two classes and both are tested.
    """

    groups: int
    nodes: int
    answerable: int
    answerable_share: float
    answerable_accuracy: float | None
    accuracy: float
    gain: float
    gain_error: float
    roc_auc: float | None


@dataclass(frozen=True)
class DuplicateAudit:
    """What :func:`audit_duplicates` found: ``print`` gives it in sentences, :meth:`to_dict` as values."""

    split: str
    seed: int | None
    nodes: int
    test_nodes: int
    majority_accuracy: float
    kinds: Mapping[str, Lookup]

    @property
    def substantial(self) -> tuple[str, ...]:
        """The kinds whose look-up beats the most frequent class by more than :data:`SUBSTANTIAL`."""
        return tuple(k for k, v in self.kinds.items() if v.gain > max(SUBSTANTIAL, 2 * v.gain_error))

    @property
    def warning(self) -> str:
        """Two sentences on the kind whose look-up scores most, if it is substantial; otherwise empty."""
        if not self.substantial:
            return ""
        kind = max(self.substantial, key=lambda kind: self.kinds[kind].accuracy)
        advice = (
            "Where features take few values that may be fair; where nodes are repeated, "
            if kind == "features"
            else "Where that is because nodes are repeated, "
        )
        return (
            f"{self._sentence(kind)} {advice}a score on this graph shows memory as well as learning: "
            "show one without the repeated nodes beside it."
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures in plain Python types that JSON can hold."""
        return {**vars(self), "kinds": {kind: dict(vars(found)) for kind, found in self.kinds.items()}}

    def __str__(self) -> str:
        return " ".join(self._sentence(kind) for kind in self.kinds)

    def _sentence(self, kind: str) -> str:
        found, words = self.kinds[kind], WORDS[kind]
        text = f"{found.nodes:,} of {self.nodes:,} nodes have the same {words} as another node"
        if found.answerable_accuracy is None:
            return f"{text}; no test node has those of a training node."
        seed = "" if self.seed is None else f", seed {self.seed}"
        return (
            f"{text}; {found.answerable_share:.1%} of the test nodes ({self.split} split{seed}) can be "
            f"answered by looking up a training node with the same {words}, which is right for "
            f"{found.answerable_accuracy:.1%} of them, and that alone scores {found.accuracy:.1%} on all "
            f"test nodes, where the most frequent class scores {self.majority_accuracy:.1%}."
        )


def find_duplicates(graph: Graph) -> Duplicates:
    """Find the nodes that are identical to another node. Labels play no part.

    Kinds of identical:

    * ``"out_neighbours"``: an edge to exactly the same nodes; only where the graph remembers direction.
    * ``"neighbours"``: the same neighbours, whatever the direction. Two neighbours of each other never
      have that, as no node is its own neighbour.
    * ``"features"``: the same features, to the last bit.
    * ``"neighbours_and_features"``: both of the last two.

    A node without neighbours is identical to no node by its neighbours, nor one whose features are all zero
    by its features: that nothing is known of two nodes does not make them the same.

    Args:
        graph: The graph. Its self loops were dropped when it was made, so they do not count here.
    """
    neighbours, features = _first_identical(graph.adjacency), _first_identical(graph.x)
    first = {
        "neighbours": neighbours,
        "features": features,
        "neighbours_and_features": _first_in_both(neighbours, features),
    }
    if graph.directed:
        first = {"out_neighbours": _first_identical(_out_adjacency(graph)), **first}
    return Duplicates({kind: frozen(found) for kind, found in first.items()})


def audit_duplicates(graph: Graph, split: Split, duplicates: Duplicates | None = None) -> DuplicateAudit:
    """Score the look-up of identical training nodes on the test nodes, for each kind of identical.

    A test node gets the most frequent label of the training nodes identical to it, and where there is none
    the most frequent label of all training nodes; of equally frequent ones the class with the smaller code.
    With two classes, the share of the second one among the same training nodes is the score of the ROC-AUC.

    The test labels are read, once and only to score, as for any model: nothing here is chosen by them.
    Nothing that trains should see the result.

    Args:
        graph: The graph, with labels.
        split: Which nodes train and which test; validation nodes are left out, unlabelled ones too.
        duplicates: What :func:`find_duplicates` gave for this graph, to save finding them again.
    """
    split.check_against(graph)
    train, test = (part[graph.y[part] != UNKNOWN] for part in (split.train, split.test))
    if len(train) == 0 or len(test) == 0:
        raise InputError(
            "the look-up needs labelled nodes in train and in test: give such a split, "
            'as split(graph, "uniform") makes'
        )
    duplicates = find_duplicates(graph) if duplicates is None else duplicates
    counts = np.bincount(graph.y[train], minlength=graph.num_classes)
    majority = int(counts.argmax())
    right_anyway = graph.y[test] == majority
    kinds = {}
    for kind, first in duplicates.first.items():
        known = _most_frequent(first[train], graph.y[train], graph.num_nodes, graph.num_classes)
        found = np.where(first[test] == NONE, UNKNOWN, known[first[test]])
        answerable = found != UNKNOWN
        right = np.where(answerable, found, majority) == graph.y[test]
        gained = right.astype(np.float64) - right_anyway
        groups, nodes = duplicates.count(kind)
        kinds[kind] = Lookup(
            groups=groups,
            nodes=nodes,
            answerable=int(answerable.sum()),
            answerable_share=float(answerable.mean()),
            answerable_accuracy=float(right[answerable].mean()) if answerable.any() else None,
            accuracy=float(right.mean()),
            gain=float(gained.mean()),
            gain_error=float(gained.std() / np.sqrt(len(test))),
            roc_auc=_lookup_roc_auc(first, train, test, graph.y) if graph.num_classes == 2 else None,
        )
    return DuplicateAudit(
        split=split.kind,
        seed=split.seed,
        nodes=graph.num_nodes,
        test_nodes=len(test),
        majority_accuracy=float(right_anyway.mean()),
        kinds=kinds,
    )


# ---------------------------------------------------------------------- identical rows


def _out_adjacency(graph: Graph) -> sp.csr_matrix:
    ones = np.ones(graph.num_edges, dtype=np.float32)
    return sp.csr_matrix((ones, (graph.edges[0], graph.edges[1])), shape=(graph.num_nodes,) * 2)


def _first_identical(matrix: Matrix) -> IntArray:
    """For each row the first row equal to it, −1 for a row of zeros.

    Equal rows have equal hashes, so only rows with equal hashes are compared, entry by entry: a collision
    costs time and never makes two different rows the same.
    """
    hashes, lengths = _hashed(matrix)
    first = np.full(len(hashes), NONE, dtype=np.int64)
    rows = np.flatnonzero(lengths)
    while len(rows):  # once, and once more for every collision of hashes
        rows = rows[np.argsort(hashes[rows], kind="stable")]
        starts = np.append(True, np.diff(hashes[rows]) != 0)
        heads = rows[starts][np.cumsum(starts) - 1]
        same = lengths[rows] == lengths[heads]
        compared = np.flatnonzero(same & ~starts)
        same[compared] = _equal(matrix, rows[compared], heads[compared])
        first[rows[same]] = heads[same]
        rows = np.sort(rows[~same])
    return first


def _first_in_both(one: IntArray, other: IntArray) -> IntArray:
    first = np.full_like(one, NONE)
    nodes = np.flatnonzero((one != NONE) & (other != NONE))
    keys = one[nodes] * np.int64(len(one)) + other[nodes]
    _, heads, group = np.unique(keys, return_index=True, return_inverse=True)
    first[nodes] = nodes[heads[group]]
    return first


def _hashed(matrix: Matrix) -> tuple[npt.NDArray[np.uint64], IntArray]:
    """A 64-bit hash of each row, Σ_j w_j·f(x_ij) mod 2⁶⁴ with random w, and its number of nonzeros.

    f spreads the bits of a value: those of small whole numbers end in many zeros, which would cancel.
    """
    n, columns = matrix.shape
    # Always the same weights: what they are does not show in the result.
    weights = np.random.default_rng(0).integers(0, 2**64, size=(columns,), dtype=np.uint64)
    hashes, lengths = np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.int64)
    for block in _blocks(matrix, n):
        rows = sp.csr_matrix(matrix[block])
        bits = rows.data.view(np.uint32).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        bits ^= bits >> np.uint64(32)
        bits *= weights[rows.indices]
        # Differences of running sums are the sums over rows, empty ones too; all of it wraps at 2⁶⁴.
        sums = np.append(np.uint64(0), np.cumsum(bits, dtype=np.uint64))
        hashes[block] = sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]
        lengths[block] = np.diff(rows.indptr)
    return hashes, lengths


def _equal(matrix: Matrix, left: IntArray, right: IntArray) -> npt.NDArray[np.bool_]:
    """Whether row ``left[i]`` equals row ``right[i]``, for rows with equally many nonzeros."""
    equal = np.ones(len(left), dtype=np.bool_)
    for block in _blocks(matrix, len(left)):
        one, other = sp.csr_matrix(matrix[left[block]]), sp.csr_matrix(matrix[right[block]])
        differ = (one.indices != other.indices) | (one.data != other.data)
        sums = np.append(0, np.cumsum(differ))
        equal[block] = sums[one.indptr[1:]] == sums[one.indptr[:-1]]
    return equal


def _blocks(matrix: Matrix, rows: int) -> Iterator[slice]:
    entries = matrix.size if isinstance(matrix, np.ndarray) else matrix.nnz
    step = max(1, BLOCK * matrix.shape[0] // max(1, entries))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


# ---------------------------------------------------------------------- the look-up


def _most_frequent(first: IntArray, y: IntArray, num_nodes: int, num_classes: int) -> IntArray:
    """[N]: the most frequent label of the nodes whose first identical node is this; unknown if none."""
    keys, counts = np.unique((first * np.int64(num_classes) + y)[first != NONE], return_counts=True)
    groups, labels = keys // num_classes, keys % num_classes
    # The last of a group to be written stays: the largest count, and of equal ones the smallest class.
    order = np.lexsort((-labels, counts, groups))
    groups, labels = groups[order], labels[order]
    last = np.append(np.diff(groups) != 0, True)[: len(groups)]
    result = np.full(num_nodes, UNKNOWN, dtype=np.int64)
    result[groups[last]] = labels[last]
    return result


def _lookup_roc_auc(first: IntArray, train: IntArray, test: IntArray, y: IntArray) -> float | None:
    n, second = len(y), y[train] == 1
    able = first[train] != NONE
    total = np.bincount(first[train][able], minlength=n)
    positive = np.bincount(first[train][able & second], minlength=n)
    shares = np.where(total > 0, positive / np.maximum(total, 1), second.mean())
    scores = np.where(first[test] == NONE, second.mean(), shares[first[test]])
    found = roc_auc(scores, y[test] == 1)
    return None if np.isnan(found) else found
