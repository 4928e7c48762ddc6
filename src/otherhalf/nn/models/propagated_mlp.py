"""What APPNP and GPR-GNN have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from torch import Tensor

from otherhalf.nn.backbone import NodeInputs
from otherhalf.nn.models.mlp import MLP
from otherhalf.nn.ops.sparse import SparseOperator


class PropagatedMLP(MLP):
    """An MLP whose predictions walk over the graph.

    Call it as ``model(inputs, adjacency_with_self_loops)``.
    """

    @abstractmethod
    def walk(self, start: Tensor, adjacency: SparseOperator) -> Tensor:
        """What becomes of a state of every node on the way."""

    def forward(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """The logits of every node."""
        return self.walk(super().forward(inputs), operators[0])

    def embed(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """The hidden states before the prediction layer, walked as the predictions are."""
        return self.walk(super().embed(inputs), operators[0])
