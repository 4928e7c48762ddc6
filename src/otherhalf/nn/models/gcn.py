"""GCN."""

from torch import Tensor, nn

from otherhalf.nn.backbone import Backbone, SparseLinear
from otherhalf.nn.ops.sparse import Features, SparseOperator


class GraphConv(nn.Module):
    r"""The layer of GCN (Kipf and Welling 2017, https://arxiv.org/abs/1609.02907).

    .. math:: \mathbf{H}' = \hat{\mathbf{A}}\mathbf{H}\mathbf{W} + \mathbf{b}

    :math:`\hat{\mathbf{A}}` is the normalised adjacency matrix with self loops.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.linear = SparseLinear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(self.linear.weight.new_zeros(out_channels))

    def forward(self, x: Features, adjacency: SparseOperator) -> Tensor:
        """Mix every node with its neighbours."""
        out: Tensor = adjacency @ self.linear(x) + self.bias
        return out


class GCN(Backbone):
    """GCN; call it as ``model(inputs, adjacency_with_self_loops)``."""

    layer = GraphConv
