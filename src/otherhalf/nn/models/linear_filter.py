"""Linear spectral filters as networks (Appendix B)."""

from torch import Tensor, nn

from otherhalf.errors import InputError
from otherhalf.nn.backbone import Backbone, SparseLinear
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

    The two filters that Appendix B prints are the same layer: :math:`-\hat{\mathbf{A}}\mathbf{H}\mathbf{W} =
    \hat{\mathbf{A}}\mathbf{H}(-\mathbf{W})`, with any activation after it, and **W** is free. Their |F| is
    the same at every frequency, so neither is more low-pass than the other: an experiment with them can
    only show chance. The other two differ: one removes the highest frequency (λ = 2), the other the
    lowest (λ = 0), and no **W** can restore it.
    """

    def __init__(self, in_channels: int, out_channels: int, *, kind: str = "low") -> None:
        super().__init__()
        if kind not in FILTERS:
            raise InputError(f"filter must be one of {', '.join(FILTERS)}, not {kind!r}")
        self.a, self.b = FILTERS[kind]
        self.linear = SparseLinear(in_channels, out_channels, bias=False)

    def forward(self, x: Features, adjacency: SparseOperator) -> Tensor:
        """Filter ``x``; ``adjacency`` is Â without self loops."""
        h: Tensor = self.linear(x)
        return self.a * h + self.b * (adjacency @ h)


class LinearFilterNetwork(Backbone):
    """Layers σ((aI + bÂ)HW) of one filter, no σ on the last (Appendix B).

    Call it as ``model(inputs, adjacency_without_self_loops)``.
    """

    layer = LinearFilter
