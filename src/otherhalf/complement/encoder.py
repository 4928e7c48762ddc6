"""The pretrained encoder: Z_gnn = GNN(G), trained by cross-entropy (Section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.estimators.settings import EncoderSettings
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Backbone, NodeInputs
from otherhalf.nn.models.registry import build, operators, walks_of
from otherhalf.system.graph_checks import FloatArray
from otherhalf.training.loop import Checkpoint, History, TrainingSettings, seeded, train
from otherhalf.training.metrics import score as score_of

AUTO = ("mlp", "gcn", "gcn-plain", "structure")
"""What ``auto`` chooses from.

GAT is left out: it takes much longer to train than a GCN, and on Cora and Citeseer it was better on the one
and worse on the other.
"""

PLAIN = "-plain"
"""Marks an encoder without norm and residual, which suits some graphs (citations) better."""


@dataclass(frozen=True)
class Encoder:
    """A trained encoder: which kind, the module, and how its training went.

    ``kind`` is one of the plain models; the frame it was given is ``module.shape``.
    """

    kind: str
    module: Backbone
    history: History

    def embed(self, graph: Graph, inputs: NodeInputs) -> Tensor:
        """Z_gnn: the hidden state of every node before the prediction layer."""
        self.module.eval()
        with torch.no_grad():
            return self.module.embed(inputs, *operators(self.kind, graph, inputs)).cpu()

    def probabilities(self, graph: Graph, inputs: NodeInputs) -> FloatArray:
        """``[N, C]`` the class probabilities of every node."""
        return class_probabilities(self.module, inputs, *operators(self.kind, graph, inputs))


def class_probabilities(module: nn.Module, *arguments: Any) -> FloatArray:
    """``[N, C]``: the softmax of the module's logits, in evaluation mode."""
    module.eval()
    with torch.no_grad():
        found: FloatArray = torch.softmax(module(*arguments), dim=1).cpu().numpy()
    return found


def pretrain(
    graph: Graph,
    split: Split,
    inputs: NodeInputs,
    settings: EncoderSettings,
    seed: int,
    *,
    metric: str = "accuracy",
    checkpoint: Callable[[str], Checkpoint | None] = lambda stage: None,
    on_epoch: Callable[[str, int, int], Any] | None = None,
) -> Encoder:
    """Train the encoder on the training nodes; with ``auto``, each kind, and keep the best on validation.

    Args:
        graph: The graph.
        split: Labels of ``train`` teach, labels of ``val`` select; no other label is read.
        inputs: The graph's node inputs.
        settings: Kind, frame and training.
        seed: Of weights and dropout.
        metric: What the validation nodes select by.
        checkpoint: Where each stage of the training keeps its state.
        on_epoch: Told (stage, epochs done, epochs at most).
    """
    kinds = AUTO if settings.kind == "auto" else (settings.kind,)
    best: Encoder | None = None
    for kind in kinds:
        stage, shape = f"encoder-{kind}", settings.shape
        walks = walks_of(kind, settings) if kind == settings.kind else {}
        if kind.endswith(PLAIN):
            kind, shape = kind.removesuffix(PLAIN), replace(shape, norm="none", residual=False)
        with seeded(seed):
            module = build(kind, graph.num_features, graph.num_classes, graph.num_nodes, shape, **walks)
            module.to(inputs.device)
            history = fit_supervised(
                module,
                (inputs, *operators(kind, graph, inputs)),
                graph,
                split,
                settings.training,
                metric=metric,
                checkpoint=checkpoint(stage),
                on_epoch=None if on_epoch is None else partial(on_epoch, stage),
            )
        if best is None or history.best_score > best.history.best_score:
            best = Encoder(kind, module, history)
    if best is None:
        raise ValueError("no kind of encoder to train")
    return best


def fit_supervised(
    module: nn.Module,
    arguments: tuple[Any, ...],
    graph: Graph,
    split: Split,
    settings: TrainingSettings,
    *,
    metric: str = "accuracy",
    checkpoint: Checkpoint | None = None,
    on_epoch: Callable[[int, int], Any] | None = None,
) -> History:
    """Cross-entropy on the training nodes, early stopping on metric, then loss, of the validation nodes."""
    # Copies of the two parts only: no label outside them is within reach of what follows.
    device = next(module.parameters()).device
    train_nodes, val_nodes = (torch.from_numpy(np.array(p)).to(device) for p in (split.train, split.val))
    train_labels, val_labels = (torch.from_numpy(graph.y[p]).to(device) for p in (split.train, split.val))

    val_codes = np.array(graph.y[split.val])

    def loss() -> Tensor:
        return F.cross_entropy(module(*arguments)[train_nodes], train_labels)

    def score() -> tuple[float, float]:
        logits = module(*arguments)[val_nodes]
        quality = score_of(metric, logits.cpu().numpy(), val_codes)
        return quality, -float(F.cross_entropy(logits, val_labels))

    return train(module, loss, score, settings, checkpoint=checkpoint, on_epoch=on_epoch)
