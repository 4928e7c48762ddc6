"""APPNP."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from otherhalf.nn.baselines.mlp import MLP
from otherhalf.nn.skeleton import NodeInputs, Shape
from otherhalf.nn.sparse import SparseOperator


class APPNP(MLP):
    r"""APPNP (Gasteiger et al. 2019): an MLP whose predictions walk over the graph.

    .. math::
        \mathbf{Z}^0 = \mathrm{MLP}(\mathbf{X}), \quad
        \mathbf{Z}^{k+1} = (1 - t)\,\hat{\mathbf{A}}\mathbf{Z}^k + t\,\mathbf{Z}^0

    with :math:`\hat{\mathbf{A}}` the normalised adjacency matrix with self loops, ``steps`` walks and the
    teleport probability :math:`t`. Call it as ``model(inputs, adjacency_with_self_loops)``.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        num_known: int,
        shape: Shape | None = None,
        *,
        steps: int = 10,
        teleport: float = 0.1,
    ) -> None:
        super().__init__(num_features, num_classes, num_known, shape)
        self.steps = steps
        self.teleport = teleport

    def forward(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """The logits of every node."""
        return self._walk(super().forward(inputs), operators[0])

    def embed(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """The hidden states before the prediction layer, walked as the predictions are."""
        return self._walk(super().embed(inputs), operators[0])

    def _walk(self, start: Tensor, adjacency: SparseOperator) -> Tensor:
        z = start
        for _ in range(self.steps):
            z = (1 - self.teleport) * (adjacency @ z) + self.teleport * start
        return z
