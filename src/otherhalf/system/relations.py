"""The relations of edges: kinds such as "cites" and "written by", one or several for each edge."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray, Frozen, IntArray, csr_of_parts, frozen
from otherhalf.system.graph_checks import places_of
from otherhalf.system.names import LONGEST_CLASS, as_text

MOST_APART = 8
"""Most groups of relations that a model tells apart."""


@dataclass(frozen=True, eq=False)
class Relations(Frozen):
    """Which edges of a graph are in which relation.

    Attributes:
        names: R names, sorted.
        edges: ``[R, E]``: the weight of each edge in each relation, 1 in a graph without weights. There is no
            entry where an edge is not in a relation; it can be in several, or in none.
    """

    names: tuple[str, ...]
    edges: sp.csr_matrix

    def values(self, names: Collection[str]) -> FloatArray:
        """Return the weight of each edge, summed over these relations; 0 for an edge in none of them."""
        chosen = np.array([name in names for name in self.names], dtype=np.float32)
        return np.asarray(self.edges.T @ chosen, dtype=np.float32)

    def counts(self) -> dict[str, int]:
        """Return the number of edges of each relation."""
        return dict(zip(self.names, np.diff(self.edges.indptr).tolist(), strict=True))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the relations as arrays for a file and for a hash."""
        return {
            "relation_names": np.array(self.names),
            "relation_indptr": self.edges.indptr.astype(np.int64),
            "relation_indices": self.edges.indices.astype(np.int64),
            "relation_data": self.edges.data,
        }

    @classmethod
    def from_arrays(cls, arrays: Any, num_edges: int) -> Relations:
        """Return the relations that :meth:`arrays` was called on. Raise InputError if they are damaged."""
        try:
            names, indptr, indices, data = (
                arrays[f"relation_{part}"] for part in ("names", "indptr", "indices", "data")
            )
            matrix = csr_of_parts(data, indices, indptr, (len(names), num_edges), np.float32)
            if len(set(names)) < len(names) or not (matrix.data >= 0).all() or np.isinf(matrix.data).any():
                raise ValueError("a name is there twice, or a weight is no number ≥ 0")
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise InputError(
                f"the arrays relation_* do not fit together ({error}): write them again"
            ) from None
        return cls(tuple(as_text(names, "relation", LONGEST_CLASS)), matrix)


def checked_relations(
    relations: Any, given: Any, weights: Any, n: int, edges: IntArray, directed: bool
) -> Relations | None:
    """Return the relations of the edges of a simple graph; None if no edge is in one.

    Args:
        relations: A name or a gap for each given edge, or a :class:`Relations` of the given edges.
        given: The edges as they were given, self loops and repeats among them.
        weights: One weight for each of the given edges, or None.
        n: N.
        edges: The edges of :func:`~otherhalf.system.graph_checks.simple_edges`.
        directed: Whether the order of the ends has a meaning.
    """
    count = np.asarray(given).shape[1]
    if not isinstance(relations, Relations):
        relations = _named(relations, weights, count)
    if relations.edges.shape != (len(relations.names), count):
        raise InputError(
            f"the relations are those of {relations.edges.shape[1]} edges, and there are {count}: give one "
            "relation per edge"
        )
    entries, place = relations.edges.tocoo(), places_of(given, n, edges, directed)
    kept = place[entries.col] >= 0
    used = np.unique(entries.row[kept])
    names = sorted(relations.names[row] for row in used)
    if not names:
        return None
    rank = {name: place for place, name in enumerate(names)}
    rows = np.array([rank.get(name, -1) for name in relations.names])[entries.row[kept]]
    ends = (rows, place[entries.col[kept]])
    matrix = sp.csr_matrix(
        (entries.data[kept].astype(np.float64), ends), shape=(len(names), edges.shape[1])
    ).astype(np.float32)
    matrix.sort_indices()
    if weights is None:
        matrix.data[:] = 1.0
    return Relations(tuple(names), frozen(matrix))


def _named(relations: Any, weights: Any, count: int) -> Relations:
    names = pd.Series(relations, dtype=object)
    if len(names) != count:
        raise InputError(f"there are {len(names)} relations for {count} edges: give one relation per edge")
    names = names.map(str, na_action="ignore").str.strip()
    codes, found = pd.factorize(names.where(names != ""))
    distinct = as_text(np.asarray(found, dtype=object), "relation", LONGEST_CLASS)
    edges = np.flatnonzero(codes >= 0)
    data = np.ones(len(edges)) if weights is None else np.asarray(weights, dtype=np.float64)[edges]
    matrix = sp.csr_matrix((data, (codes[edges], edges)), shape=(len(distinct), count))
    return Relations(tuple(distinct), matrix)


@dataclass(frozen=True)
class RelationGroups:
    """The relations that a model tells apart, as the fitted graph decides.

    Attributes:
        names: The relation of each group; None stands for all relations without a group of their own.
    """

    names: tuple[str | None, ...] = ()

    @classmethod
    def of(cls, relations: Relations | None) -> RelationGroups:
        """Return a group for each relation, or for the most frequent ones and one for the others.

        A graph with fewer than two relations has no groups: there is nothing to tell apart.
        """
        if relations is None or len(relations.names) < 2:
            return cls()
        if len(relations.names) <= MOST_APART:
            return cls(relations.names)
        counts = relations.counts()
        frequent = sorted(counts, key=lambda name: -counts[name])[: MOST_APART - 1]
        return cls((*sorted(frequent), None))

    def members(self, relations: Relations | None) -> list[list[str]]:
        """Return the names of the relations of a graph that are in each group."""
        names = () if relations is None else relations.names
        own = {name for name in self.names if name is not None}
        return [
            [each for each in names if (each not in own if name is None else each == name)]
            for name in self.names
        ]

    def to_array(self) -> npt.NDArray[np.uint8]:
        """Return the names as bytes, for files of tensors."""
        return np.frombuffer(json.dumps(self.names).encode(), dtype=np.uint8).copy()

    @classmethod
    def from_array(cls, array: npt.NDArray[np.uint8]) -> RelationGroups:
        """Return the groups that :meth:`to_array` was called on."""
        return cls(tuple(json.loads(array.tobytes())))
