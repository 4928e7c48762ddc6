"""GPR-GNN."""

from typing import Any

import torch
from torch import Tensor, nn

from otherhalf.nn.models.propagated_mlp import PropagatedMLP
from otherhalf.nn.ops.dropout import dropout
from otherhalf.nn.ops.sparse import SparseOperator


class GPRGNN(PropagatedMLP):
    r"""GPR-GNN (Chien et al. 2021, https://arxiv.org/abs/2006.07988): an MLP and a learned polynomial.

    .. math::
        \mathbf{Z} = \sum_{k=0}^{K} \theta_k \hat{\mathbf{A}}^k \mathrm{MLP}(\mathbf{X})

    with :math:`\hat{\mathbf{A}}` the normalised adjacency matrix with self loops and K = ``steps``. The
    :math:`\theta_k` start as personalised PageRank: :math:`t(1 - t)^k`, and :math:`(1 - t)^K` for the last.
    As in the authors' code, a second dropout (``walk_dropout``) is applied to the predictions before they are
    propagated.
    """

    def __init__(
        self, *arguments: Any, steps: int = 10, teleport: float = 0.1, walk_dropout: float = 0.0
    ) -> None:
        super().__init__(*arguments)
        start = teleport * (1 - teleport) ** torch.arange(steps + 1.0)
        start[-1] = (1 - teleport) ** steps
        self.theta = nn.Parameter(start)
        self.walk_dropout = walk_dropout

    def propagate(self, start: Tensor, adjacency: SparseOperator) -> Tensor:
        """Return the sum over all distances for MLP(X) = ``start``."""
        power = dropout(start, self.walk_dropout if self.training else 0.0)
        z = self.theta[0] * power
        for weight in self.theta[1:]:
            power = adjacency @ power
            z = z + weight * power
        return z
