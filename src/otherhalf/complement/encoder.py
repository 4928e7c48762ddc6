"""The pretrained encoder: Z_gnn = GNN(G), trained by cross-entropy (Section 4.2)."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from otherhalf.complement.settings import AUTO, WITHOUT_NORM, EncoderSettings
from otherhalf.graph import Split
from otherhalf.nn.backbone import Backbone
from otherhalf.nn.models.registry import build, model_spec, resolve_options
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import SILENT, Monitor, seeded
from otherhalf.training.supervised import class_probabilities, fit_supervised

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


def pretrain(
    prepared: PreparedGraph,
    split: Split,
    settings: EncoderSettings,
    seed: int,
    *,
    metric: str = "accuracy",
    monitor: Monitor = SILENT,
) -> Encoder:
    """Train the encoder; with ``auto``, train each of AUTO_KINDS and keep the best on the validation nodes.

    Args:
        prepared: The graph.
        split: Labels of ``train`` teach, labels of ``val`` select; no other label is read.
        settings: Kind, architecture and training.
        seed: Seed of weights and dropout.
        metric: Metric on the validation nodes that selects.
        monitor: Checkpoints and progress of the stages.
    """
    trained = [
        _train_one(prepared, split, replace(settings, kind=kind), seed, metric, monitor)
        for kind in (AUTO_KINDS if settings.kind == AUTO else (settings.kind,))
    ]
    return max(trained, key=lambda encoder: encoder.history.best_score)


def _train_one(
    prepared: PreparedGraph, split: Split, settings: EncoderSettings, seed: int, metric: str, monitor: Monitor
) -> Encoder:
    graph, kind, architecture = prepared.graph, settings.kind, settings.architecture
    if kind == WITHOUT_NORM:
        kind, architecture = "gcn", replace(architecture, norm="none", residual=False)
    with seeded(seed):
        module = build(kind, *graph.sizes, architecture, resolve_options(kind, settings.own_options))
        module.to(prepared.device)
        history = fit_supervised(
            module,
            prepared.arguments(model_spec(kind).operators),
            graph,
            split,
            settings.training,
            metric=metric,
            stage=f"encoder-{settings.kind}",
            monitor=monitor,
        )
    return Encoder(kind, module, history)
