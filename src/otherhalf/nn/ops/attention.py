"""Attention of eight heads over the neighbours of every node, and its gradient, compiled."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from otherhalf.nn.ops.compiled import HEADS, NEGATIVE_SLOPE, over_rows


class Neighbourhoods:
    """The neighbours of every node of an undirected graph, and the node itself: a CSR pattern.

    The pattern is symmetric: the transpose of a matrix with values ``v`` on it has ``v[reverse]``. That of a
    sample of neighbours is not; it comes with the pattern ``transposed`` of that transpose.
    """

    def __init__(
        self, crow: Tensor, col: Tensor, reverse: Tensor, transposed: tuple[Tensor, Tensor] | None = None
    ) -> None:
        self.crow, self.col, self.reverse = crow, col, reverse
        self.transposed = (crow, col) if transposed is None else transposed
        self.num_nodes = crow.numel() - 1

    @classmethod
    def from_scipy(cls, adjacency: sp.spmatrix) -> Neighbourhoods:
        """Return the neighbourhoods of a symmetric adjacency matrix."""
        loops = sp.identity(adjacency.shape[0], dtype=np.float32, format="csr")
        csr = sp.csr_matrix(adjacency, dtype=np.float32).maximum(loops).tocsr()
        csr.sort_indices()
        positions = sp.csr_matrix((np.arange(csr.nnz), csr.indices, csr.indptr), shape=csr.shape)
        reverse = positions.T.tocsr().data
        crow, col = (torch.from_numpy(part.astype(np.int32)) for part in (csr.indptr, csr.indices))
        return cls(crow, col, torch.from_numpy(reverse.astype(np.int64)))

    @cached_property
    def rows(self) -> Tensor:
        """Row of every entry."""
        nodes = torch.arange(self.num_nodes, device=self.crow.device)
        return torch.repeat_interleave(nodes, self.crow.diff())

    @cached_property
    def columns(self) -> Tensor:
        """Column of every entry as int64, which torch's operations need."""
        return self.col.long()

    def to(self, device: torch.device | str) -> Neighbourhoods:
        """Return the same pattern on another device."""
        if self.crow.device == torch.device(device):
            return self
        crow, col, reverse = (part.to(device) for part in (self.crow, self.col, self.reverse))
        if self.transposed[0] is self.crow:
            return Neighbourhoods(crow, col, reverse)
        ends, columns = (part.to(device) for part in self.transposed)
        return Neighbourhoods(crow, col, reverse, (ends, columns))


def attend(sources: Tensor, targets: Tensor, h: Tensor, around: Neighbourhoods) -> Tensor:
    r"""Return Σ_j a_ij h_j with a_ij = softmax_j LeakyReLU(s_j + t_i) for every head.

    s and t are ``[N, 8]``, h and the result ``[N, 8, columns]``. Compiled for single precision on a CPU;
    otherwise torch's operations, which keep ``columns`` numbers per head and edge.
    """
    if h.shape[:2] != (around.num_nodes, HEADS):  # compiled code would write out of bounds
        raise ValueError(f"attention over {around.num_nodes} nodes needs their states, not {tuple(h.shape)}")
    if h.device.type == "cpu" and h.dtype == torch.float32 and h.numel() > 0:
        pattern = (around.crow, around.col, *around.transposed, around.reverse)
        out: Tensor = Attention.apply(sources, targets, h, *pattern)  # type: ignore[no-untyped-call]
        return out
    scores = F.leaky_relu(sources[around.columns] + targets[around.rows], NEGATIVE_SLOPE)
    # Less the largest of the row, so that no exponential overflows. The shares stay the same.
    highest = torch.segment_reduce(scores.detach(), "max", offsets=around.crow.long(), axis=0)
    weights = (scores - highest[around.rows]).exp()
    totals = torch.zeros_like(sources).index_add(0, around.rows, weights)
    sums = torch.zeros_like(h).index_add(0, around.rows, weights[:, :, None] * h[around.columns])
    return sums / totals[:, :, None]


class Attention(torch.autograd.Function):
    r""":math:`\mathbf{o}_i = \sum_j a_{ij} \mathbf{h}_j` with
    :math:`a_{ij} = \mathrm{softmax}_j\,\mathrm{LeakyReLU}(s_j + t_i)`, for each head.

    With :math:`\mathbf{g}_i` the gradient of :math:`\mathbf{o}_i`, that of :math:`s_j + t_i` is
    :math:`a_{ij}\,\mathbf{g}_i^T(\mathbf{h}_j - \mathbf{o}_i)` times the slope of the LeakyReLU, and that of
    :math:`\mathbf{h}_j` is :math:`\sum_i a_{ij}\mathbf{g}_i`.

    ``sources`` s and ``targets`` t are ``[N, 8]``, ``h`` and the result ``[N, 8, columns]``, in single
    precision on a CPU. ``crow`` and ``col`` are a CSR pattern, ``ends`` and ``rows`` its transpose, where
    entry e is entry ``reverse[e]`` of the pattern. Every sum has a fixed order: two runs are bit-equal.
    """

    @staticmethod
    def forward(
        ctx: Any,
        sources: Tensor,
        targets: Tensor,
        h: Tensor,
        crow: Tensor,
        col: Tensor,
        ends: Tensor,
        rows: Tensor,
        reverse: Tensor,
    ) -> Tensor:
        """Return O."""
        from otherhalf.nn.ops import attention_kernels as kernels  # compiled at their first use

        s, t, columns = (part.detach().contiguous() for part in (sources, targets, h.transpose(1, 2)))
        shares, out = s.new_empty(len(col), s.shape[1]), torch.empty_like(columns)
        _each_row(kernels.shifted_scores, crow, s.shape[1], col, s, t, shares)
        shares.exp_()  # torch's exponential is vectorised
        _each_row(kernels.weighted_means, crow, columns[0].numel(), col, shares, columns, out)
        ctx.save_for_backward(s, t, columns, shares, out, crow, col, ends, rows, reverse)
        return out.transpose(1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of s, t and H."""
        from otherhalf.nn.ops import attention_kernels as kernels

        s, t, columns, shares, out, crow, col, ends, rows, reverse = ctx.saved_tensors
        g, width = grads[0].transpose(1, 2).contiguous(), columns[0].numel()
        of_scores, of_s, of_t, of_h = (torch.empty_like(part) for part in (shares, s, t, columns))
        read = (s, t, shares, columns, out, g)
        _each_row(kernels.gradient_of_scores, crow, width, col, *read, of_scores, of_t)
        _each_row(kernels.gradient_of_sources, ends, width, rows, reverse, shares, of_scores, g, of_h, of_s)
        return of_s, of_t, of_h.transpose(1, 2), None, None, None, None, None


def _each_row(kernel: Any, crow: Tensor, width: int, *arguments: Tensor) -> None:
    over_rows(kernel, crow.numpy(), width, *(argument.numpy() for argument in arguments))
