"""The classifier over both halves: convolutions, label messages and spread scores in one prediction."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.nn.backbone import NORMS, Architecture, Trunk
from otherhalf.nn.conv import ComplementedGraphConv
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.ops.dropout import dropout
from otherhalf.nn.ops.sparse import SparseOperator

MESSAGE_WIDTH = 32
MESSAGE_DROPOUT = 0.2
COEFFICIENTS = (1.0, 1.0, 0.5, 0.5)


@dataclass(frozen=True, eq=False)
class BothHalves:
    """What the classifier reads besides the features.

    Attributes:
        homophilic: Â_o.
        heterophilic: Â_t.
        messages: ``[N, M]`` label messages over both halves.
        scores: ``[N, C]`` spread scores S, or None.
    """

    homophilic: SparseOperator
    heterophilic: SparseOperator
    messages: Tensor
    scores: Tensor | None = None

    def to(self, device: torch.device | str) -> "BothHalves":
        """Return the same on another device."""
        scores = None if self.scores is None else self.scores.to(device)
        halves = self.homophilic.to(device), self.heterophilic.to(device)
        return BothHalves(*halves, self.messages.to(device), scores)


class ComplementedNet(nn.Module):
    r"""Complemented Graph Convolutions with label messages at the output.

    .. math::
        \mathbf{H}_0 &= \sigma(\mathrm{norm}(\mathbf{X}\mathbf{W}_0 + \mathbf{b}_0)), \quad
        \mathbf{H}_{l} = \sigma(\mathrm{norm}((\alpha\mathbf{I} + \beta\hat{\mathbf{A}}_o
        - \gamma\hat{\mathbf{A}}_t - \delta\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o)
        \mathbf{H}_{l-1}\mathbf{W}_l + \mathbf{b}_l)) \\
        \mathbf{O} &= [\mathbf{H}_0 \| \dots \| \mathbf{H}_L \| \sigma(\mathbf{M}\mathbf{W}_m + \mathbf{b}_m)
        \| \mathbf{M}]\,\mathbf{W} + \mathbf{b} + \tau\mathbf{S}

    with M the standardised label messages and S the spread scores. Labels enter at the output only: passed on
    by a convolution, they would come back to their own node (i → j → i).

    Args:
        num_features: D.
        num_classes: C.
        num_messages: Columns of M; 0 for a classifier without label messages.
        architecture: Width, number of convolutions, dropout and norm.
        scores: Whether S is added.
        coefficients: Start of α, β, γ, δ.
        learn_coefficients: Whether training moves them.
    """

    message_mean: Tensor
    message_deviation: Tensor

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        num_messages: int,
        architecture: Architecture,
        *,
        scores: bool = True,
        coefficients: tuple[float, ...] = COEFFICIENTS,
        learn_coefficients: bool = True,
    ) -> None:
        super().__init__()
        self.dropout, width, layers = architecture.dropout, architecture.hidden, architecture.layers
        norm = NORMS[architecture.norm]
        self.trunk = Trunk(num_features, 0, width, neighbours=False)
        self.trunk_norm = norm(width)
        self.layers = nn.ModuleList(
            ComplementedGraphConv(
                width, width, coefficients, learn_coefficients=learn_coefficients, bias=True
            )
            for _ in range(layers)
        )
        self.norms = nn.ModuleList(norm(width) for _ in range(layers))
        seen = (1 + layers) * width
        self.messages = nn.Linear(num_messages, MESSAGE_WIDTH) if num_messages else None
        self.prediction = nn.Linear(seen + (num_messages + MESSAGE_WIDTH if num_messages else 0), num_classes)
        self.tau = nn.Parameter(torch.ones(1)) if scores else None
        self.register_buffer("message_mean", torch.zeros(num_messages))
        self.register_buffer("message_deviation", torch.ones(num_messages))

    def standardise(self, messages: Tensor) -> None:
        """Take the mean and deviation of the messages of the fitted graph, if it reads messages."""
        if self.messages is None:
            return
        self.message_mean.copy_(messages.mean(dim=0))
        self.message_deviation.copy_(messages.std(dim=0) + 1e-3)

    def forward(self, inputs: NodeInputs, halves: BothHalves) -> Tensor:
        """Return the logits of every node."""
        p = self.dropout if self.training else 0.0
        x = inputs.features
        x = x.dropout(p) if isinstance(x, SparseOperator) else dropout(x, p)
        states = [F.relu(self.trunk_norm(self.trunk(x, None)))]
        for layer, norm in zip(self.layers, self.norms, strict=True):
            h = layer(dropout(states[-1], p), halves.homophilic, halves.heterophilic)
            states.append(F.relu(norm(h)))
        if self.messages is None:
            logits: Tensor = self.prediction(dropout(torch.cat(states, dim=1), p))
        else:
            m = (halves.messages - self.message_mean) / self.message_deviation
            m = F.dropout(m, MESSAGE_DROPOUT, self.training)
            hidden = dropout(torch.cat([*states, F.relu(self.messages(m))], dim=1), p)
            logits = self.prediction(torch.cat([hidden, m], dim=1))
        if self.tau is None or halves.scores is None:
            return logits
        return logits + self.tau * halves.scores

    def coefficients(self) -> list[tuple[float, float, float, float]]:
        """Return α, β, γ, δ of every convolution."""
        return [
            layer.coefficients.values() for layer in self.layers if isinstance(layer, ComplementedGraphConv)
        ]
