"""Linear spectral filters as networks (Appendix B)."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from otherhalf.errors import InputError
from otherhalf.nn.backbone import Architecture, Backbone, SparseLinear
from otherhalf.nn.ops.sparse import Features, SparseOperator

FILTERS: dict[str, tuple[float, float]] = {
    "low": (0.5, 0.5),
    "high": (0.5, -0.5),
    "low as printed": (0.0, 1.0),
    "high as printed": (0.0, -1.0),
}
"""(a, b) of the kernel aI + bÂ, that is F(λ) = a + b(1 − λ) of the Laplacian's eigenvalues λ in [0, 2]."""


class LinearFilter(nn.Module):
    r"""A linear filter of the Laplacian as a layer.

    .. math:: \mathbf{H}' = (a\mathbf{I} + b\hat{\mathbf{A}})\mathbf{H}\mathbf{W}

    :math:`\hat{\mathbf{A}}` is the normalised adjacency matrix without self loops. With
    :math:`\hat{\mathbf{L}} = \mathbf{I} - \hat{\mathbf{A}}` and its eigenvalues :math:`\lambda` the kernel
    is :math:`F(\hat{\mathbf{L}})`, :math:`F(\lambda) = a + b(1 - \lambda)`:

    ====================  ==========================================  ======================
    kind                  kernel                                      F(λ)
    ====================  ==========================================  ======================
    ``low as printed``    :math:`\hat{\mathbf{A}}`                    :math:`1 - \lambda`
    ``high as printed``   :math:`-\hat{\mathbf{A}}`                   :math:`\lambda - 1`
    ``low``               :math:`(\mathbf{I} + \hat{\mathbf{A}})/2`   :math:`1 - \lambda/2`
    ``high``              :math:`(\mathbf{I} - \hat{\mathbf{A}})/2`   :math:`\lambda/2`
    ====================  ==========================================  ======================

    The two that Appendix B prints are the same layer: :math:`-\hat{\mathbf{A}}\mathbf{H}\mathbf{W} =
    \hat{\mathbf{A}}\mathbf{H}(-\mathbf{W})`, whatever activation follows, and **W** is free. Their |F| is
    the same at every frequency, so that neither is more low-pass than the other: no experiment with them
    can show more than chance. The other two differ: one removes the highest frequency (λ = 2),
    the other the lowest (λ = 0), and no **W** undoes that.
    """

    def __init__(self, in_channels: int, out_channels: int, *, kind: str) -> None:
        super().__init__()
        if kind not in FILTERS:
            raise InputError(f"the filter {kind!r} is not known: choose one of {', '.join(FILTERS)}")
        self.own, self.neighbours = FILTERS[kind]
        self.linear = SparseLinear(in_channels, out_channels, bias=False)

    def forward(self, x: Features, adjacency: SparseOperator) -> Tensor:
        """Filter ``x``; ``adjacency`` is Â without self loops."""
        h: Tensor = self.linear(x)
        return self.own * h + self.neighbours * (adjacency @ h)


class LinearFilterNetwork(Backbone):
    """Layers σ((aI + bÂ)HW) of one filter, no σ on the last (Appendix B).

    Call it as ``model(inputs, adjacency_without_self_loops)``.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        num_known: int,
        shape: Architecture | None = None,
        *,
        kind: str = "low",
    ) -> None:
        make_layer = partial(LinearFilter, kind=kind)
        super().__init__(make_layer, num_features, num_classes, num_known, shape or Architecture())
