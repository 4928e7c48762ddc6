"""The common base of APPNP and GPR-GNN."""

from abc import ABC, abstractmethod
from typing import Any

from torch import Tensor

from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.mlp import MLP
from otherhalf.nn.ops.sparse import SparseOperator


class PropagatedMLP(MLP, ABC):
    """An MLP whose predictions are propagated over the graph.

    Call it as ``model(inputs, adjacency_with_self_loops)``.
    """

    @abstractmethod
    def propagate(self, start: Tensor, adjacency: SparseOperator) -> Tensor:
        """Return the states of all nodes after propagation over the graph."""

    def forward(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """Return the logits of every node."""
        return self.propagate(super().forward(inputs), operators[0])

    def embed(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """Return the hidden states before the prediction layer, propagated like the predictions."""
        return self.propagate(super().embed(inputs), operators[0])
