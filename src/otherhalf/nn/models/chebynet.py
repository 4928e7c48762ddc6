"""ChebyNet."""

import torch
from torch import Tensor, nn

from otherhalf.nn.backbone import Backbone, SparseLinear
from otherhalf.nn.ops.sparse import Features, SparseOperator


class ChebyshevConv(nn.Module):
    r"""The layer of ChebyNet (Defferrard et al. 2016, https://arxiv.org/abs/1606.09375).

    A polynomial of the Laplacian.

    .. math::
        \mathbf{H}' = \sum_{k=0}^{K} T_k(\tilde{\mathbf{L}})\mathbf{H}\mathbf{W}_k + \mathbf{b}, \quad
        \tilde{\mathbf{L}} = \frac{2}{\lambda_{max}}\mathbf{L} - \mathbf{I} = -\hat{\mathbf{A}}

    with :math:`\mathbf{L} = \mathbf{I} - \hat{\mathbf{A}}`, no self loops, and :math:`\lambda_{max}` at its
    bound, 2. A node without neighbours has :math:`\tilde{\mathbf{L}}_{ii} = 0`.

    Clenshaw's recurrence sums the polynomial after the weights have narrowed the states:
    :math:`\mathbf{B}_k = \mathbf{H}\mathbf{W}_k + 2\tilde{\mathbf{L}}\mathbf{B}_{k+1} - \mathbf{B}_{k+2}`,
    and the sum is :math:`\mathbf{H}\mathbf{W}_0 + \tilde{\mathbf{L}}\mathbf{B}_1 - \mathbf{B}_2`.
    """

    absorbs_residual = True

    def __init__(self, in_channels: int, out_channels: int, *, steps: int = 2) -> None:
        super().__init__()
        self.steps = steps
        # One map for each k: the range of its first weights depends on its shape.
        linears = (SparseLinear(in_channels, out_channels, bias=False) for _ in range(steps + 1))
        self.linears = nn.ModuleList(linears)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(
        self, x: Features, adjacency: SparseOperator, *, residual: SparseLinear | None = None
    ) -> Tensor:
        """Filter the states of all nodes."""
        first, *others = self.linears
        terms: list[Tensor] = [first(x, residual), *(linear(x) for linear in others)]
        later: Tensor | None = None  # B_{k+2}
        current = terms[-1]  # B_{k+1}
        for k in range(self.steps - 1, -1, -1):
            factor = -1.0 if k == 0 else -2.0  # every product is doubled except the last
            following = terms[k] + factor * (adjacency @ current)
            if later is not None:
                following = following - later
            later, current = current, following
        return current + self.bias


class ChebyNet(Backbone):
    """ChebyNet; call it as ``model(inputs, adjacency)``, the adjacency normalised without self loops."""

    layer = ChebyshevConv
