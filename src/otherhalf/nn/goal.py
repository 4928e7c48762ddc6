"""GOAL: Complemented Graph Convolutions, one on the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import nn

from otherhalf.nn.backbone import Architecture, Backbone
from otherhalf.nn.conv import ComplementedGraphConv

if TYPE_CHECKING:  # settings.py itself reads what a frame can be from this package
    from otherhalf.estimators.settings import GOALSettings


class GOAL(Backbone):
    r"""A node classifier over both halves of a graph (GOAL, ICML 2023, Section 5).

    .. math::
        \mathbf{H}^{l+1} = \sigma((\alpha\mathbf{I} + \beta\hat{\mathbf{A}}_o - \gamma\hat{\mathbf{A}}_t
        - \delta\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o)\,\mathbf{H}^l\mathbf{W}^l),
        \quad \mathbf{H}^0 = \mathbf{X}

    Call it as ``model(inputs, homophilic, heterophilic)``. With ``learn_coefficients`` it is
    GOAL\ :sub:`at`: every layer learns the four coefficients of its own.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        num_known: int,
        shape: Architecture | None = None,
        coefficients: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
        *,
        learn_coefficients: bool = False,
        bias: bool = False,
    ) -> None:
        def make_layer(width_in: int, width_out: int) -> nn.Module:
            return ComplementedGraphConv(
                width_in, width_out, coefficients, learn_coefficients=learn_coefficients, bias=bias
            )

        super().__init__(make_layer, num_features, num_classes, num_known, shape or Architecture())

    def coefficients(self) -> list[tuple[float, float, float, float]]:
        """α, β, γ, δ of every layer."""
        return [
            layer.coefficients.values() for layer in self.layers if isinstance(layer, ComplementedGraphConv)
        ]


def build_goal(num_features: int, num_classes: int, num_known: int, settings: GOALSettings) -> GOAL:
    """The untrained classifier that the settings describe."""
    return GOAL(
        num_features,
        num_classes,
        num_known,
        settings.shape,
        settings.coefficients,
        learn_coefficients=settings.learn_coefficients,
        bias=settings.bias,
    )
