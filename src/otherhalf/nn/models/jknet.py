"""JKNet."""

from dataclasses import replace

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.gcn import GCN


class JKNet(GCN):
    """Jumping Knowledge (Xu et al. 2018, https://arxiv.org/abs/1806.03536).

    A GCN that predicts from all its hidden states, concatenated.

    Call it as ``model(inputs, adjacency_with_self_loops)``.
    """

    def __init__(
        self, num_features: int, num_classes: int, num_known: int, architecture: Architecture | None = None
    ) -> None:
        chosen = replace(architecture or Architecture(), output="linear")
        super().__init__(num_features, num_classes, num_known, chosen)
