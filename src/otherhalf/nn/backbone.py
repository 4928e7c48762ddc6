"""The backbone of all models: they differ in their layer only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.errors import InputError
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.ops.dropout import dropout
from otherhalf.nn.ops.sparse import Features, SparseOperator, mapped
from otherhalf.system.fields import flag, integer, number, one_of, setting

NORMS: dict[str, Callable[[int], nn.Module]] = {
    "none": lambda width: nn.Identity(),
    "layer": nn.LayerNorm,
    "batch": nn.BatchNorm1d,
}
TRUNKS = ("none", "features", "features+neighbours", "features+labels")
AUTO_TRUNK = "auto"


@dataclass(frozen=True)
class Architecture:
    """Size of a model, and the parts around its layers.

    Attributes:
        hidden: Width of the hidden layers.
        layers: Number of layers of the model's kind.
        dropout: Share of entries dropped at the input of every layer.
        norm: ``none``, ``layer`` or ``batch``: between the layers, before the activation.
        residual: Whether each layer adds a linear map of its input.
        trunk: The part before the first layer: ``none``; a linear layer over the ``features``; one over
            ``features+neighbours``, the features and the rows of the adjacency matrix (as in LINKX); or one
            over ``features+labels``, the features and the labels of other nodes (as in UniMP). ``auto`` is
            for GOAL's settings only, where the encoder decides. Adjacency rows and labels have no dropout:
            nodes differ little there (measured on adjacency rows: 4 points worse with dropout).
        output: The prediction layer: one more layer of the model's kind (``layer``), or a ``linear`` map of
            all hidden states side by side.
    """

    hidden: int = setting(64, integer(1, 100_000))
    layers: int = setting(2, integer(1, 1_000))
    dropout: float = setting(0.5, number(0, 1, below=True))
    norm: str = setting("none", one_of(*NORMS))
    residual: bool = setting(False, flag())
    trunk: str = setting("none", one_of(*TRUNKS, AUTO_TRUNK))
    output: str = setting("layer", one_of("layer", "linear"))

    @property
    def reads_labels(self) -> bool:
        """Whether labels of other nodes are among the inputs."""
        return self.trunk == "features+labels"


class SparseLinear(nn.Module):
    """x W + b for dense or sparse x. The sum with a second map ``beside`` is one product: x (W + V)."""

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
    """X W_x + b, with ``neighbours`` + A W_a, and with ``labels`` (a number of classes) + Y W_y."""

    def __init__(
        self, num_features: int, num_known: int, width: int, *, neighbours: bool, labels: int = 0
    ) -> None:
        super().__init__()
        self.features = SparseLinear(num_features, width)
        self.neighbours = SparseLinear(num_known, width, bias=False) if neighbours else None
        self.labels = SparseLinear(labels, width, bias=False) if labels else None

    def forward(
        self, features: Features, neighbours: SparseOperator | None, labels: Tensor | None = None
    ) -> Tensor:
        """Return one hidden state per node."""
        h: Tensor = self.features(features)
        if self.neighbours is not None:
            h = h + self.neighbours(neighbours)
        if self.labels is not None:
            if labels is None:
                raise ValueError("this model reads labels: give NodeInputs with labels")
            h = h + self.labels(labels)
        return h


LayerFactory = Callable[..., nn.Module]
"""Makes a layer from its two widths and its options; the layer is called with (h, *operators).

A layer that adds a linear map of its input to something else may declare ``absorbs_residual = True``. It is
then called with (h, *operators, residual=map), and adds that map to its own map before the product.
"""


class Backbone(nn.Module):
    r"""[trunk] → L × (dropout → layer [+ linear] → norm → ReLU) → prediction layer.

    With ``output="layer"`` the L-th layer is the prediction layer, as in the paper:
    :math:`\mathbf{H}^{l+1} = \sigma(\mathrm{layer}(\mathbf{H}^l))`, no :math:`\sigma` on the last.
    A model is a subclass that sets ``layer``.

    Args:
        num_features: D.
        num_classes: C.
        num_known: N of the graph that is fitted: the width of an adjacency row.
        architecture: Size, norm, residual, trunk and output.
        layer_options: Arguments of ``layer`` after its two widths.
    """

    layer: ClassVar[LayerFactory]

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        num_known: int,
        architecture: Architecture | None = None,
        **layer_options: Any,
    ) -> None:
        super().__init__()
        self.architecture = chosen = architecture or Architecture()
        if chosen.trunk not in TRUNKS:
            raise InputError(f"trunk must be one of {', '.join(TRUNKS)} in a model, not {chosen.trunk!r}")
        self.trunk = None
        width = num_features
        widths_seen = []
        if chosen.trunk != "none":
            both, labels = chosen.trunk == "features+neighbours", num_classes if chosen.reads_labels else 0
            self.trunk = Trunk(num_features, num_known, chosen.hidden, neighbours=both, labels=labels)
            self.trunk_norm = NORMS[chosen.norm](chosen.hidden)
            width = chosen.hidden
            widths_seen.append(width)
        hidden_layers = chosen.layers if chosen.output == "linear" else chosen.layers - 1
        widths_out = [chosen.hidden] * hidden_layers
        widths_seen += widths_out
        if chosen.output == "layer":
            widths_out.append(num_classes)
        pairs = list(zip([width, *widths_out[:-1]], widths_out, strict=True))
        make = type(self).layer
        self.layers = nn.ModuleList(make(i, o, **layer_options) for i, o in pairs)
        self.residuals = nn.ModuleList(SparseLinear(i, o) for i, o in pairs) if chosen.residual else None
        self.norms = nn.ModuleList(NORMS[chosen.norm](o) for o in widths_out[:hidden_layers])
        self.prediction = SparseLinear(sum(widths_seen), num_classes) if chosen.output == "linear" else None

    def forward(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """Return the logits of every node."""
        states, last = self._hidden_states(inputs, *operators)
        if self.prediction is not None:
            logits: Tensor = self.prediction(self._drop(torch.cat(states, dim=1)))
            return logits
        return self._apply_layer(len(self.layers) - 1, last, *operators)

    def on_sample(
        self, inputs: NodeInputs, layers: Sequence[tuple[int, tuple[Any, ...]]], seeds: int
    ) -> Tensor:
        """Return the logits of the first nodes of a sample (:mod:`~otherhalf.nn.subgraph`).

        Args:
            inputs: The inputs of the sampled nodes.
            layers: For each layer, how many of the nodes it reads and computes, and its operators.
            seeds: Number of nodes whose logits are wanted.
        """
        h: Features = inputs.features
        states: list[Tensor] = []
        if self.trunk is not None:
            h = self.start(inputs)
            states.append(h[:seeds])
        for index, (count, operators) in enumerate(layers):
            h = self.layer_states(index, h if isinstance(h, SparseOperator) else h[:count], *operators)
            if index < len(self.norms):
                states.append(h[:seeds])
        if self.prediction is not None:
            logits: Tensor = self.prediction(self._drop(torch.cat(states, dim=1)))
            return logits
        if isinstance(h, SparseOperator):
            raise ValueError("a model without layers has no logits")
        return h[:seeds]

    def start(self, inputs: NodeInputs) -> Tensor:
        """Return the states that the first layer reads, of a model with a trunk."""
        if self.trunk is None:
            raise ValueError("a model without a trunk reads the features")
        trunk = self.trunk(self._drop(inputs.features), inputs.neighbours, inputs.labels)
        return F.relu(self.trunk_norm(trunk))

    def layer_states(self, index: int, h: Features, *operators: Any) -> Tensor:
        """Return the states after a layer; the logits, if it is the prediction layer."""
        out = self._apply_layer(index, h, *operators)
        return F.relu(self.norms[index](out)) if index < len(self.norms) else out

    def embed(self, inputs: NodeInputs, *operators: Any) -> Tensor:
        """Return the hidden state of every node before the prediction layer."""
        states, last = self._hidden_states(inputs, *operators)
        if self.prediction is not None:
            return torch.cat(states, dim=1)
        if isinstance(last, SparseOperator):
            raise ValueError("a model of one layer has no hidden state: use two or more layers")
        return last

    def _hidden_states(self, inputs: NodeInputs, *operators: Any) -> tuple[list[Tensor], Features]:
        h: Features = inputs.features
        states = []
        if self.trunk is not None:
            h = self.start(inputs)
            states.append(h)
        for index in range(len(self.norms)):
            h = self.layer_states(index, h, *operators)
            states.append(h)
        return states, h

    def _apply_layer(self, index: int, h: Features, *operators: Any) -> Tensor:
        dropped = self._drop(h)
        layer = self.layers[index]
        if self.residuals is not None and getattr(layer, "absorbs_residual", False):
            absorbed: Tensor = layer(dropped, *operators, residual=self.residuals[index])
            return absorbed
        out: Tensor = layer(dropped, *operators)
        return out if self.residuals is None else out + self.residuals[index](dropped)

    def _drop(self, h: Any) -> Any:
        p = self.architecture.dropout if self.training else 0.0
        return h.dropout(p) if isinstance(h, SparseOperator) else dropout(h, p)
