"""Inputs of models: scaled features and adjacency rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.ops.sparse import Features, SparseOperator
from otherhalf.system.arrays import FloatArray, column_moments
from otherhalf.system.fields import one_of

DENSE_SHARE = 0.2
"""Sparse features with this share of nonzeros or more become dense. Both cost the same at about a third."""

SCALINGS = ("none", "row", "standard", "auto")


@dataclass(frozen=True)
class NodeInputs:
    """What models read of the nodes.

    Attributes:
        features: The features.
        neighbours: The rows of the adjacency matrix, for the models that read them.
        labels: ``[N, C]``: 1 at the class of each node whose label is shown, and 0 everywhere else, for the
            models that read labels.
    """

    features: Features
    neighbours: SparseOperator | None = None
    labels: torch.Tensor | None = None

    def to(self, device: torch.device | str) -> NodeInputs:
        """Return the same inputs on another device."""
        rows = None if self.neighbours is None else self.neighbours.to(device)
        labels = None if self.labels is None else self.labels.to(device)
        return NodeInputs(self.features.to(device), rows, labels)

    def rows(self, nodes: torch.Tensor) -> NodeInputs:
        """Return the inputs of these nodes."""
        chosen = nodes.cpu().numpy()
        features = self.features
        return NodeInputs(
            features.rows(chosen) if isinstance(features, SparseOperator) else features[nodes],
            None if self.neighbours is None else self.neighbours.rows(chosen),
            None if self.labels is None else self.labels[nodes],
        )

    def showing(self, labels: torch.Tensor) -> NodeInputs:
        """Return the inputs with these labels."""
        return replace(self, labels=labels)

    def hiding(self, nodes: torch.Tensor) -> NodeInputs:
        """Return the inputs without the labels of these nodes."""
        if self.labels is None:
            return self
        labels = self.labels.clone()
        labels[nodes] = 0.0
        return replace(self, labels=labels)


@dataclass(frozen=True)
class Scaling:
    """Scaling of the features: learned on the fitted graph, then applied to every graph.

    Kinds: ``none``; ``row``: each row divided by the sum of its absolute values; ``standard``: each column
    to mean 0 and deviation 1, for dense features only. ``auto`` means ``standard`` for dense features, whose
    columns may be in any unit, and ``none`` for sparse ones, whose zeros mean something, and for encoded
    columns, which have their scale already: another division would make rare values of 0 and 1 huge.
    """

    kind: str
    mean: FloatArray | None = None
    deviation: FloatArray | None = None

    @classmethod
    def of(cls, graph: Graph, kind: str) -> Scaling:
        """Learn the scaling from the fitted graph."""
        return cls.fit(graph.x, "none" if graph.encoded and kind == "auto" else kind)

    @classmethod
    def fit(cls, x: FloatArray | sp.csr_matrix, kind: str) -> Scaling:
        """Learn the scaling from features that were not encoded."""
        if kind == "auto":
            kind = "none" if sp.issparse(x) else "standard"
        if kind != "standard":
            return cls(kind)
        check_scaling(x, kind)
        mean, deviation = (moment.astype(np.float32) for moment in column_moments(x))
        deviation[deviation == 0] = 1.0  # too small for float32: the column is as good as constant
        return cls(kind, mean, deviation)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return what was learned, with the names that model folders use."""
        parts = {"mean": self.mean, "deviation": self.deviation}
        return {f"scaling/{name}": torch.from_numpy(part) for name, part in parts.items() if part is not None}

    @classmethod
    def from_tensors(cls, kind: str, tensors: Mapping[str, torch.Tensor]) -> Scaling:
        """Return the scaling that :meth:`tensors` was called on."""
        parts = (tensors.get(f"scaling/{name}") for name in ("mean", "deviation"))
        mean, deviation = (None if part is None else part.numpy() for part in parts)
        one_of(*(each for each in SCALINGS if each != "auto")).check("scaling", kind)
        if kind == "standard" and (mean is None or deviation is None or mean.shape != deviation.shape):
            raise ValueError("it has no scale of its features")
        return cls(kind, mean, deviation)

    def apply(self, x: FloatArray | sp.csr_matrix) -> FloatArray | sp.csr_matrix:
        """Return the scaled features."""
        if self.kind == "row":
            sums = np.asarray(abs(x).sum(axis=1), dtype=np.float32).ravel()
            sums[sums == 0] = 1.0
            return sp.csr_matrix(sp.diags(1 / sums) @ x) if sp.issparse(x) else x / sums[:, None]
        if self.kind == "standard" and self.mean is not None and self.deviation is not None:
            return (x - self.mean) / self.deviation
        return x


def check_scaling(x: FloatArray | sp.csr_matrix, kind: str) -> None:
    """Raise InputError if these features cannot be scaled in this way."""
    if kind == "standard" and sp.issparse(x):
        raise InputError(
            "scaling='standard' would make the sparse features dense: choose none, row or auto, or give "
            "dense features"
        )


def feature_matrix(x: FloatArray | sp.csr_matrix) -> Features:
    """Return features as models read them; sparse ones as an operator, or dense above DENSE_SHARE."""
    if not isinstance(x, np.ndarray):
        if x.nnz < DENSE_SHARE * np.prod(x.shape, dtype=float):
            return SparseOperator.from_scipy(x)
        x = x.toarray()
    return torch.from_numpy(np.array(x, dtype=np.float32))
