r"""Kernel ridge regression of labels, with leave-one-out scores of the training nodes.

With K the kernel among the training nodes, Y their labels as rows 1 or 0 less 1/C, and ridge λ:

.. math::
    \mathbf{G} = (\mathbf{K} + \lambda\mathbf{I})^{-1}, \quad \mathbf{B} = \mathbf{G}\mathbf{Y}, \quad
    f(x) = \mathbf{k}(x)\mathbf{B}, \quad
    f^{(-i)}(x_i) = \mathbf{y}_i - \mathbf{b}_i / G_{ii}

The last is exactly the score of node i of a regression without node i (Allen 1974). There is no intercept: a
mean of the labels would hold the node's own label. Where nodes have weights, the squared error of node i
counts :math:`w_i` times. That is the same regression of :math:`\sqrt{w_i}\,\mathbf{y}_i` with the kernel
:math:`\sqrt{w_i w_j}\,K_{ij}`, so that leave-one-out stays exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

SHIFTS = (0.0, 1e-4, 1e-2)
"""Added to λ, relative to the mean of the diagonal, where rounding makes K + λI indefinite."""

LANDMARK_RIDGE = 1e-3
"""Added to the diagonal of the kernel among landmarks, some of which may be the same to rounding."""

BLOCK_NODES = 4096

STRIP = 500
"""Rows of a symmetric product that are computed at a time, up to the diagonal: half of it is left out."""


@dataclass(frozen=True)
class Ridge:
    """A fitted regression.

    Attributes:
        dual: ``[m, C]``: the score of a node is ``k @ dual``, with k its kernel to m nodes.
        own: ``[n, C]``: what a training node's own label adds to its score: leave-one-out is ``score - own``.
    """

    dual: Tensor
    own: Tensor


def centred(codes: Tensor, classes: int) -> Tensor:
    """Return ``[n, C]``: 1 at the class of a node and 0 elsewhere, less 1/C."""
    return torch.nn.functional.one_hot(codes, classes).float() - 1 / classes


def fit_ridge(kernel: Tensor, targets: Tensor, ridge: float, weights: Tensor | None = None) -> Ridge:
    """Solve the regression exactly, with one Cholesky factor.

    Args:
        kernel: ``[n, n]``.
        targets: ``[n, C]``.
        ridge: λ.
        weights: ``[n]`` positive weights of the nodes; None where all count the same.
    """
    if weights is not None:
        root = weights.sqrt()[:, None]
        fitted = fit_ridge(root * kernel * root.T, root * targets, ridge)
        return Ridge(root * fitted.dual, fitted.own / root)
    inverse, added = inverse_of(kernel, ridge)
    dual = inverse @ targets
    # f_i = y_i − λ b_i, so f_i less the leave-one-out score is b_i / G_ii − λ b_i.
    return Ridge(dual, dual * (1 / inverse.diagonal() - added)[:, None])


def fit_landmarks(
    to_landmarks: Tensor, among: Tensor, targets: Tensor, ridge: float, weights: Tensor | None = None
) -> Ridge:
    """Solve the regression over landmarks (:func:`fit_landmark_blocks`) with a kernel in memory."""
    return fit_landmark_blocks(lambda part: to_landmarks[part], among, targets, ridge, weights)[0]


def fit_landmark_blocks(
    to_landmarks: Callable[[slice], Tensor],
    among: Tensor,
    targets: Tensor,
    ridge: float,
    weights: Tensor | None = None,
) -> tuple[Ridge, Tensor]:
    r"""Solve the regression over functions of m landmark nodes (Nyström), in O(n m²).

    With :math:`\mathbf{K}_m + 0.001\,\mathbf{I} = \mathbf{L}\mathbf{L}^T` and
    :math:`\Phi = \mathbf{K}_{nm}\mathbf{L}^{-T}` it is linear ridge regression on :math:`\Phi`, whose
    leave-one-out score is :math:`(f_i - h_i y_i) / (1 - h_i)` with the leverage
    :math:`h_i = \phi_i^T(\Phi^T\Phi + \lambda\mathbf{I})^{-1}\phi_i`. Φ is the only matrix of n rows and m
    columns in memory.

    Args:
        to_landmarks: Returns a slice of the ``[n, m]`` kernel of training nodes to landmarks.
        among: ``[m, m]`` kernel among the landmarks.
        targets: ``[n, C]``.
        ridge: λ.
        weights: ``[n]`` positive weights of the nodes; None where all count the same.

    Returns:
        The regression, and the leave-one-out scores ``[n, C]``.
    """
    root = None if weights is None else weights.sqrt()[:, None]
    scaled = targets if root is None else root * targets
    factor, _ = _factor(among, LANDMARK_RIDGE)
    m, parts = len(among), [slice(top, top + BLOCK_NODES) for top in range(0, len(targets), BLOCK_NODES)]
    gram, moment = among.new_zeros(m, m), targets.new_zeros(m, targets.shape[1])
    # In one piece: matrices that stay, made between others that do not, would leave gaps nobody can use.
    phis = among.new_empty(len(targets), m)
    for part in parts:
        rows = to_landmarks(part)
        rows = rows if root is None else root[part] * rows
        phi = phis[part].T  # [m, b]
        torch.linalg.solve_triangular(factor, rows.T, upper=False, out=phi)
        _add_lower_square(gram, phi)
        moment += phi @ scaled[part]
    inner, _ = _factor(gram, ridge)
    weight = torch.cholesky_solve(moment, inner)
    left_out, own = torch.empty_like(scaled), torch.empty_like(scaled)
    for part in parts:
        phi = phis[part].T
        leverage = torch.linalg.solve_triangular(inner, phi, upper=False).square_().sum(dim=0)
        scores = phi.T @ weight
        share = (leverage / (1 - leverage).clamp_min(1e-6))[:, None]
        own[part] = share * (scaled[part] - scores)
        left_out[part] = scores - own[part]
    if root is not None:
        own, left_out = own / root, left_out / root
    return Ridge(torch.linalg.solve_triangular(factor.T, weight, upper=True), own), left_out


def _add_lower_square(gram: Tensor, phi: Tensor) -> None:
    """Add Φ Φᵀ to a matrix of which only the lower triangle is read, in strips."""
    for top in range(0, len(gram), STRIP):
        end = top + STRIP
        gram[top:end, :end].addmm_(phi[top:end], phi[:end].T)


def inverse_of(kernel: Tensor, ridge: float) -> tuple[Tensor, float]:
    """Return (K + λI)⁻¹, and the λ that was used."""
    factor, added = _factor(kernel, ridge)
    return torch.cholesky_inverse(factor), added


def _factor(kernel: Tensor, ridge: float) -> tuple[Tensor, float]:
    """Return the Cholesky factor of K + λI, with a larger λ if need be, and that λ."""
    scale = float(kernel.diagonal().mean())
    for shift in SHIFTS:
        added = ridge + shift * scale
        shifted = kernel.clone()
        shifted.diagonal().add_(added)
        factor, failed = torch.linalg.cholesky_ex(shifted)
        if not failed:
            return factor, added
    raise ValueError("the kernel is not positive definite: its values are not finite")
