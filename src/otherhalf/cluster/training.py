"""Training over precomputed rows that several machines hold, in the loop of one machine.

Every machine holds the rows of some training nodes. A mini-batch is drawn over all of them, each machine
computes the gradients of its share, and their mean is the step: that of one process with the same mini-batch,
up to rounding. A batch norm sees its machine's share alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.cluster.gradients import DataParallel, Loss
from otherhalf.cluster.tasks import Tasks
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.row_blocks import RowBlocks
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import TrainingSettings, seeded, train
from otherhalf.training.rows import ShuffledBatches, batch_size, judge_of

Taught = tuple[IntArray, IntArray]
"""Nodes and their class codes."""


def fit_rows_on(
    tasks: Tasks,
    module: nn.Module,
    rows: RowBlocks,
    train_nodes: Taught,
    val_nodes: Taught | None,
    settings: TrainingSettings,
    *,
    actors: int,
    seed: int = 0,
    loss: Loss = F.cross_entropy,
    metric: str = "accuracy",
) -> History:
    """Train a classifier of rows on several machines; leave it with the weights that are best on validation.

    This process reads the rows of one actor at a time, and those of the validation nodes in blocks.

    Args:
        tasks: The cluster.
        module: The classifier, called with ``[B, D]`` rows; pickled with what it is made of.
        rows: The inputs of all nodes, in memory or on disk.
        train_nodes: Training nodes, sorted, and their class codes.
        val_nodes: Validation nodes and their codes; None to keep the last weights.
        settings: Learning rate, decay, number of epochs, and patience.
        actors: Number of processes that hold rows; of as many nodes each, but for one.
        seed: Seed of mini-batches and dropout.
        loss: The mean loss; importable by the workers.
        metric: What judges an epoch, before the likelihood.
    """
    nodes, codes = train_nodes
    bounds = np.linspace(0, len(nodes), actors + 1).astype(np.int64)

    def parts() -> Iterator[tuple[FloatArray, IntArray]]:
        for first, last in pairwise(bounds):
            yield rows.take(nodes[first:last]), codes[first:last]

    def read(chosen: IntArray) -> Tensor:
        return torch.from_numpy(rows.take(chosen))

    parallel = DataParallel(tasks, module, loss, parts(), seed)

    def step(positions: Tensor) -> Tensor:
        places = positions.numpy()
        shares = [places[(places >= a) & (places < b)] - a for a, b in pairwise(bounds)]
        # The gradients are in the parameters by then: what the loop differentiates is a mere number.
        return torch.tensor(parallel.backward(shares), requires_grad=True)

    batches = ShuffledBatches(len(nodes), batch_size(len(nodes)))
    score = (lambda: (0.0,)) if val_nodes is None else judge_of(module, read, *val_nodes, metric)
    try:
        with seeded(seed):
            return train(module, step, batches, score, settings, keep_last=val_nodes is None)
    finally:
        parallel.close()
