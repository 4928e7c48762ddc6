"""GOAL: a stack of Complemented Graph Convolutions."""

from otherhalf.nn.backbone import Backbone
from otherhalf.nn.conv import ComplementedGraphConv


class GOAL(Backbone):
    r"""A node classifier over both halves of a graph (GOAL, https://arxiv.org/abs/2306.07608, Section 5).

    .. math::
        \mathbf{H}^{l+1} = \sigma((\alpha\mathbf{I} + \beta\hat{\mathbf{A}}_o - \gamma\hat{\mathbf{A}}_t
        - \delta\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o)\,\mathbf{H}^l\mathbf{W}^l),
        \quad \mathbf{H}^0 = \mathbf{X}

    Call it as ``model(inputs, homophilic, heterophilic)``. The layer options are those of
    :class:`~otherhalf.nn.conv.ComplementedGraphConv`. With ``learn_coefficients`` it is GOAL\ :sub:`at`:
    every layer learns its four coefficients.
    """

    layer = ComplementedGraphConv

    def coefficients(self) -> list[tuple[float, float, float, float]]:
        """Return α, β, γ, δ of every layer."""
        return [
            layer.coefficients.values() for layer in self.layers if isinstance(layer, ComplementedGraphConv)
        ]
