"""GraphSAGE."""

from torch import Tensor, nn

from otherhalf.nn.backbone import Backbone, SparseLinear
from otherhalf.nn.ops.sparse import Features, SparseOperator


class MeanAggregation(nn.Module):
    r"""The layer of GraphSAGE (Hamilton et al. 2017, https://arxiv.org/abs/1706.02216), mean aggregator.

    .. math::
        \mathbf{H}' = \mathbf{H}\mathbf{W}_1 + \mathbf{D}^{-1}\mathbf{A}\mathbf{H}\mathbf{W}_2 + \mathbf{b}

    It uses all neighbours: the graph is in memory, and sampling would only add noise.
    """

    absorbs_residual = True

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.own = SparseLinear(in_channels, out_channels)
        self.neighbours = SparseLinear(in_channels, out_channels, bias=False)

    def forward(self, x: Features, mean: SparseOperator, *, residual: SparseLinear | None = None) -> Tensor:
        """Combine the state of every node with the mean of its neighbours' states."""
        out: Tensor = self.own(x, residual) + mean @ self.neighbours(x)
        return out


class GraphSAGE(Backbone):
    """GraphSAGE; call it as ``model(inputs, row_normalised_adjacency)``."""

    layer = MeanAggregation
