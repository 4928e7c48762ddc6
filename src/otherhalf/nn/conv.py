"""The Complemented Graph Convolution (https://arxiv.org/abs/2306.07608, Section 5)."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from otherhalf.nn.ops.chained import chained
from otherhalf.nn.ops.sparse import Features, SparseOperator, mapped, normalized_adjacency
from otherhalf.system.adjacency import symmetric_adjacency

COEFFICIENT_LIMIT = 5.0
"""The paper keeps α, β, γ and δ in [0, 5]."""


class Coefficients(nn.Module):
    r"""The four strengths :math:`\alpha, \beta, \gamma, \delta \in [0, 5]`, fixed or learned.

    Learned ones (GOAL\ :sub:`at`, Section 6.5) are kept in range by writing each as
    :math:`5\,\mathrm{sigmoid}(\theta)`; gradient descent moves :math:`\theta`. A start at 0 or 5 is moved
    to 0.01 or 4.99, because the sigmoid has no gradient at its ends.
    """

    def __init__(self, start: Sequence[float] = (1.0, 1.0, 1.0, 1.0), *, learn: bool = False) -> None:
        super().__init__()
        if len(start) != 4 or not all(0.0 <= c <= COEFFICIENT_LIMIT for c in start):
            raise ValueError(f"coefficients must be 4 numbers from 0 to {COEFFICIENT_LIMIT:g}, not {start}")
        self.start = tuple(float(c) for c in start)
        self.learn = learn
        if learn:
            self.theta = nn.Parameter(torch.empty(4))
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set learned coefficients to their start values."""
        if self.learn:
            inward = [min(max(c, 0.01), COEFFICIENT_LIMIT - 0.01) / COEFFICIENT_LIMIT for c in self.start]
            with torch.no_grad():
                self.theta.copy_(torch.tensor([math.log(c / (1 - c)) for c in inward]))

    def forward(self) -> Tensor:
        """Return ``[4]``: α, β, γ, δ, with a gradient if they are learned."""
        if self.learn:
            return COEFFICIENT_LIMIT * torch.sigmoid(self.theta)
        return torch.tensor(self.start, dtype=torch.float64)

    def values(self) -> tuple[float, float, float, float]:
        """Return α, β, γ, δ as floats."""
        with torch.no_grad():
            alpha, beta, gamma, delta = self().tolist()
        return alpha, beta, gamma, delta


class _Propagation(torch.autograd.Function):
    r"""P H with :math:`\mathbf{P} = \alpha\mathbf{I} + \beta\hat{\mathbf{A}}_o - \gamma\hat{\mathbf{A}}_t
    - \delta\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o`, with its gradient.

    With :math:`\mathbf{O} = \hat{\mathbf{A}}_o\mathbf{H}` the result is
    :math:`\alpha\mathbf{H} + \beta\mathbf{O} - \hat{\mathbf{A}}_t(\gamma\mathbf{H} + \delta\mathbf{O})`. With
    G the gradient of the result and :math:`\mathbf{T} = \hat{\mathbf{A}}_t^T\mathbf{G}`, the gradients are

    .. math::
        \partial\mathbf{H} = \alpha\mathbf{G} - \gamma\mathbf{T}
        + \hat{\mathbf{A}}_o^T(\beta\mathbf{G} - \delta\mathbf{T}), \quad
        \partial(\alpha, \beta, \gamma, \delta) = (\langle\mathbf{G}, \mathbf{H}\rangle,
        \langle\mathbf{G}, \mathbf{O}\rangle, -\langle\mathbf{T}, \mathbf{H}\rangle,
        -\langle\mathbf{T}, \mathbf{O}\rangle).

    With autograd, each of the four terms would be a separate matrix, in both passes.
    """

    @staticmethod
    def forward(ctx: Any, h: Tensor, strengths: Tensor, a_o: SparseOperator, a_t: SparseOperator) -> Tensor:
        alpha, beta, gamma, delta = strengths.tolist()
        learned = strengths.requires_grad
        out, over_o, _ = chained(a_o, a_t, h, (alpha, beta), (-gamma, -delta), keep=learned)
        ctx.save_for_backward(*((h, over_o) if learned else ()))
        ctx.operators, ctx.strengths = (a_o, a_t), (alpha, beta, gamma, delta)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None, None]:
        (a_o, a_t), (alpha, beta, gamma, delta) = ctx.operators, ctx.strengths
        learned = ctx.saved_tensors or None
        transposed = a_t.transposed(), a_o.transposed()
        grad_h, _, dots = chained(*transposed, grads[0], (alpha, -gamma), (beta, -delta), against=learned)
        if learned is None:
            return grad_h, None, None, None
        of_alpha, of_beta, of_gamma, of_delta = dots
        return grad_h, grad_h.new_tensor([of_alpha, of_beta, -of_gamma, -of_delta]), None, None


class ComplementedGraphConv(nn.Module):
    r"""The Complemented Graph Convolution (GOAL, https://arxiv.org/abs/2306.07608, Section 5.1).

    .. math::
        \mathbf{H}' = (\alpha\mathbf{I} + \beta\hat{\mathbf{A}}_o - \gamma\hat{\mathbf{A}}_t
        - \delta\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o)\,\mathbf{H}\mathbf{W}

    with :math:`\hat{\mathbf{A}}_o` the normalised homophilic half, :math:`\hat{\mathbf{A}}_t` the
    normalised heterophilic half, and :math:`\alpha,\beta,\gamma,\delta \in [0, 5]` the strengths of self,
    homophilic, heterophilic and combined information. The layer does not apply the activation
    :math:`\sigma`.

    :math:`\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o` is never formed: with
    :math:`\mathbf{S} = \mathbf{H}\mathbf{W}` and :math:`\mathbf{O} = \hat{\mathbf{A}}_o\mathbf{S}`, it is
    :math:`\alpha\mathbf{S} + \beta\mathbf{O} - \hat{\mathbf{A}}_t(\gamma\mathbf{S} + \delta\mathbf{O})`,
    two sparse products. They run on the narrower side of :math:`\mathbf{W}`.

    Args:
        in_channels: Width of H.
        out_channels: Width of H'.
        coefficients: α, β, γ, δ; their start values if they are learned.
        learn_coefficients: Whether gradient descent moves the coefficients (GOAL_at).
        bias: Whether to add a bias. The paper's formula has none.

    Example, in any PyG model::

        conv = ComplementedGraphConv(16, 8)
        out = conv(x, data.edge_index, data.missing_edge_index)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        coefficients: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
        *,
        learn_coefficients: bool = False,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.coefficients = Coefficients(coefficients, learn=learn_coefficients)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights (Glorot), set the bias to 0 and the coefficients to their start values."""
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        self.coefficients.reset_parameters()

    def forward(
        self, x: Features, homophilic: SparseOperator | Tensor, heterophilic: SparseOperator | Tensor
    ) -> Tensor:
        """Convolve ``x`` over both halves.

        ``homophilic`` and ``heterophilic`` are the two halves as PyG's ``edge_index`` (``[2, E]``, read as
        undirected edges), or as operators from :func:`~otherhalf.nn.ops.sparse.normalized_adjacency`, which
        are not normalised again at every call.
        """
        nodes = x.shape[0]
        a_o, a_t = _operator(homophilic, nodes), _operator(heterophilic, nodes)
        if isinstance(x, SparseOperator) or self.out_channels <= self.in_channels:
            h = self.propagate(mapped(x, self.weight), a_o, a_t)
        else:
            h = mapped(self.propagate(x, a_o, a_t), self.weight)
        return h if self.bias is None else h + self.bias

    def propagate(self, h: Tensor, a_o: SparseOperator, a_t: SparseOperator) -> Tensor:
        """Return (αI + βÂ_o − γÂ_t − δÂ_tÂ_o) h; products whose fixed coefficients are 0 are not computed."""
        return _Propagation.apply(h, self.coefficients(), a_o, a_t)  # type: ignore[no-any-return,no-untyped-call]

    def __repr__(self) -> str:
        strengths = ", ".join(f"{c:.3g}" for c in self.coefficients.values())
        return f"ComplementedGraphConv({self.in_channels}, {self.out_channels}, coefficients=({strengths}))"


def _operator(half: SparseOperator | Tensor, num_nodes: int) -> SparseOperator:
    if isinstance(half, SparseOperator):
        return half
    if half.dim() != 2 or half.shape[0] != 2:
        raise ValueError(f"a half of a graph must be an edge_index of shape [2, E], not {tuple(half.shape)}")
    operator = normalized_adjacency(symmetric_adjacency(half.cpu().numpy(), num_nodes))
    return operator.to(half.device)
