"""Supervised training over precomputed rows: mini-batches of training rows, validation in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.graph import Graph
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.training.checkpoint import History
from otherhalf.training.folds import stratified_folds
from otherhalf.training.loop import SILENT, Monitor, TrainingSettings, train
from otherhalf.training.metrics import metric_named
from otherhalf.training.supervised import Supervision

BATCH = 4096
"""Most rows of a step."""

MOST_ROWS = 200_000
"""Most rows of an epoch: with more, validation and early stopping would wait for a whole pass."""

MOST_JUDGED = 50_000
"""Most validation rows that judge an epoch; with more, a sample, always the same. A share of right answers
then has a standard error of 0.2 points at most."""

LEAST_STEPS = 16
"""Steps of an epoch at least: with fewer rows, batches are smaller."""

BLOCK = 1 << 16
"""Rows of a block of predictions."""

RowsOf = Callable[[IntArray], Any]
"""Returns what a module is called with for these nodes, which are sorted."""


class ShuffledBatches(Sequence[Tensor]):
    """Positions 0 … n − 1 in batches that torch's generator draws anew for every epoch; sorted in a batch.

    Of more than ``most`` positions an epoch has as many, drawn at random.
    """

    def __init__(self, count: int, size: int, most: int = MOST_ROWS) -> None:
        self.rows, self.size, self.most = count, size, most

    def __len__(self) -> int:
        return -(-min(self.rows, self.most) // self.size)

    @overload
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Tensor]: ...
    def __getitem__(self, index: int | slice) -> Tensor | Sequence[Tensor]:
        return list(self)[index]

    def __iter__(self) -> Iterator[Tensor]:
        order = torch.randperm(self.rows)[: self.most]
        # Equal batches: a last one of a few rows would weigh as much as the others.
        return (part.sort().values for part in torch.tensor_split(order, len(self)))


def batch_size(rows: int) -> int:
    """Return the rows of a step."""
    return max(1, min(BATCH, -(-rows // LEAST_STEPS)))


def judged_rows(val: IntArray, graph: Graph, seed: int) -> IntArray:
    """Return the validation rows that judge an epoch: of many a sample, which has rows of every class."""
    parts = -(-len(val) // MOST_JUDGED)
    if parts <= 1:
        return val
    codes = graph.y[val]
    drawn = stratified_folds(codes, parts, seed) == 0
    judged: IntArray = val[drawn | ~np.isin(codes, codes[drawn])]
    return judged


def fit_rows(
    module: nn.Module,
    rows_of: RowsOf,
    graph: Graph,
    settings: TrainingSettings,
    supervision: Supervision,
    stage: str = "classifier",
) -> History:
    """Train a classifier of rows by cross-entropy; keep the weights that are best on validation rows.

    Args:
        module: The classifier, called with what ``rows_of`` returns.
        rows_of: Reads the rows of nodes.
        graph: The graph; only the labels of train and val nodes are read.
        settings: Learning rate, decay, number of passes over the training rows, and patience.
        supervision: Split, metric, monitor, weights of the classes, and the seed of the sample of validation
            rows.
        stage: Name of this training among the stages of a fit.
    """
    split = supervision.split
    judged = judged_rows(np.array(split.val), graph, supervision.seed)
    weight = _as_tensor(supervision.class_weights)
    score = judge_of(module, rows_of, judged, np.array(graph.y[judged]), supervision.metric, weight)
    batches = ShuffledBatches(len(split.train), batch_size(len(split.train)))
    loss = _loss(module, rows_of, graph, np.array(split.train), weight)
    return train(module, loss, batches, score, settings, stage=stage, monitor=supervision.monitor)


def fit_rows_epochs(
    module: nn.Module,
    rows_of: RowsOf,
    graph: Graph,
    settings: TrainingSettings,
    nodes: IntArray,
    stage: str = "classifier",
    monitor: Monitor = SILENT,
    class_weights: FloatArray | None = None,
) -> History:
    """Train a classifier of rows on these nodes for all epochs of the settings; nothing is selected."""
    loss = _loss(module, rows_of, graph, np.array(nodes), _as_tensor(class_weights))
    batches = ShuffledBatches(len(nodes), batch_size(len(nodes)))
    return train(
        module, loss, batches, lambda: (0.0,), settings, stage=stage, monitor=monitor, keep_last=True
    )


def judge_of(
    module: nn.Module,
    rows_of: RowsOf,
    nodes: IntArray,
    codes: IntArray,
    metric: str,
    weight: Tensor | None = None,
) -> Callable[[], tuple[float, float]]:
    """Return what gives the metric of these nodes, and the mean log likelihood of their class codes."""
    labels, quality = torch.from_numpy(codes), metric_named(metric).quality_of_logits

    def score() -> tuple[float, float]:
        logits = logits_of(module, rows_of, nodes)
        return quality(logits.numpy(), codes), -float(F.cross_entropy(logits, labels, weight=weight))

    return score


def logits_of(module: nn.Module, rows_of: RowsOf, nodes: IntArray) -> Tensor:
    """Return the logits of these nodes, in evaluation mode, block by block."""
    module.eval()
    with torch.no_grad():
        parts = [module(rows_of(nodes[top : top + BLOCK])) for top in range(0, len(nodes), BLOCK)]
    return torch.cat(parts) if parts else module(rows_of(nodes)).detach()


def row_probabilities(module: nn.Module, rows_of: RowsOf, nodes: IntArray) -> FloatArray:
    """Return the class probabilities of these nodes."""
    probabilities: FloatArray = torch.softmax(logits_of(module, rows_of, nodes), dim=1).numpy()
    return probabilities


def _loss(
    module: nn.Module, rows_of: RowsOf, graph: Graph, nodes: IntArray, weight: Tensor | None
) -> Callable[[Tensor], Tensor]:
    # A copy of the labels of these nodes: the code below cannot read any other.
    labels = torch.from_numpy(np.array(graph.y[nodes]))

    def loss(positions: Tensor) -> Tensor:
        logits = module(rows_of(nodes[positions.numpy()]))
        return F.cross_entropy(logits, labels[positions], weight=weight)

    return loss


def _as_tensor(weights: FloatArray | None) -> Tensor | None:
    return None if weights is None else torch.from_numpy(weights)
