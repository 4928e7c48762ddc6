"""The multi-layer perceptron; it reads edges only through its trunk."""

from typing import Any

from torch import Tensor

from otherhalf.nn.backbone import Backbone, SparseLinear
from otherhalf.nn.ops.sparse import Features


class DenseLayer(SparseLinear):
    r"""The layer of an MLP: :math:`\mathbf{H}\mathbf{W} + \mathbf{b}`. It uses no operator."""

    absorbs_residual = True

    def forward(self, x: Features, *operators: Any, residual: SparseLinear | None = None) -> Tensor:
        """Map every row of ``x``."""
        return super().forward(x, residual)


class MLP(Backbone):
    """An MLP over the features or, with the trunk ``features+neighbours``, over adjacency rows as well."""

    layer = DenseLayer
