"""How much a node has: the sum of its features and the number of its neighbours, as inputs of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
import torch

from otherhalf.system.arrays import FloatArray

Rows: TypeAlias = FloatArray | sp.csr_matrix

MAGNITUDES = ("features", "neighbours")

ROUNDING = 1e-5
"""A smaller deviation is rounding: row-scaled features all have the sum 1."""


def magnitudes(features: Rows, adjacency: sp.csr_matrix) -> dict[str, FloatArray]:
    """Return log(1 + sum of the absolute scaled features) and log(1 + degree) of every node."""
    sums = np.asarray(abs(features).sum(axis=1)).ravel()
    degrees = np.diff(adjacency.indptr)
    values = dict(zip(MAGNITUDES, (sums, degrees), strict=True))
    return {name: np.log1p(value).astype(np.float32) for name, value in values.items()}


@dataclass(frozen=True)
class MagnitudeScaling:
    """Mean and deviation of both magnitudes in the fitted graph, ``[2]`` each."""

    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def fit(cls, features: Rows, adjacency: sp.csr_matrix) -> MagnitudeScaling:
        """Learn the scaling from the fitted graph."""
        columns = _columns(features, adjacency).astype(np.float64)
        deviation = columns.std(axis=0)
        deviation[deviation < ROUNDING] = 1.0
        return cls(columns.mean(axis=0).astype(np.float32), deviation.astype(np.float32))

    def columns(self, features: Rows, adjacency: sp.csr_matrix) -> FloatArray:
        """Return both standardised magnitudes of these rows, ``[N, 2]``."""
        return (_columns(features, adjacency) - self.mean) / self.deviation

    def append(self, features: Rows, adjacency: sp.csr_matrix) -> Rows:
        """Return the features with both standardised magnitudes as further columns."""
        columns = self.columns(features, adjacency)
        if sp.issparse(features):
            return sp.csr_matrix(sp.hstack([features, sp.csr_matrix(columns)], format="csr"))
        return np.hstack([features, columns])

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return what was learned, with the names that model folders use."""
        parts = {"mean": self.mean, "deviation": self.deviation}
        return {f"magnitudes/{name}": torch.from_numpy(part) for name, part in parts.items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, torch.Tensor]) -> MagnitudeScaling:
        """Return the scaling that :meth:`tensors` was called on."""
        return cls(*(tensors[f"magnitudes/{name}"].numpy() for name in ("mean", "deviation")))


def _columns(features: Rows, adjacency: sp.csr_matrix) -> FloatArray:
    return np.stack(list(magnitudes(features, adjacency).values()), axis=1)
