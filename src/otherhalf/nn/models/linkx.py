"""LINKX."""

from dataclasses import replace

import torch
from torch import Tensor

from otherhalf.nn.backbone import Architecture, SparseLinear, Trunk
from otherhalf.nn.models.mlp import MLP
from otherhalf.nn.ops.sparse import Features, SparseOperator


class LinkxTrunk(Trunk):
    r"""The first layer of LINKX, which combines adjacency rows and features.

    .. math::
        \mathbf{H} = [\mathbf{H}_A \,\|\, \mathbf{H}_X]\mathbf{W} + \mathbf{b} + \mathbf{H}_A + \mathbf{H}_X,
        \quad \mathbf{H}_A = \mathbf{A}\mathbf{W}_A,
        \quad \mathbf{H}_X = \mathbf{X}\mathbf{W}_X + \mathbf{b}_X
    """

    def __init__(self, num_features: int, num_known: int, width: int) -> None:
        super().__init__(num_features, num_known, width, neighbours=True)
        self.mix = SparseLinear(2 * width, width)

    def forward(
        self, features: Features, neighbours: SparseOperator | None, labels: Tensor | None = None
    ) -> Tensor:
        """Return one hidden state per node; it reads no labels."""
        if self.neighbours is None or neighbours is None:
            raise ValueError("LINKX reads adjacency rows: give NodeInputs with neighbours")
        of_rows: Tensor = self.neighbours(neighbours)
        of_features: Tensor = self.features(features)
        mixed: Tensor = self.mix(torch.cat([of_rows, of_features], dim=1))
        return mixed + of_rows + of_features


class LINKX(MLP):
    r"""LINKX (Lim et al. 2021, https://arxiv.org/abs/2110.14446).

    .. math:: \mathrm{MLP}(\sigma(\mathbf{H})), \quad \mathbf{H} \text{ of } LinkxTrunk

    The model passes no messages: it reads the features and the adjacency row of every node.
    """

    def __init__(
        self, num_features: int, num_classes: int, num_known: int, architecture: Architecture | None = None
    ) -> None:
        chosen = replace(architecture or Architecture(), trunk="features+neighbours")
        super().__init__(num_features, num_classes, num_known, chosen)
        self.trunk = LinkxTrunk(num_features, num_known, chosen.hidden)
