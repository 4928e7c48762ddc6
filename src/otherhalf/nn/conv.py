"""The Complemented Graph Convolution (Section 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from otherhalf.graph import symmetric_adjacency
from otherhalf.nn.sparse import Features, SparseOperator, normalized_adjacency

COEFFICIENT_LIMIT = 5.0
"""The paper keeps α, β, γ and δ in [0, 5]."""


class Coefficients(nn.Module):
    r"""The four strengths :math:`\alpha, \beta, \gamma, \delta \in [0, 5]`, fixed or learned.

    Learned ones (GOAL\ :sub:`at`, Section 6.5) are kept in range by writing each as
    :math:`5\,\mathrm{sigmoid}(\theta)`; gradient descent moves :math:`\theta`. A start at 0 or 5 is taken
    a hundredth inwards, because the sigmoid has no gradient at its ends.
    """

    def __init__(self, start: Sequence[float] = (1.0, 1.0, 1.0, 1.0), *, learn: bool = False) -> None:
        super().__init__()
        if len(start) != 4 or not all(0.0 <= c <= COEFFICIENT_LIMIT for c in start):
            raise ValueError(
                f"four coefficients in [0, {COEFFICIENT_LIMIT:g}] are needed, not {tuple(start)}"
            )
        self.start = tuple(float(c) for c in start)
        self.learn = learn
        if learn:
            self.theta = nn.Parameter(torch.empty(4))
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Go back to the start."""
        if self.learn:
            inward = [min(max(c, 0.01), COEFFICIENT_LIMIT - 0.01) / COEFFICIENT_LIMIT for c in self.start]
            with torch.no_grad():
                self.theta.copy_(torch.tensor([math.log(c / (1 - c)) for c in inward]))

    def forward(self) -> tuple[Tensor | float, ...]:
        """α, β, γ, δ: tensors that carry a gradient when learned, plain numbers when fixed."""
        if self.learn:
            return tuple(COEFFICIENT_LIMIT * torch.sigmoid(self.theta))
        return self.start

    def values(self) -> tuple[float, float, float, float]:
        """α, β, γ, δ as plain numbers."""
        with torch.no_grad():
            alpha, beta, gamma, delta = (float(c) for c in self())
        return alpha, beta, gamma, delta


class ComplementedGraphConv(nn.Module):
    r"""The Complemented Graph Convolution of "Finding the Missing-half" (ICML 2023), Section 5.1.

    .. math::
        \mathbf{H}' = (\alpha\mathbf{I} + \beta\hat{\mathbf{A}}_o - \gamma\hat{\mathbf{A}}_t
        - \delta\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o)\,\mathbf{H}\mathbf{W}

    with :math:`\hat{\mathbf{A}}_o` the normalised homophilic half, :math:`\hat{\mathbf{A}}_t` the
    normalised heterophilic half, and :math:`\alpha,\beta,\gamma,\delta \in [0, 5]` the strengths of self,
    homophilic, heterophilic and combined information. The activation :math:`\sigma` is left to the caller.

    :math:`\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o` is never formed: with
    :math:`\mathbf{S} = \mathbf{H}\mathbf{W}` and :math:`\mathbf{O} = \hat{\mathbf{A}}_o\mathbf{S}`, it is
    :math:`\alpha\mathbf{S} + \beta\mathbf{O} - \hat{\mathbf{A}}_t(\gamma\mathbf{S} + \delta\mathbf{O})`,
    two sparse products. They run on the narrower side of :math:`\mathbf{W}`.

    Args:
        in_channels: Width of H.
        out_channels: Width of H'.
        coefficients: α, β, γ, δ; where they start when learned.
        learn_coefficients: Whether gradient descent moves the coefficients (GOAL_at).
        bias: Whether to add a bias, which the paper's formula does not have.

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
        """Glorot weights, zero bias, coefficients at their start."""
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        self.coefficients.reset_parameters()

    def forward(
        self, x: Features, homophilic: SparseOperator | Tensor, heterophilic: SparseOperator | Tensor
    ) -> Tensor:
        """Convolve ``x`` over both halves.

        ``homophilic`` and ``heterophilic`` are the two halves as PyG's ``edge_index`` (``[2, E]``, taken as
        undirected), or as operators from :func:`~otherhalf.nn.sparse.normalized_adjacency`, which saves the
        normalisation at every call.
        """
        nodes = x.shape[0]
        a_o, a_t = _operator(homophilic, nodes), _operator(heterophilic, nodes)
        weight_first = isinstance(x, SparseOperator) or self.out_channels <= self.in_channels
        h = x @ self.weight if weight_first else x
        h = self.propagate(h, a_o, a_t)
        if not weight_first:
            h = h @ self.weight
        return h if self.bias is None else h + self.bias

    def propagate(self, h: Features, a_o: SparseOperator, a_t: SparseOperator) -> Tensor:
        """(αI + βÂ_o − γÂ_t − δÂ_tÂ_o) h; a product whose fixed coefficients are zero is not computed."""
        alpha, beta, gamma, delta = self.coefficients()
        fixed = not self.coefficients.learn
        if isinstance(h, SparseOperator):
            raise TypeError("sparse features are multiplied by the weight before they are propagated")
        out: Tensor = alpha * h
        uses_o = not (fixed and beta == 0 and delta == 0)
        if uses_o:
            over_o = a_o @ h
            out = out + beta * over_o
        if not (fixed and gamma == 0 and delta == 0):
            inner = gamma * h
            if uses_o:
                inner = inner + delta * over_o
            out = out - a_t @ inner
        return out

    def __repr__(self) -> str:
        strengths = ", ".join(f"{c:.3g}" for c in self.coefficients.values())
        return f"ComplementedGraphConv({self.in_channels}, {self.out_channels}, coefficients=({strengths}))"


def _operator(half: SparseOperator | Tensor, num_nodes: int) -> SparseOperator:
    if isinstance(half, SparseOperator):
        return half
    if half.dim() != 2 or half.shape[0] != 2:
        raise ValueError(f"a half of the graph is an edge_index of shape [2, E], not {tuple(half.shape)}")
    operator = normalized_adjacency(symmetric_adjacency(half.cpu().numpy(), num_nodes))
    return operator.to(half.device)
