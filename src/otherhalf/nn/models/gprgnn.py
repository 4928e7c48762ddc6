"""GPR-GNN."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.propagated_mlp import PropagatedMLP
from otherhalf.nn.ops.dropout import dropout
from otherhalf.nn.ops.sparse import SparseOperator


class GPRGNN(PropagatedMLP):
    r"""GPR-GNN (Chien et al. 2021): an MLP, and a learned say for every distance its predictions walk.

    .. math::
        \mathbf{Z} = \sum_{k=0}^{K} \theta_k \hat{\mathbf{A}}^k \mathrm{MLP}(\mathbf{X})

    with :math:`\hat{\mathbf{A}}` the normalised adjacency matrix with self loops and K = ``steps``. The
    :math:`\theta_k` start as personalised PageRank: :math:`t(1 - t)^k`, and :math:`(1 - t)^K` for the last.
    As in the authors' code, dropout of its own (``walk_dropout``) strikes the predictions before they walk.
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
        walk_dropout: float = 0.0,
    ) -> None:
        super().__init__(num_features, num_classes, num_known, shape)
        start = teleport * (1 - teleport) ** torch.arange(steps + 1.0)
        start[-1] = (1 - teleport) ** steps
        self.theta = nn.Parameter(start)
        self.walk_dropout = walk_dropout

    def walk(self, start: Tensor, adjacency: SparseOperator) -> Tensor:
        """Sum the states over all distances."""
        walked = dropout(start, self.walk_dropout if self.training else 0.0)
        z = self.theta[0] * walked
        for strength in self.theta[1:]:
            walked = adjacency @ walked
            z = z + strength * walked
        return z
