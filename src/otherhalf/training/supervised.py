"""Supervised training of a node classifier: cross-entropy on train, early stopping on val."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Backbone
from otherhalf.nn.inputs import NodeInputs
from otherhalf.system.arrays import UNKNOWN, FloatArray, IntArray
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import SILENT, Monitor, Training, TrainingSettings, train
from otherhalf.training.metrics import metric_named

HIDDEN_SHARE = 0.5
"""Share of the training nodes whose labels a step hides, where labels are inputs."""

GROUPS = 5
"""Number of groups in which training nodes are predicted without their labels."""


@dataclass(frozen=True)
class Supervision:
    """Split, seed, metric and monitor of a fit.

    Attributes:
        split: Labels of ``train`` teach, labels of ``val`` select; no other label is read.
        seed: Seed of weights, dropout and samples.
        metric: Name of the metric that the validation nodes select by.
        monitor: Keeps the state of the stages, and is given their progress.
        class_weights: ``[C]``: how much a node of each class counts; None where all count the same.
    """

    split: Split
    seed: int = 0
    metric: str = "accuracy"
    monitor: Monitor = SILENT
    class_weights: FloatArray | None = None


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
    """Train a classifier to the end (:func:`supervised_training`); return its history."""
    return supervised_training(module, arguments, graph, settings, supervision, stage).run()


def supervised_training(
    module: nn.Module,
    arguments: tuple[Any, ...],
    graph: Graph,
    settings: TrainingSettings,
    supervision: Supervision,
    stage: str = "classifier",
) -> Training:
    """Train a classifier by cross-entropy; keep the weights with the best metric, then loss, on validation.

    Where the inputs show labels, each step hides those of a random part of the training nodes
    (:data:`HIDDEN_SHARE`), and the loss is over that part: the classifier never learns from a node that reads
    its own label (https://arxiv.org/abs/2009.03509).

    Args:
        module: The classifier.
        arguments: What it is called with; if the first are node inputs with labels, those of train only.
        graph: The graph; only the labels of train and val nodes are read.
        settings: Learning rate, decay, length and patience.
        supervision: Split, metric, monitor and weights of the classes.
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
    weight = _as_tensor(supervision.class_weights, device)

    def loss(batch: Tensor) -> Tensor:
        return _loss(module, arguments, train_labels, batch, weight)

    judged, places = arguments, val_nodes
    if isinstance(module, Backbone) and len(arguments) == 1:  # no edges: a node's logits are its own affair
        judged, places = (arguments[0].rows(val_nodes),), torch.arange(len(val_nodes), device=device)

    def score() -> tuple[float, float]:
        logits = module(*judged)[places]
        likelihood = -float(F.cross_entropy(logits, val_labels, weight=weight))
        return quality(logits.cpu().numpy(), val_codes), likelihood

    return Training(module, loss, [train_nodes], score, settings, stage=stage, monitor=supervision.monitor)


def fit_epochs(
    module: nn.Module,
    arguments: tuple[Any, ...],
    graph: Graph,
    settings: TrainingSettings,
    nodes: IntArray,
    stage: str = "classifier",
    monitor: Monitor = SILENT,
    class_weights: FloatArray | None = None,
) -> History:
    """Train a classifier by cross-entropy on these nodes for all epochs of the settings; nothing is selected.

    Args:
        module: The classifier.
        arguments: What it is called with, as in :func:`fit_supervised`.
        graph: The graph; only the labels of ``nodes`` are read.
        settings: Learning rate, decay and length.
        nodes: The labelled nodes to learn from.
        stage: Name of this training among the stages of a fit.
        monitor: Checkpoint and progress of the stage.
        class_weights: ``[C]`` weights of the classes; None where all nodes count the same.
    """
    device = next(module.parameters()).device
    weight = _as_tensor(class_weights, device)
    labels = torch.full((graph.num_nodes,), UNKNOWN)
    labels[np.array(nodes)] = torch.from_numpy(graph.y[nodes])
    labels, batch = labels.to(device), torch.from_numpy(np.array(nodes)).to(device)

    def loss(part: Tensor) -> Tensor:
        return _loss(module, arguments, labels, part, weight)

    return train(
        module, loss, [batch], lambda: (0.0,), settings, stage=stage, monitor=monitor, keep_last=True
    )


def _as_tensor(weights: FloatArray | None, device: torch.device) -> Tensor | None:
    return None if weights is None else torch.from_numpy(weights).to(device)


def _loss(
    module: nn.Module, arguments: tuple[Any, ...], labels: Tensor, batch: Tensor, weight: Tensor | None
) -> Tensor:
    """Return the cross-entropy of a batch; with labels among the inputs, of a random part of it."""
    if shows_labels(arguments):
        hidden = torch.rand(len(batch), device=batch.device) < HIDDEN_SHARE
        batch = batch[hidden] if bool(hidden.any()) else batch
        arguments = (arguments[0].hiding(batch), *arguments[1:])
    return F.cross_entropy(module(*arguments)[batch], labels[batch], weight=weight)


def shows_labels(arguments: tuple[Any, ...]) -> bool:
    """Whether labels are among the inputs that a module is called with."""
    inputs = arguments[0] if arguments else None
    return isinstance(inputs, NodeInputs) and inputs.labels is not None


def unread_probabilities(module: nn.Module, arguments: tuple[Any, ...], nodes: IntArray) -> FloatArray:
    """Return class probabilities for which no node has read its own label.

    Args:
        module: The classifier.
        arguments: What it is called with.
        nodes: The nodes whose labels the inputs may show. They are predicted in :data:`GROUPS` groups, with
            the labels of the group hidden; all others are predicted with all labels.
    """
    probabilities = class_probabilities(module, *arguments)
    if shows_labels(arguments):
        for group in range(GROUPS):
            hidden = torch.from_numpy(np.array(nodes[group::GROUPS]))
            inputs = arguments[0].hiding(hidden.to(arguments[0].labels.device))
            probabilities[hidden] = class_probabilities(module, inputs, *arguments[1:])[hidden]
    return probabilities


def class_probabilities(module: nn.Module, *arguments: Any) -> FloatArray:
    """Return ``[N, C]``: the softmax of the module's logits, in evaluation mode."""
    module.eval()
    with torch.no_grad():
        probabilities: FloatArray = torch.softmax(module(*arguments), dim=1).cpu().numpy()
    return probabilities
