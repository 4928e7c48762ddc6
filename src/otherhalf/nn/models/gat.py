"""GAT."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.nn.backbone import Architecture, Backbone, SparseLinear
from otherhalf.nn.ops.attention import HEADS, NEGATIVE_SLOPE, Attention
from otherhalf.nn.ops.sparse import Features


class Neighbourhoods:
    """Who attends to whom in an undirected graph, every node to itself as well: a CSR pattern.

    The pattern is symmetric: the transpose of a matrix with values ``v`` on it has ``v[reverse]``.
    """

    def __init__(self, crow: Tensor, col: Tensor, reverse: Tensor) -> None:
        self.crow, self.col, self.reverse = crow, col, reverse
        self.num_nodes = crow.numel() - 1

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

    @cached_property
    def rows(self) -> Tensor:
        """The row of every entry."""
        nodes = torch.arange(self.num_nodes, device=self.crow.device)
        return torch.repeat_interleave(nodes, self.crow.diff())

    @cached_property
    def columns(self) -> Tensor:
        """The column of every entry, as torch's own operations want it."""
        return self.col.long()

    def to(self, device: torch.device | str) -> Neighbourhoods:
        """The same pattern on another device."""
        if self.crow.device == torch.device(device):
            return self
        return Neighbourhoods(*(part.to(device) for part in (self.crow, self.col, self.reverse)))


def attend(sources: Tensor, targets: Tensor, h: Tensor, around: Neighbourhoods) -> Tensor:
    r"""Σ_j a_ij h_j with a_ij = softmax_j LeakyReLU(s_j + t_i) for every head.

    s and t are ``[N, 8]``, h and the result ``[N, 8, columns]``. Compiled in single precision on a CPU;
    elsewhere by torch's own operations, which keep ``columns`` numbers per head and edge.
    """
    if h.shape[:2] != (around.num_nodes, HEADS):  # what is compiled would write past the end
        raise ValueError(f"attention over {around.num_nodes} nodes needs their states, not {tuple(h.shape)}")
    if h.device.type == "cpu" and h.dtype == torch.float32 and h.numel() > 0:
        pattern = (around.crow, around.col, around.reverse)
        out: Tensor = Attention.apply(sources, targets, h, *pattern)  # type: ignore[no-untyped-call]
        return out
    scores = F.leaky_relu(sources[around.columns] + targets[around.rows], NEGATIVE_SLOPE)
    # Shifted by the largest of the row, so that no exponential overflows; the shares do not change by that.
    highest = torch.segment_reduce(scores.detach(), "max", offsets=around.crow.long(), axis=0)
    weights = (scores - highest[around.rows]).exp()
    totals = torch.zeros_like(sources).index_add(0, around.rows, weights)
    sums = torch.zeros_like(h).index_add(0, around.rows, weights[:, :, None] * h[around.columns])
    return sums / totals[:, :, None]


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
        heads = attend(sources, targets, h, around)
        out = heads.flatten(1) if self.side_by_side else heads.mean(dim=1)
        return out + self.bias


class GAT(Backbone):
    """GAT; call it as ``model(inputs, neighbourhoods)``."""

    def __init__(
        self, num_features: int, num_classes: int, num_known: int, shape: Architecture | None = None
    ) -> None:
        shape = shape or Architecture()
        super().__init__(GraphAttention, num_features, num_classes, num_known, shape)
        if shape.output == "layer":
            width = num_features if shape.layers == 1 and shape.trunk == "none" else shape.hidden
            self.layers[-1] = GraphAttention(width, num_classes, average=True)
