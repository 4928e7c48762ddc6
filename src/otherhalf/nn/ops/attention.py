"""Attention of eight heads over the neighbours of every node, and its gradient, compiled."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from otherhalf.nn.ops.compiled import over_rows

HEADS = 8
NEGATIVE_SLOPE = 0.2


class Attention(torch.autograd.Function):
    r""":math:`\mathbf{o}_i = \sum_j a_{ij} \mathbf{h}_j` with
    :math:`a_{ij} = \mathrm{softmax}_j\,\mathrm{LeakyReLU}(s_j + t_i)`, for each head.

    With :math:`\mathbf{g}_i` the gradient of :math:`\mathbf{o}_i`, that of :math:`s_j + t_i` is
    :math:`a_{ij}\,\mathbf{g}_i^T(\mathbf{h}_j - \mathbf{o}_i)` times the slope of the LeakyReLU, and that of
    :math:`\mathbf{h}_j` is :math:`\sum_i a_{ij}\mathbf{g}_i`.

    ``sources`` s and ``targets`` t are ``[N, 8]``, ``h`` and the result ``[N, 8, columns]``, in single
    precision on a CPU. ``crow``, ``col`` and ``reverse`` are a symmetric CSR pattern in which entry e has its
    mirror image at ``reverse[e]``. Every sum is taken in one order, so that two runs are bit-equal.
    """

    @staticmethod
    def forward(
        ctx: Any, sources: Tensor, targets: Tensor, h: Tensor, crow: Tensor, col: Tensor, reverse: Tensor
    ) -> Tensor:
        """O."""
        from otherhalf.nn.ops import attention_kernels as kernels  # compiled when they are first needed

        s, t, columns = (part.detach().contiguous() for part in (sources, targets, h.transpose(1, 2)))
        shares, out = s.new_empty(len(col), s.shape[1]), torch.empty_like(columns)
        _each_row(kernels.shifted_scores, crow, s.shape[1], col, s, t, shares)
        shares.exp_()  # torch's works on vectors
        _each_row(kernels.weighted_means, crow, columns[0].numel(), col, shares, columns, out)
        ctx.save_for_backward(s, t, columns, shares, out, crow, col, reverse)
        return out.transpose(1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
        """The gradients of s, t and H."""
        from otherhalf.nn.ops import attention_kernels as kernels

        s, t, columns, shares, out, crow, col, reverse = ctx.saved_tensors
        g, width = grads[0].transpose(1, 2).contiguous(), columns[0].numel()
        of_scores, of_s, of_t, of_h = (torch.empty_like(part) for part in (shares, s, t, columns))
        read = (s, t, shares, columns, out, g)
        _each_row(kernels.gradient_of_scores, crow, width, col, *read, of_scores, of_t)
        _each_row(kernels.gradient_of_sources, crow, width, col, reverse, shares, of_scores, g, of_h, of_s)
        return of_s, of_t, of_h.transpose(1, 2), None, None, None


def _each_row(kernel: Any, crow: Tensor, width: int, *arguments: Tensor) -> None:
    over_rows(kernel, crow.numpy(), width, *(argument.numpy() for argument in arguments))
