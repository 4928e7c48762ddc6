"""GAT."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.nn.skeleton import Shape, Skeleton, SparseLinear
from otherhalf.nn.sparse import Features

HEADS = 8
NEGATIVE_SLOPE = 0.2
SAFE_RANGE = 60.0
"""exp of minus this is far from underflow: below it one shift for all rows of the softmax will do."""


class Neighbourhoods:
    """Who attends to whom in an undirected graph, every node to itself as well: a CSR pattern.

    The pattern is symmetric: the transpose of a matrix with values ``v`` on it has ``v[reverse]``.
    """

    def __init__(self, crow: Tensor, col: Tensor, reverse: Tensor) -> None:
        self.crow, self.col, self.reverse = crow, col, reverse
        self.num_nodes = crow.numel() - 1
        self.columns = col.long()
        self.rows = torch.repeat_interleave(torch.arange(self.num_nodes, device=crow.device), crow.diff())

    @classmethod
    def from_scipy(cls, adjacency: sp.spmatrix) -> Neighbourhoods:
        """The neighbours of every node in a symmetric adjacency matrix, and the node itself."""
        loops = sp.identity(adjacency.shape[0], dtype=np.float32, format="csr")
        csr = sp.csr_matrix(adjacency, dtype=np.float32).maximum(loops).tocsr()
        csr.sort_indices()
        positions = sp.csr_matrix((np.arange(csr.nnz), csr.indices, csr.indptr), shape=csr.shape)
        reverse = positions.T.tocsr().data
        crow, col = (torch.from_numpy(part.astype(np.int32)) for part in (csr.indptr, csr.indices))
        return cls(crow, col, torch.from_numpy(reverse.astype(np.int64)))

    def to(self, device: torch.device | str) -> Neighbourhoods:
        """The same pattern on another device."""
        if self.crow.device == torch.device(device):
            return self
        return Neighbourhoods(*(part.to(device) for part in (self.crow, self.col, self.reverse)))

    def matrix(self, values: Tensor) -> Tensor:
        """The sparse matrix with these values."""
        size = (self.num_nodes, self.num_nodes)
        return torch.sparse_csr_tensor(self.crow, self.col, values, size=size, check_invariants=False)


class _Attention(torch.autograd.Function):
    r"""Σ_j p_ij h_j with p_ij = exp(LeakyReLU(s_j + t_i) − m_i), for one head; any m_i will do.

    With a column of ones in h, the same product gives the softmax's denominator. All sums over neighbours
    are CSR products, which are several times as fast as gathering and adding the edges one by one, and add
    in one order, so that two runs are bit-equal.
    """

    @staticmethod
    def forward(
        ctx: Any, source: Tensor, target: Tensor, h: Tensor, shift: Tensor, around: Neighbourhoods
    ) -> Tensor:
        scores = source.index_select(0, around.columns) + target.index_select(0, around.rows)
        weights = F.leaky_relu(scores, NEGATIVE_SLOPE).sub_(shift.index_select(0, around.rows)).exp_()
        ctx.save_for_backward(weights, scores, h)
        ctx.around = around
        return around.matrix(weights) @ h

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        weights, scores, h = ctx.saved_tensors
        around: Neighbourhoods = ctx.around
        grad = grads[0].contiguous()
        pattern = around.matrix(torch.zeros_like(weights))
        of_weights = torch.sparse.sampled_addmm(pattern, grad, h.t(), beta=0.0).values()
        of_scores = torch.ops.aten.leaky_relu_backward(of_weights * weights, scores, NEGATIVE_SLOPE, False)
        ones = h.new_ones(around.num_nodes, 1)
        of_target = (around.matrix(of_scores) @ ones).squeeze(1)
        of_source = (around.matrix(of_scores.index_select(0, around.reverse)) @ ones).squeeze(1)
        of_h = around.matrix(weights.index_select(0, around.reverse)) @ grad
        return of_source, of_target, of_h, None, None


class GraphAttention(nn.Module):
    r"""The layer of GAT (Veličković et al. 2018), eight heads, without dropout of the attention.

    .. math::
        \mathbf{h}'_i = \sum_{j \in \mathcal{N}_i \cup \{i\}} a_{ij} \mathbf{W}\mathbf{h}_j, \quad
        a_{ij} = \mathrm{softmax}_j\,\mathrm{LeakyReLU}(\mathbf{p}^T\mathbf{W}\mathbf{h}_j
        + \mathbf{q}^T\mathbf{W}\mathbf{h}_i)

    for each head. Heads stand side by side, or are averaged (in the prediction layer, and where their number
    does not divide the width).
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
        shifts = _shifts(sources.detach(), targets.detach(), around)
        # Head by head, each with the column of ones that gives the denominator.
        with_ones = torch.cat([h, h.new_ones(h.shape[0], HEADS, 1)], dim=2).transpose(0, 1)
        heads = []
        for head in range(HEADS):
            arguments = (sources[:, head], targets[:, head], with_ones[head].contiguous(), shifts[:, head])
            sums: Tensor = _Attention.apply(*arguments, around)  # type: ignore[no-untyped-call]
            heads.append(sums[:, :-1] / sums[:, -1:])
        out = torch.cat(heads, dim=1) if self.side_by_side else torch.stack(heads).mean(dim=0)
        return out + self.bias


def _shifts(sources: Tensor, targets: Tensor, around: Neighbourhoods) -> Tensor:
    """m_i ≥ max_j LeakyReLU(s_j + t_i), and not far above it, so that no exponential over- or underflows."""
    highest = sources.amax(dim=0, keepdim=True)
    if float((highest - sources).max()) > SAFE_RANGE:
        each = sources.index_select(0, around.columns)
        highest = torch.segment_reduce(each, "max", offsets=around.crow.long(), axis=0)
    return F.leaky_relu(highest + targets, NEGATIVE_SLOPE)


class GAT(Skeleton):
    """GAT; call it as ``model(inputs, neighbourhoods)``."""

    def __init__(
        self, num_features: int, num_classes: int, num_known: int, shape: Shape | None = None
    ) -> None:
        shape = shape or Shape()
        super().__init__(GraphAttention, num_features, num_classes, num_known, shape)
        if shape.output == "layer":
            width = num_features if shape.layers == 1 and shape.trunk == "none" else shape.hidden
            self.layers[-1] = GraphAttention(width, num_classes, average=True)
