"""The sparse matrices that rows are propagated over: of all nodes, or the rows of a few."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from otherhalf.graph import Direction
from otherhalf.nn.ops.sparse import mean_matrix, normalized_matrix, scaled
from otherhalf.system.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from otherhalf.estimators.members.view import GraphView

DIRECTIONS: dict[str, Direction] = {"mean": "undirected", "out": "given", "into": "reversed"}
"""Means over neighbours, and the direction of their edges."""


class RowOperators:
    r"""Operators by name.

    ``given`` is :math:`\hat{\mathbf{A}}` of the given edges; ``mean``, ``out`` and ``into`` are means over
    all neighbours, targets and sources; ``similar`` and ``dissimilar`` are the parts of the missing half;
    ``homophilic`` and ``heterophilic`` are :math:`\hat{\mathbf{A}}_o` and :math:`\hat{\mathbf{A}}_t`.

    Args:
        view: The graph as the members read it.
    """

    def __init__(self, view: GraphView) -> None:
        self.view = view
        self._matrices: dict[str, sp.csr_matrix] = {}

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The parts that the missing half has: ``similar``, ``dissimilar``, both or none."""
        if not self.view.has_half:
            return ()
        kinds = {"homophily": ("similar",), "heterophily": ("dissimilar",)}
        return kinds.get(self.view.kind, ("similar", "dissimilar"))

    @cached_property
    def sides(self) -> dict[str, tuple[str, ...]]:
        """The operators whose mean is each side; a side of none is empty.

        The given edges are the side that their tendency says, and the missing half is the other. Where it is
        of both kinds, its similar pairs are joined to the given edges.
        """
        given = "homophilic" if self.view.tendency == "homophily" else "heterophilic"
        sides: dict[str, tuple[str, ...]] = {"homophilic": (), "heterophilic": (), given: ("given",)}
        if self.view.kind == "both" and self.kinds:
            return {"homophilic": ("given", "similar"), "heterophilic": ("dissimilar",)}
        if "similar" in self.kinds:
            sides["homophilic"] = ("similar",)
        if "dissimilar" in self.kinds:
            sides["heterophilic"] = ("dissimilar",)
        return sides

    @cached_property
    def walks(self) -> list[tuple[str, ...]]:
        """The walks of label messages: one or two operators each, none with a diagonal."""
        if not self.view.reads_labels:
            return []
        walks: list[tuple[str, ...]] = [("mean",), ("mean", "mean")]
        if self.view.graph.directed:
            walks += [("out",), ("into",), ("out", "into"), ("into", "out")]
        for kind in self.kinds:
            walks += [(kind,), (kind, "mean"), ("mean", kind)]
        return walks

    def matrix(self, name: str) -> sp.csr_matrix:
        """Return the whole matrix."""
        if name not in self._matrices:
            self._matrices[name] = self._made(name)
        return self._matrices[name]

    def forget(self) -> None:
        """Free the memory of all matrices."""
        self._matrices.clear()

    def _made(self, name: str) -> sp.csr_matrix:
        graph = self.view.graph
        if name in self.sides:
            parts = [self.matrix(part) for part in self.sides[name]]
            return parts[0] if len(parts) == 1 else sp.csr_matrix((parts[0] + parts[1]) * np.float32(0.5))
        if name == "given":
            return normalized_matrix(graph.adjacency)
        if name in DIRECTIONS:
            return mean_matrix(graph.adjacency_in(DIRECTIONS[name]))
        found = self.view.found
        assert found is not None
        return found.half.part("homophily" if name == "similar" else "heterophily").matrix

    def rows(self, name: str, nodes: IntArray) -> sp.csr_matrix:
        """Return the rows of a few nodes, without the whole matrix where it was not needed before."""
        if name in self._matrices:
            return self._matrices[name][nodes]
        if name in self.sides:
            parts = [self.rows(part, nodes) for part in self.sides[name]]
            return parts[0] if len(parts) == 1 else sp.csr_matrix((parts[0] + parts[1]) * np.float32(0.5))
        if name == "given":
            rows = self.view.graph.adjacency[nodes]
            scale = _reciprocal(np.sqrt(self._degree("undirected")))
            return scaled(rows, scale[nodes], scale)
        if name in DIRECTIONS:
            direction = DIRECTIONS[name]
            rows = self.view.graph.adjacency_in(direction)[nodes]
            return sp.csr_matrix(sp.diags(_reciprocal(self._degree(direction))[nodes]) @ rows)
        return self.view.half_rows("homophily" if name == "similar" else "heterophily", nodes)

    def _degree(self, direction: Direction) -> FloatArray:
        key = f"degree {direction}"
        if key not in self.__dict__:
            self.__dict__[key] = np.asarray(self.view.graph.adjacency_in(direction).sum(axis=1)).ravel()
        degree: FloatArray = self.__dict__[key]
        return degree


def _reciprocal(values: FloatArray) -> FloatArray:
    """Return 1/v, and 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0).astype(np.float32)
