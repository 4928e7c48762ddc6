"""The one frame that every model here is built on; a model differs from another in its layer only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.nn.ops.dropout import dropout
from otherhalf.nn.ops.sparse import Features, SparseOperator, mapped

NORMS: dict[str, Callable[[int], nn.Module]] = {
    "none": lambda width: nn.Identity(),
    "layer": nn.LayerNorm,
    "batch": nn.BatchNorm1d,
}
TRUNKS = ("none", "features", "features+neighbours", "auto")
OUTPUTS = ("layer", "linear")


@dataclass(frozen=True)
class Architecture:
    """What every model can be told about its frame.

    Attributes:
        hidden: Width of the hidden layers.
        layers: Number of layers of the model's own kind.
        dropout: Share of entries dropped at the input of every layer.
        norm: ``none``, ``layer`` or ``batch``: between the layers, before the activation.
        residual: Whether each layer adds a linear map of its input.
        trunk: What stands before the first layer: ``none``, a linear layer over the ``features``, or over
            ``features+neighbours``: the features and the rows of the adjacency matrix (as in LINKX). With
            ``auto`` the classifier takes its frame from its encoder. Dropout leaves the adjacency
            rows alone: nodes are told apart by small differences there (measured, 4 points worse with it).
        output: The prediction layer: one more layer of the model's kind (``layer``), or a ``linear`` map of
            all hidden states side by side.
    """

    hidden: int = 64
    layers: int = 2
    dropout: float = 0.5
    norm: str = "none"
    residual: bool = False
    trunk: str = "none"
    output: str = "layer"


@dataclass(frozen=True)
class NodeInputs:
    """What a model is told about the nodes: features, and the adjacency rows where a model wants them."""

    features: Features
    neighbours: SparseOperator | None = None

    @property
    def num_nodes(self) -> int:
        """N."""
        return int(self.features.shape[0])

    @property
    def device(self) -> torch.device:
        """Where they are."""
        features = self.features
        return features.matrix.device if isinstance(features, SparseOperator) else features.device

    def to(self, device: torch.device | str) -> NodeInputs:
        """The same inputs on another device."""
        rows = None if self.neighbours is None else self.neighbours.to(device)
        return NodeInputs(self.features.to(device), rows)


class SparseLinear(nn.Module):
    """x W + b for dense or sparse x. The sum with a second map ``beside`` it takes one product: x (W + V)."""

    def __init__(self, in_channels: int, out_channels: int, *, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Features, beside: SparseLinear | None = None) -> Tensor:
        """Map every row of ``x``."""
        maps = [self] if beside is None else [self, beside]
        h = mapped(x, _sum([each.weight for each in maps]))
        biases = [each.bias for each in maps if each.bias is not None]
        return h + _sum(biases) if biases else h


def _sum(terms: list[nn.Parameter]) -> Tensor:
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


class Trunk(nn.Module):
    """X W_x + b, and + A W_a with ``features+neighbours``: a node is also known by whom it is joined to."""

    def __init__(self, num_features: int, num_known: int, width: int, *, neighbours: bool) -> None:
        super().__init__()
        self.features = SparseLinear(num_features, width)
        self.neighbours = SparseLinear(num_known, width, bias=False) if neighbours else None

    def forward(self, features: Features, neighbours: SparseOperator | None) -> Tensor:
        """One hidden state per node."""
        h: Tensor = self.features(features)
        if self.neighbours is not None:
            h = h + self.neighbours(neighbours)
        return h


LayerFactory = Callable[[int, int], nn.Module]
"""Makes a layer from its two widths; the layer is called with (h, *operators).

A layer that is a plain linear map of its input and something more may say ``absorbs_residual = True``. It is
called with (h, *operators, residual=map) then, and adds that map to its own before it multiplies.
"""


class Backbone(nn.Module):
    r"""[trunk] → L × (dropout → layer [+ linear] → norm → ReLU) → prediction layer.

    With ``output="layer"`` the L-th layer is the prediction layer, as in the paper:
    :math:`\mathbf{H}^{l+1} = \sigma(\mathrm{layer}(\mathbf{H}^l))`, no :math:`\sigma` on the last.

    Args:
        make_layer: Makes one layer of the model's kind from (width in, width out).
        num_features: D.
        num_classes: C.
        num_known: N of the graph that is fitted: the width of an adjacency row.
        shape: The frame.
    """

    def __init__(
        self,
        make_layer: LayerFactory,
        num_features: int,
        num_classes: int,
        num_known: int,
        shape: Architecture,
    ) -> None:
        super().__init__()
        self.shape = shape
        self.trunk = None
        width = num_features
        widths_seen = []
        if shape.trunk != "none":
            both = shape.trunk == "features+neighbours"
            self.trunk = Trunk(num_features, num_known, shape.hidden, neighbours=both)
            self.trunk_norm = NORMS[shape.norm](shape.hidden)
            width = shape.hidden
            widths_seen.append(width)
        hidden_layers = shape.layers if shape.output == "linear" else shape.layers - 1
        widths_out = [shape.hidden] * hidden_layers
        widths_seen += widths_out
        if shape.output == "layer":
            widths_out.append(num_classes)
        widths_in = [width, *widths_out[:-1]]
        pairs = list(zip(widths_in, widths_out, strict=True))
        self.layers = nn.ModuleList(make_layer(i, o) for i, o in pairs)
        self.residuals = nn.ModuleList(SparseLinear(i, o) for i, o in pairs) if shape.residual else None
        self.norms = nn.ModuleList(NORMS[shape.norm](o) for o in widths_out[:hidden_layers])
        self.prediction = SparseLinear(sum(widths_seen), num_classes) if shape.output == "linear" else None

    def forward(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """The logits of every node."""
        states, last = self._hidden_states(inputs, *operators)
        if self.prediction is not None:
            logits: Tensor = self.prediction(self._drop(torch.cat(states, dim=1)))
            return logits
        return self._apply_layer(len(self.layers) - 1, last, *operators)

    def embed(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """The hidden state before the prediction layer."""
        states, last = self._hidden_states(inputs, *operators)
        if self.prediction is not None:
            return torch.cat(states, dim=1)
        if isinstance(last, SparseOperator):
            raise ValueError("a model of one layer has nothing before its prediction layer: use two or more")
        return last

    def _hidden_states(self, inputs: NodeInputs, *operators: Any) -> tuple[list[Tensor], Features]:
        h: Features = inputs.features
        states = []
        if self.trunk is not None:
            h = F.relu(self.trunk_norm(self.trunk(self._drop(h), inputs.neighbours)))
            states.append(h)
        for index, norm in enumerate(self.norms):
            h = F.relu(norm(self._apply_layer(index, h, *operators)))
            states.append(h)
        return states, h

    def _apply_layer(self, index: int, h: Features, *operators: Any) -> Tensor:
        dropped = self._drop(h)
        layer = self.layers[index]
        if self.residuals is not None and getattr(layer, "absorbs_residual", False):
            whole: Tensor = layer(dropped, *operators, residual=self.residuals[index])
            return whole
        out: Tensor = layer(dropped, *operators)
        return out if self.residuals is None else out + self.residuals[index](dropped)

    def _drop(self, h: Any) -> Any:
        p = self.shape.dropout if self.training else 0.0
        return h.dropout(p) if isinstance(h, SparseOperator) else dropout(h, p)
