"""The multi-layer perceptron, which never looks at an edge unless its trunk does."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from otherhalf.nn.backbone import Architecture, Backbone, SparseLinear
from otherhalf.nn.ops.sparse import Features


class DenseLayer(SparseLinear):
    r"""The layer of an MLP: :math:`\mathbf{H}\mathbf{W} + \mathbf{b}`; operators are passed over."""

    absorbs_residual = True

    def forward(self, x: Features, *operators: Any, residual: SparseLinear | None = None) -> Tensor:
        """Map every row of ``x``."""
        return super().forward(x, residual)


class MLP(Backbone):
    """An MLP over the features or, with the trunk ``features+neighbours``, over adjacency rows as well."""

    def __init__(
        self, num_features: int, num_classes: int, num_known: int, shape: Architecture | None = None
    ) -> None:
        super().__init__(DenseLayer, num_features, num_classes, num_known, shape or Architecture())
