"""APPNP."""

from typing import Any

from torch import Tensor

from otherhalf.nn.models.propagated_mlp import PropagatedMLP
from otherhalf.nn.ops.sparse import SparseOperator


class APPNP(PropagatedMLP):
    r"""APPNP (Gasteiger et al. 2019, https://arxiv.org/abs/1810.05997): an MLP, then personalised PageRank.

    .. math::
        \mathbf{Z}^0 = \mathrm{MLP}(\mathbf{X}), \quad
        \mathbf{Z}^{k+1} = (1 - t)\,\hat{\mathbf{A}}\mathbf{Z}^k + t\,\mathbf{Z}^0

    with :math:`\hat{\mathbf{A}}` the normalised adjacency matrix with self loops, K = ``steps`` and the
    teleport probability :math:`t`.
    """

    def __init__(self, *arguments: Any, steps: int = 10, teleport: float = 0.1) -> None:
        super().__init__(*arguments)
        self.steps = steps
        self.teleport = teleport

    def propagate(self, start: Tensor, adjacency: SparseOperator) -> Tensor:
        """Return Z^K for Z⁰ = ``start``."""
        z = start
        for _ in range(self.steps):
            z = (1 - self.teleport) * (adjacency @ z) + self.teleport * start
        return z
