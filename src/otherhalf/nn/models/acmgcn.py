"""ACM-GCN+."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.nn.backbone import Architecture, Backbone, SparseLinear
from otherhalf.nn.ops.sparse import Features, SparseOperator, mapped

CHANNELS = 4


class AdaptiveChannelMixing(nn.Module):
    r"""The layer of ACM-GCN+ (Luan et al. 2022, https://arxiv.org/abs/2210.07606).

    Every node mixes four views of itself.

    .. math::
        \mathbf{H}_L &= \sigma(\hat{\mathbf{A}}\mathbf{H}\mathbf{W}_L), \quad
        \mathbf{H}_H = \sigma((\mathbf{I} - \hat{\mathbf{A}})\mathbf{H}\mathbf{W}_H), \quad
        \mathbf{H}_I = \sigma(\mathbf{H}\mathbf{W}_I), \quad
        \mathbf{H}_A = \sigma(\mathbf{A}\mathbf{W}_A) \\
        \mathbf{a} &= \mathrm{softmax}\left(\tfrac{1}{4}\,\mathrm{sigmoid}
        ([\mathbf{H}_L\mathbf{w}_L, \mathbf{H}_H\mathbf{w}_H, \mathbf{H}_I\mathbf{w}_I,
        \mathbf{H}_A\mathbf{w}_A])\mathbf{W}_{mix}\right), \quad
        \mathbf{H}' = 4 \sum_c \mathrm{diag}(\mathbf{a}_c)\mathbf{H}_c

    :math:`\hat{\mathbf{A}} = \tilde{\mathbf{D}}^{-1}(\mathbf{A} + \mathbf{I})`: low-pass, high-pass,
    identity, and the rows of the adjacency matrix. The paper's formula does not have the factor 4: with it,
    four equal shares give the sum of the views, as the authors' code does for three, and not their mean.
    """

    def __init__(self, in_channels: int, out_channels: int, *, row_width: int) -> None:
        super().__init__()
        self.low = SparseLinear(in_channels, out_channels, bias=False)
        self.high = SparseLinear(in_channels, out_channels, bias=False)
        self.identity = SparseLinear(in_channels, out_channels, bias=False)
        self.structure = SparseLinear(row_width, out_channels, bias=False)
        self.votes = nn.Parameter(torch.empty(CHANNELS, out_channels))
        self.mix = SparseLinear(CHANNELS, CHANNELS, bias=False)
        nn.init.xavier_uniform_(self.votes)

    def forward(self, x: Features, mean: SparseOperator, rows: SparseOperator) -> Tensor:
        """Mix the four views of every node."""
        # One product for both filters: reading the entries is most of its cost.
        both = mapped(x, torch.cat([self.low.weight, self.high.weight], dim=1))
        high = both.chunk(2, dim=1)[1]
        low_mean, high_mean = (mean @ both).chunk(2, dim=1)
        filtered = [low_mean, high - high_mean, self.identity(x), self.structure(rows)]
        views: list[Tensor] = [F.relu(view) for view in filtered]
        votes = torch.stack([view @ vote for view, vote in zip(views, self.votes, strict=True)], dim=1)
        shares = torch.softmax(self.mix(torch.sigmoid(votes)) / CHANNELS, dim=1)
        weighted = [share.unsqueeze(1) * view for share, view in zip(shares.unbind(1), views, strict=True)]
        return CHANNELS * (weighted[0] + weighted[1] + weighted[2] + weighted[3])


class ACMGCN(Backbone):
    """ACM-GCN+; call it as ``model(inputs, row_normalised_adjacency_with_self_loops, adjacency_rows)``."""

    layer = AdaptiveChannelMixing

    def __init__(
        self, num_features: int, num_classes: int, num_known: int, architecture: Architecture | None = None
    ) -> None:
        super().__init__(num_features, num_classes, num_known, architecture, row_width=num_known)
