"""One module trained several times: on all training nodes but a fold each, or on all with other seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import torch
from torch import nn

from otherhalf.estimators.members.base import Fitted, Member
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import BoolArray, FloatArray, IntArray
from otherhalf.system.seeds import SEEDS
from otherhalf.system.threads import worthwhile_threads
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import TrainingSettings, seeded
from otherhalf.training.supervised import (
    Supervision,
    class_probabilities,
    fit_epochs,
    fit_supervised,
    shows_labels,
    unread_probabilities,
)


@dataclass(frozen=True)
class Plan:
    """How often a member is trained.

    Attributes:
        count: Number of trainings. With ``folds`` each leaves one fold of the training nodes out, so that the
            average is judged on nodes that it has not seen.
        folds: ``[n]`` fold of each training node; None to train every time on all of them.
        only: The one training that is made now, of ``count``; None for all of them.
    """

    count: int
    folds: IntArray | None = None
    only: int | None = None

    def indices(self) -> Sequence[int]:
        """Return the numbers of the trainings that are made now."""
        return range(self.count) if self.only is None else [self.only]

    def parts(self) -> list[Plan]:
        """Return the plans of one training each."""
        return [replace(self, only=index) for index in self.indices()]

    def held_out(self, index: int, num_train: int) -> BoolArray:
        """Return which training nodes a training leaves out."""
        return np.zeros(num_train, bool) if self.folds is None else self.folds == index

    def unseen(self, num_train: int, classes: int) -> FloatArray | None:
        """Return the rows for probabilities of training nodes that are left out, not a number yet."""
        return None if self.folds is None else np.full((num_train, classes), np.nan, np.float32)


@dataclass(frozen=True, eq=False)
class Replicas:
    """The trained modules, the mean of their probabilities, and probabilities of unseen training nodes.

    Of one training alone they are its share of the mean, and the rows of its own fold.
    """

    modules: list[nn.Module]
    histories: list[History]
    probabilities: FloatArray
    unseen: FloatArray | None


def train_replicas(
    build: Callable[[], nn.Module],
    arguments: tuple[Any, ...],
    graph: Graph,
    training: TrainingSettings,
    supervision: Supervision,
    plan: Plan,
    stage: str,
) -> Replicas:
    """Train the modules of a plan.

    Args:
        build: Makes an untrained module on the device of the arguments.
        arguments: What it is called with.
        graph: The graph; only labels of train and val nodes are read.
        training: Learning rate, decay, length and patience.
        supervision: Split, seed, metric and monitor; each training has a seed of its own.
        plan: Number of trainings, and folds.
        stage: Name of the member among the stages of a fit.
    """
    split = supervision.split
    modules, histories = [], []
    total = np.zeros((graph.num_nodes, graph.num_classes), dtype=np.float32)
    unseen = plan.unseen(len(split.train), graph.num_classes)
    for index in plan.indices():
        held_out = plan.held_out(index, len(split.train))
        part = replace(supervision, split=Split(split.train[~held_out], split.val, split.test))
        shown = _hiding(arguments, split.train[held_out])
        with worthwhile_threads(graph.num_nodes), seeded(seed_of(supervision.seed, index)):
            module = build()
            histories.append(fit_supervised(module, shown, graph, training, part, f"{stage}-{index}"))
        modules.append(module)
        total += unread_probabilities(module, arguments, split.train) / np.float32(plan.count)
        if unseen is not None:
            unseen[held_out] = class_probabilities(module, *shown)[split.train[held_out]]
    return Replicas(modules, histories, total, unseen)


def joined(parts: Sequence[Fitted], member: Member) -> Fitted:
    """Return the member of several trainings from the results of :func:`train_replicas` of one each."""
    return Fitted(
        member,
        np.asarray(sum(each.probabilities for each in parts), dtype=np.float32),
        joined_unseen(parts),
        sum(each.seconds for each in parts),
        {name: history for each in parts for name, history in each.histories.items()},
    )


def joined_unseen(parts: Sequence[Fitted]) -> FloatArray | None:
    """Return the probabilities of all folds from those of one each."""
    folds = [each.unseen for each in parts if each.unseen is not None]
    return reduce(lambda known, fold: np.where(np.isnan(known), fold, known), folds) if folds else None


def train_again(
    build: Callable[[], nn.Module],
    arguments: tuple[Any, ...],
    graph: Graph,
    training: TrainingSettings,
    supervision: Supervision,
    nodes: IntArray,
    histories: list[History],
    stage: str,
) -> list[nn.Module]:
    """Train as many modules as there are histories on all these nodes, each as long as its history was best.

    Args:
        build: Makes an untrained module on the device of the arguments.
        arguments: What it is called with.
        graph: The graph; only labels of ``nodes`` are read.
        training: Learning rate and decay.
        supervision: Seed, monitor and weights of the classes.
        nodes: Training and validation nodes.
        histories: Histories of the trainings that selected.
        stage: Name of the member among the stages of a fit.
    """
    modules = []
    for index, history in enumerate(histories):
        settings = replace(training, epochs=max(1, history.best_epoch + 1))
        with worthwhile_threads(graph.num_nodes), seeded(seed_of(supervision.seed, index)):
            module = build()
            fit_epochs(
                module,
                arguments,
                graph,
                settings,
                nodes,
                f"again-{stage}-{index}",
                supervision.monitor,
                supervision.class_weights,
            )
        modules.append(module)
    return modules


def _hiding(arguments: tuple[Any, ...], nodes: IntArray) -> tuple[Any, ...]:
    """Return the arguments without the labels of these nodes, if they show any."""
    if not shows_labels(arguments):
        return arguments
    return (arguments[0].hiding(torch.from_numpy(np.array(nodes))), *arguments[1:])


def seed_of(seed: int, index: int) -> int:
    """Return the seed of a replica; that of the first is the seed of the fit."""
    return (seed + 1_000_003 * index) % SEEDS


def mean_probabilities(modules: list[nn.Module], arguments: tuple[Any, ...], nodes: IntArray) -> FloatArray:
    """Return the mean of the class probabilities of the modules; ``nodes`` are those of labels shown."""
    each = (unread_probabilities(module, arguments, nodes) for module in modules)
    return np.asarray(sum(each) / np.float32(len(modules)), dtype=np.float32)
