"""Supervised training of a node classifier: cross-entropy on train, early stopping on val."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, FloatArray, IntArray
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import SILENT, Monitor, TrainingSettings, train
from otherhalf.training.metrics import metric_named


@dataclass(frozen=True)
class Supervision:
    """Split, seed, metric and monitor of a fit.

    Attributes:
        split: Labels of ``train`` teach, labels of ``val`` select; no other label is read.
        seed: Seed of weights, dropout and samples.
        metric: Name of the metric that the validation nodes select by.
        monitor: Keeps the state of the stages, and is given their progress.
    """

    split: Split
    seed: int = 0
    metric: str = "accuracy"
    monitor: Monitor = SILENT


def check_trainable(graph: Graph, split: Split) -> None:
    """Raise InputError if nothing can be learned from this graph and split."""
    graph.require_labels("training")
    split.check_against(graph)
    for part, why in (("train", "to learn from"), ("val", "to stop and select by")):
        nodes = getattr(split, part)
        if len(nodes) == 0:
            raise InputError(f"the split has no {part} nodes {why}: give a split with some")
        if (graph.y[nodes] == UNKNOWN).any():
            raise InputError(f"a {part} node of the split has no label: take labelled nodes only")
    if len(np.unique(graph.y[split.train])) < 2:
        raise InputError("all training nodes have one class: give a split whose train part has two or more")


def fit_supervised(
    module: nn.Module,
    arguments: tuple[Any, ...],
    graph: Graph,
    settings: TrainingSettings,
    supervision: Supervision,
    stage: str = "classifier",
) -> History:
    """Train a classifier by cross-entropy; keep the weights with the best metric, then loss, on validation.

    Args:
        module: The classifier.
        arguments: What it is called with.
        graph: The graph; only the labels of train and val nodes are read.
        settings: Learning rate, decay, length and patience.
        supervision: Split, metric and monitor.
        stage: Name of this training among the stages of a fit.
    """
    split = supervision.split
    device = next(module.parameters()).device
    # Copies of the labels of the two parts: the code below cannot read any other label.
    train_labels = torch.full((graph.num_nodes,), UNKNOWN)
    train_labels[np.array(split.train)] = torch.from_numpy(graph.y[split.train])
    train_labels = train_labels.to(device)
    val_codes = np.array(graph.y[split.val])
    train_nodes, val_nodes = (torch.from_numpy(np.array(p)).to(device) for p in (split.train, split.val))
    val_labels = torch.from_numpy(val_codes).to(device)
    quality = metric_named(supervision.metric).quality_of_logits

    def loss(batch: Tensor) -> Tensor:
        return F.cross_entropy(module(*arguments)[batch], train_labels[batch])

    def score() -> tuple[float, float]:
        logits = module(*arguments)[val_nodes]
        return quality(logits.cpu().numpy(), val_codes), -float(F.cross_entropy(logits, val_labels))

    return train(module, loss, [train_nodes], score, settings, stage=stage, monitor=supervision.monitor)


def fit_epochs(
    module: nn.Module,
    arguments: tuple[Any, ...],
    graph: Graph,
    settings: TrainingSettings,
    nodes: IntArray,
    stage: str = "classifier",
    monitor: Monitor = SILENT,
) -> History:
    """Train a classifier by cross-entropy on these nodes for all epochs of the settings; nothing is selected.

    Args:
        module: The classifier.
        arguments: What it is called with.
        graph: The graph; only the labels of ``nodes`` are read.
        settings: Learning rate, decay and length.
        nodes: The labelled nodes to learn from.
        stage: Name of this training among the stages of a fit.
        monitor: Checkpoint and progress of the stage.
    """
    device = next(module.parameters()).device
    labels = torch.full((graph.num_nodes,), UNKNOWN)
    labels[np.array(nodes)] = torch.from_numpy(graph.y[nodes])
    labels, batch = labels.to(device), torch.from_numpy(np.array(nodes)).to(device)

    def loss(part: Tensor) -> Tensor:
        return F.cross_entropy(module(*arguments)[part], labels[part])

    return train(
        module, loss, [batch], lambda: (0.0,), settings, stage=stage, monitor=monitor, keep_last=True
    )


def class_probabilities(module: nn.Module, *arguments: Any) -> FloatArray:
    """Return ``[N, C]``: the softmax of the module's logits, in evaluation mode."""
    module.eval()
    with torch.no_grad():
        probabilities: FloatArray = torch.softmax(module(*arguments), dim=1).cpu().numpy()
    return probabilities
