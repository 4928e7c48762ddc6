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
VECTOR = 8
"""Floats that a CPU multiplies at once: an inner product over 6 takes five times as long as one over 8."""
SAFE = 60.0
"""exp of so much, or of minus so much, is far from over- and underflow: the softmax needs no shift then."""


class Neighbourhoods:
    """Who attends to whom in an undirected graph, every node to itself as well: a CSR pattern.

    The pattern is symmetric: the transpose of a matrix with values ``v`` on it has ``v[reverse]``.
    """

    def __init__(self, crow: Tensor, col: Tensor, reverse: Tensor) -> None:
        self.crow, self.col, self.reverse = crow, col, reverse
        self.num_nodes = crow.numel() - 1
        self._pattern: Tensor | None = None
        self._rows_by_entries: Tensor | None = None
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

    def pattern(self, dtype: torch.dtype) -> Tensor:
        """The pattern as a matrix whose values do not matter."""
        if self._pattern is None or self._pattern.dtype != dtype:
            self._pattern = self.matrix(torch.zeros(self.col.numel(), dtype=dtype, device=self.col.device))
        return self._pattern

    def sum_by_row(self, values: Tensor) -> Tensor:
        """``[N, heads]``: the sums of ``[E, heads]`` values over the entries of each row."""
        entries = self.col.numel()
        if self._rows_by_entries is None or self._rows_by_entries.dtype != values.dtype:
            ones = torch.ones(entries, dtype=values.dtype, device=self.col.device)
            column = torch.arange(entries, dtype=torch.int32, device=self.col.device)
            self._rows_by_entries = torch.sparse_csr_tensor(
                self.crow, column, ones, size=(self.num_nodes, entries), check_invariants=False
            )
        return self._rows_by_entries @ values


class _Attention(torch.autograd.Function):
    r"""Σ_j p_ij h_j with p_ij = exp(LeakyReLU(s_j + t_i) − m_i) for every head; any m_i will do.

    With a column of ones in h, the same product gives the softmax's denominator. All sums over neighbours
    are CSR products, which are several times as fast as gathering and adding the edges one by one, and add
    in one order, so that two runs are bit-equal.

    s, t and m are ``[N, heads]`` (m may be None, for 0), h is ``[heads, N, columns]``, and so is the result.
    """

    @staticmethod
    def forward(
        ctx: Any, source: Tensor, target: Tensor, h: Tensor, shift: Tensor | None, around: Neighbourhoods
    ) -> Tensor:
        # Edge by edge all heads at once, since they lie side by side; then head by head for the products.
        scores = source.index_select(0, around.columns) + target.index_select(0, around.rows)
        logits = F.leaky_relu(scores, NEGATIVE_SLOPE)
        if shift is not None:
            logits -= shift.index_select(0, around.rows)
        weights = logits.exp_().t().contiguous()
        ctx.save_for_backward(weights, scores, h)
        ctx.around = around
        return torch.stack([around.matrix(each) @ states for each, states in zip(weights, h, strict=True)])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        weights, scores, h = ctx.saved_tensors
        around: Neighbourhoods = ctx.around
        grad = grads[0].contiguous()
        of_weights = torch.stack(
            [
                torch.sparse.sampled_addmm(around.pattern(h.dtype), each, states.t(), beta=0.0).values()
                for each, states in zip(grad, h, strict=True)
            ]
        )
        of_logits = of_weights.mul_(weights).t().contiguous()
        of_scores = torch.ops.aten.leaky_relu_backward(of_logits, scores, NEGATIVE_SLOPE, False)
        of_target = around.sum_by_row(of_scores)
        of_source = around.sum_by_row(of_scores.index_select(0, around.reverse))
        of_h = torch.stack(
            [
                around.matrix(each.index_select(0, around.reverse)) @ states
                for each, states in zip(weights, grad, strict=True)
            ]
        )
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
        # A column of ones gives the denominator; columns of zeros fill up the first vector.
        width = h.shape[2]
        tail = h.new_zeros(h.shape[0], HEADS, max(1, VECTOR - width))
        tail[:, :, 0] = 1.0
        with_ones = torch.cat([h, tail], dim=2).transpose(0, 1).contiguous()
        sums: Tensor = _Attention.apply(sources, targets, with_ones, shifts, around)  # type: ignore[no-untyped-call]
        heads = sums[:, :, :width] / sums[:, :, width : width + 1]
        out = heads.transpose(0, 1).flatten(1) if self.side_by_side else heads.mean(dim=0)
        return out + self.bias


def _shifts(sources: Tensor, targets: Tensor, around: Neighbourhoods) -> Tensor | None:
    """m_i = max_j LeakyReLU(s_j + t_i), so that no exponential over- or underflows; None where none would."""
    if float(sources.abs().max() + targets.abs().max()) < SAFE:
        return None
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
