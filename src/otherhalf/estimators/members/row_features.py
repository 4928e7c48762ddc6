"""Features that rows are propagated of: scaled, dense, and projected where there are many columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.estimators.graph_table import singular_vectors
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.magnitudes import MagnitudeScaling
from otherhalf.system.arrays import FloatArray, IntArray

WIDEST = 256
"""Most columns that are propagated as they are; more are projected."""

PROJECTED = 128
"""Columns of the projection."""


@dataclass(frozen=True, eq=False)
class RowFeatures:
    """What the features of a graph with new nodes must have in common with those of the fitted graph.

    Attributes:
        scaling: Scaling of the features.
        magnitudes: Scaling of the log sum of the features and the log degree, which are two more columns;
            None to leave them out.
        projection: ``[D, 128]``: right singular vectors of the scaled features; None if there are at most
            :data:`WIDEST` columns.
    """

    scaling: Scaling
    magnitudes: MagnitudeScaling | None = None
    projection: FloatArray | None = None

    @classmethod
    def fit(
        cls, graph: Graph, scaling: Scaling, magnitudes: MagnitudeScaling | None, seed: int
    ) -> RowFeatures:
        """Learn the projection, if one is needed; no label is read."""
        projection = None
        if graph.num_features > WIDEST:
            projection = singular_vectors(scaling.apply(graph.x), PROJECTED, seed)
        return cls(scaling, magnitudes, projection)

    @property
    def num_added(self) -> int:
        """Number of columns that the magnitudes add."""
        return 0 if self.magnitudes is None else 2

    def width(self, num_features: int) -> int:
        """Return the number of columns for a graph with this number of features."""
        return (num_features if self.projection is None else self.projection.shape[1]) + self.num_added

    def of(self, graph: Graph, nodes: IntArray | None = None) -> FloatArray:
        """Return the rows of these nodes, or of all."""
        x, adjacency = graph.x, graph.adjacency
        if nodes is not None:
            x, adjacency = x[nodes], adjacency[nodes]
        x = self.scaling.apply(x)
        if self.projection is not None:
            # A sparse product sums every row in the same order, whatever other rows there are.
            dense = np.asarray(sp.csr_matrix(x) @ self.projection, dtype=np.float32)
        else:
            dense = np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float32)
        if self.magnitudes is not None:
            dense = np.hstack([dense, self.magnitudes.columns(x, adjacency)])
        return np.ascontiguousarray(dense, dtype=np.float32)

    def tensors(self) -> dict[str, Tensor]:
        """Return the projection, with its name in model folders."""
        return {} if self.projection is None else {"rows/projection": torch.from_numpy(self.projection)}

    @classmethod
    def from_tensors(
        cls, scaling: Scaling, magnitudes: MagnitudeScaling | None, tensors: Mapping[str, Tensor]
    ) -> RowFeatures:
        """Return the features that :meth:`tensors` was called on."""
        projection = tensors.get("rows/projection")
        if projection is not None and (projection.ndim != 2 or projection.dtype != torch.float32):
            raise ValueError("the projection of its features is no matrix of numbers")
        return cls(scaling, magnitudes, None if projection is None else projection.numpy())
