"""GAT."""

from typing import Any

import torch
from torch import Tensor, nn

from otherhalf.nn.backbone import Backbone, SparseLinear
from otherhalf.nn.ops.attention import Neighbourhoods, attend
from otherhalf.nn.ops.compiled import HEADS
from otherhalf.nn.ops.sparse import Features


class GraphAttention(nn.Module):
    r"""The layer of GAT (Veličković et al. 2018, https://arxiv.org/abs/1710.10903).

    Eight heads, without dropout of the attention.

    .. math::
        \mathbf{h}'_i = \sum_{j \in \mathcal{N}_i \cup \{i\}} a_{ij} \mathbf{W}\mathbf{h}_j, \quad
        a_{ij} = \mathrm{softmax}_j\,\mathrm{LeakyReLU}(\mathbf{p}^T\mathbf{W}\mathbf{h}_j
        + \mathbf{q}^T\mathbf{W}\mathbf{h}_i)

    for each head. The heads are concatenated, or averaged (in the prediction layer, and if their number does
    not divide the width).
    """

    def __init__(self, in_channels: int, out_channels: int, *, average: bool = False) -> None:
        super().__init__()
        self.side_by_side = not average and out_channels % HEADS == 0
        width = out_channels // HEADS if self.side_by_side else out_channels
        self.linear = SparseLinear(in_channels, HEADS * width, bias=False)
        self.to_source = nn.Parameter(torch.empty(1, HEADS, width))
        self.to_target = nn.Parameter(torch.empty(1, HEADS, width))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        nn.init.xavier_uniform_(self.to_source)
        nn.init.xavier_uniform_(self.to_target)

    def forward(self, x: Features, around: Neighbourhoods) -> Tensor:
        """Attend to the neighbours of every node."""
        h = self.linear(x).view(x.shape[0], HEADS, -1)
        sources, targets = (h * self.to_source).sum(-1), (h * self.to_target).sum(-1)
        heads = attend(sources, targets, h, around)
        out = heads.flatten(1) if self.side_by_side else heads.mean(dim=1)
        return out + self.bias


class GAT(Backbone):
    """GAT; call it as ``model(inputs, neighbourhoods)``. The heads of a prediction layer are averaged."""

    layer = GraphAttention

    def __init__(self, num_features: int, num_classes: int, *arguments: Any) -> None:
        super().__init__(num_features, num_classes, *arguments)
        chosen = self.architecture
        if chosen.output == "layer":
            width = num_features if chosen.layers == 1 and chosen.trunk == "none" else chosen.hidden
            self.layers[-1] = GraphAttention(width, num_classes, average=True)
