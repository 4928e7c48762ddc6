"""APPNP."""

from __future__ import annotations

from torch import Tensor

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.propagated_mlp import PropagatedMLP
from otherhalf.nn.ops.sparse import SparseOperator


class APPNP(PropagatedMLP):
    r"""APPNP (Gasteiger et al. 2019): an MLP whose predictions walk over the graph.

    .. math::
        \mathbf{Z}^0 = \mathrm{MLP}(\mathbf{X}), \quad
        \mathbf{Z}^{k+1} = (1 - t)\,\hat{\mathbf{A}}\mathbf{Z}^k + t\,\mathbf{Z}^0

    with :math:`\hat{\mathbf{A}}` the normalised adjacency matrix with self loops, ``steps`` walks and the
    teleport probability :math:`t`.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        num_known: int,
        shape: Architecture | None = None,
        *,
        steps: int = 10,
        teleport: float = 0.1,
    ) -> None:
        super().__init__(num_features, num_classes, num_known, shape)
        self.steps = steps
        self.teleport = teleport

    def walk(self, start: Tensor, adjacency: SparseOperator) -> Tensor:
        """Walk, and go back to the start now and then."""
        z = start
        for _ in range(self.steps):
            z = (1 - self.teleport) * (adjacency @ z) + self.teleport * start
        return z
