"""GAT."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.nn.skeleton import Shape, Skeleton, SparseLinear
from otherhalf.nn.sparse import Features

HEADS = 8
NEGATIVE_SLOPE = 0.2


class GraphAttention(nn.Module):
    r"""The layer of GAT (Veličković et al. 2018), eight heads.

    .. math::
        \mathbf{h}'_i = \sum_{j \in \mathcal{N}_i} a_{ij} \mathbf{W}\mathbf{h}_j, \quad
        a_{ij} = \mathrm{softmax}_j\,\mathrm{LeakyReLU}(\mathbf{p}^T\mathbf{W}\mathbf{h}_j
        + \mathbf{q}^T\mathbf{W}\mathbf{h}_i)

    for each head. Heads stand side by side where their number divides the width, else they are averaged
    (the prediction layer). :math:`\mathcal{N}_i` is what the edges say: put the self loops in them.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.side_by_side = out_channels % HEADS == 0
        width = out_channels // HEADS if self.side_by_side else out_channels
        self.linear = SparseLinear(in_channels, HEADS * width, bias=False)
        self.to_source = nn.Parameter(torch.empty(1, HEADS, width))
        self.to_target = nn.Parameter(torch.empty(1, HEADS, width))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        nn.init.xavier_uniform_(self.to_source)
        nn.init.xavier_uniform_(self.to_target)

    def forward(self, x: Features, edge_index: Tensor) -> Tensor:
        """Attend to the neighbours of every node; edges run from row 0 to row 1."""
        source, target = edge_index
        h = self.linear(x).view(x.shape[0], HEADS, -1)
        # index_select and index_add throughout: unlike h[source], their sums have one order, whatever the
        # number of threads, so that two runs are bit-equal.
        to_source = (h * self.to_source).sum(-1).index_select(0, source)
        to_target = (h * self.to_target).sum(-1).index_select(0, target)
        weights = _softmax(F.leaky_relu(to_source + to_target, NEGATIVE_SLOPE), target, x.shape[0])
        messages = weights.unsqueeze(-1) * h.index_select(0, source)
        out = torch.zeros_like(h).index_add(0, target, messages)
        return (out.flatten(1) if self.side_by_side else out.mean(dim=1)) + self.bias


def _softmax(scores: Tensor, target: Tensor, num_nodes: int) -> Tensor:
    """The softmax over all edges with the same target, for each head."""
    # Subtracting a target's largest score changes nothing but keeps the exponential from overflowing.
    rows = target.unsqueeze(-1).expand_as(scores)
    largest = scores.new_zeros(num_nodes, scores.shape[1]).scatter_reduce(
        0, rows, scores.detach(), "amax", include_self=False
    )
    exponentials = torch.exp(scores - largest.index_select(0, target))
    sums = torch.zeros_like(largest).index_add(0, target, exponentials)
    return exponentials / sums.index_select(0, target)


class GAT(Skeleton):
    """GAT; call it as ``model(inputs, edge_index_with_self_loops)``."""

    def __init__(
        self, num_features: int, num_classes: int, num_known: int, shape: Shape | None = None
    ) -> None:
        super().__init__(GraphAttention, num_features, num_classes, num_known, shape or Shape())
