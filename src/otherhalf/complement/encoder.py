"""The pretrained encoder: Z_gnn = GNN(G), trained by cross-entropy (Section 4.2)."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from otherhalf.complement.settings import AUTO, WITHOUT_NORM, EncoderSettings
from otherhalf.nn.backbone import Backbone
from otherhalf.nn.models.registry import build, model_spec, resolve_options
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray
from otherhalf.system.profile import stage
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import seeded
from otherhalf.training.supervised import Supervision, class_probabilities, fit_supervised

AUTO_KINDS = ("mlp", "gcn", WITHOUT_NORM, "structure")
"""Encoders that ``auto`` trains.

Not GAT: its training takes much longer than that of a GCN, and of Cora and Citeseer it was better on one and
worse on the other.
"""


@dataclass(frozen=True)
class Encoder:
    """A trained encoder: the name of its model, the module, and the history of its training."""

    kind: str
    module: Backbone
    history: History

    def embed(self, prepared: PreparedGraph) -> Tensor:
        """Return Z_gnn: the hidden state of every node before the prediction layer."""
        self.module.eval()
        with torch.no_grad():
            return self.module.embed(*self._arguments(prepared)).cpu()

    def probabilities(self, prepared: PreparedGraph) -> FloatArray:
        """Return the ``[N, C]`` class probabilities of every node."""
        return class_probabilities(self.module, *self._arguments(prepared))

    def _arguments(self, prepared: PreparedGraph) -> tuple[Any, ...]:
        self.module.to(prepared.device)
        return prepared.arguments(model_spec(self.kind).operators)


def pretrain(prepared: PreparedGraph, settings: EncoderSettings, supervision: Supervision) -> Encoder:
    """Train the encoder on the training nodes; with ``auto``, every kind, and keep the best on validation."""
    kinds = AUTO_KINDS if settings.kind == AUTO else (settings.kind,)
    trained = []
    for kind in kinds:
        with stage(f"encoder {kind}"):
            trained.append(_train_one(prepared, replace(settings, kind=kind), supervision))
    return max(trained, key=lambda encoder: encoder.history.best_score)


def _train_one(prepared: PreparedGraph, settings: EncoderSettings, supervision: Supervision) -> Encoder:
    graph, kind, architecture = prepared.graph, settings.kind, settings.architecture
    if kind == WITHOUT_NORM:
        kind, architecture = "gcn", replace(architecture, norm="none", residual=False)
    with seeded(supervision.seed):
        module = build(kind, *graph.sizes, architecture, resolve_options(kind, settings.own_options))
        module.to(prepared.device)
        arguments = prepared.arguments(model_spec(kind).operators)
        name = f"encoder-{settings.kind}"
        history = fit_supervised(module, arguments, graph, settings.training, supervision, name)
    return Encoder(kind, module, history)
