"""Training on rows that several machines hold: each computes gradients, and their mean is the step.

An actor holds its rows, and nothing that changes: the weights come with every step. So one whose machine dies
is made again elsewhere from the same rows, and the step goes on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from otherhalf.cluster.tasks import Tasks
from otherhalf.system.arrays import FloatArray, IntArray

Loss = Callable[[Tensor, Tensor], Tensor]
"""The mean loss of outputs and targets; another process must be able to import it."""

Gradients = tuple[list[FloatArray], float, int]
"""The gradient of every parameter, the mean loss, and the number of rows."""


class RowHolder:
    """Some rows of the inputs and their targets, and a copy of the model."""

    def __init__(
        self, model: nn.Module, loss: Loss, inputs: FloatArray, targets: IntArray, seed: int
    ) -> None:
        torch.manual_seed(seed)
        self._model, self._loss = model, loss
        self._inputs, self._targets = torch.tensor(inputs), torch.tensor(targets)

    def gradients(self, weights: dict[str, FloatArray], batch: IntArray) -> Gradients:
        """Return the gradients of the mean loss of some rows, at these weights."""
        self._model.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
        self._model.zero_grad(set_to_none=False)
        rows = torch.from_numpy(np.array(batch))
        loss = self._loss(self._model(self._inputs[rows]), self._targets[rows])
        loss.backward()  # type: ignore[no-untyped-call]
        found = [_gradient(each) for each in self._model.parameters()]
        return found, float(loss.detach()), len(batch)


class DataParallel:
    """A model whose gradients are computed on the rows of several actors.

    Args:
        tasks: The cluster.
        model: The model; its weights are those that are trained.
        loss: The mean loss.
        parts: Inputs and targets of each actor, read one after the other.
        seed: Seed of the dropout of the actors.
    """

    def __init__(
        self,
        tasks: Tasks,
        model: nn.Module,
        loss: Loss,
        parts: Iterable[tuple[FloatArray, IntArray]],
        seed: int = 0,
    ) -> None:
        self._model, self._tasks = model, tasks
        blank = copy.deepcopy(model)
        self._actors = [
            tasks.actor(RowHolder, blank, loss, inputs, targets, seed + number)
            for number, (inputs, targets) in enumerate(parts)
        ]

    def backward(self, batches: Sequence[IntArray]) -> float:
        """Set the gradients of the model to those of the mean loss of all batches, and return that loss.

        Args:
            batches: Rows of each actor's part, by its own numbers; an empty one is left out.
        """
        weights = {name: value.detach().numpy() for name, value in self._model.state_dict().items()}
        asked = [(actor, batch) for actor, batch in zip(self._actors, batches, strict=True) if len(batch)]
        found = self._tasks.ask([(actor, "gradients", (weights, batch)) for actor, batch in asked])
        gradients, loss = weighted_mean(found)
        for parameter, gradient in zip(self._model.parameters(), gradients, strict=True):
            parameter.grad = torch.from_numpy(gradient)
        return loss

    def close(self) -> None:
        """End the actors."""
        for actor in self._actors:
            self._tasks.end(actor)
        self._actors = []


def weighted_mean(parts: Sequence[Gradients]) -> tuple[list[FloatArray], float]:
    """Return the mean of gradients and of losses, where each counts as often as it has rows."""
    total = sum(rows for _, _, rows in parts)
    shares = [rows / total for _, _, rows in parts]
    gradients = [
        sum((share * each for share, each in zip(shares, same, strict=True)), np.zeros_like(same[0]))
        for same in zip(*(gradients for gradients, _, _ in parts), strict=True)
    ]
    return gradients, sum(share * loss for share, (_, loss, _) in zip(shares, parts, strict=True))


def _gradient(parameter: nn.Parameter) -> FloatArray:
    gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    return np.array(gradient.detach().numpy())
