"""The training loop of all models: early stopping, best weights, checkpoints."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from otherhalf.errors import InputError
from otherhalf.system.fields import integer, number, setting
from otherhalf.training.adam import Adam
from otherhalf.training.checkpoint import Checkpoint, History

SECONDS_BETWEEN_CHECKPOINTS = 2.0

OnStep = Callable[[str, int, int], Any]
"""Progress callback (stage, done, total)."""


@dataclass(frozen=True)
class TrainingSettings:
    """Adam's settings; the training ends after ``epochs``, or ``patience`` epochs without improvement."""

    lr: float = setting(0.01, number(0, above=True))
    weight_decay: float = setting(5e-4, number(0))
    epochs: int = setting(500, integer(1))
    patience: int = setting(100, integer(1))


@dataclass(frozen=True)
class Monitor:
    """Keeps the state of the stages of a fit, and reports their progress.

    Attributes:
        folder: Folder of the checkpoints; None for no checkpoints.
        owner: Identity of the run (data, settings, seed).
        on_step: Progress callback (stage, done, total).
    """

    folder: Path | None = None
    owner: str = ""
    on_step: OnStep | None = None

    def checkpoint(self, stage: str) -> Checkpoint | None:
        """Return the checkpoint of a stage, or None without a folder."""
        return None if self.folder is None else Checkpoint(self.folder / f"{stage}.safetensors", self.owner)

    def report(self, stage: str, done: int, total: int) -> None:
        """Report the progress of a stage."""
        if self.on_step is not None:
            self.on_step(stage, done, total)


SILENT = Monitor()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from ``seed`` inside; leave the caller's generator as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


class Training:
    """A training of a model in place, which can pause after any epoch and go on as if it had not.

    Args:
        model: The model.
        loss: Maps a batch of nodes to its training loss, with the model in training mode.
        batches: The nodes of every step of an epoch. One batch of all nodes is the full-batch training.
        score: Returns the score of the model on validation data: larger is better, and the first entry that
            differs decides. Called with the model in evaluation mode and without gradients.
        settings: Learning rate, decay, length and patience.
        stage: Name of this training among the stages of a fit.
        monitor: Checkpoint and progress of the stage.
        keep_last: Whether every epoch counts as better than those before: nothing stops it before
            ``settings.epochs``, and the last weights stay.
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Callable[[Tensor], Tensor],
        batches: Sequence[Tensor],
        score: Callable[[], tuple[float, ...]],
        settings: TrainingSettings,
        *,
        stage: str = "",
        monitor: Monitor = SILENT,
        keep_last: bool = False,
    ) -> None:
        self.model, self.loss, self.batches, self.score = model, loss, batches, score
        self.settings, self.stage, self.monitor, self.keep_last = settings, stage, monitor, keep_last
        self.history = History()
        self._optimizer, self._best = _optimizer(model, settings), _copy(model)
        self._modules = list(model.modules())
        self._checkpoint = monitor.checkpoint(stage)
        if self._checkpoint is not None:
            saved = self._checkpoint.restore(model, self._optimizer)
            if saved is not None:
                self._best, self.history = saved
        self._last_saved = time.monotonic()

    def run(self, until: int | None = None) -> History:
        """Train until this many epochs are done, or to the end; then the model has its best weights."""
        history = self.history
        while not history.done and (until is None or history.epochs < until):
            self._one_epoch()
        self._optimizer.zero_grad()  # while it pauses, nobody needs the gradients
        if history.done:
            self.model.load_state_dict(self._best)
            self.model.eval()
        return history

    def _one_epoch(self) -> None:
        history, settings, model = self.history, self.settings, self.model
        _set_training(self._modules, True)
        value = _epoch(self._optimizer, self.loss, self.batches)
        if math.isfinite(value):
            history.losses.append(value)
            _set_training(self._modules, False)
            with torch.no_grad():
                history.scores.append(list(self.score()))
            if self.keep_last or history.best_epoch < 0 or history.scores[-1] > history.best_score:
                history.best_epoch = history.epochs - 1
                _copy_into(self._best, model)
            waited = history.epochs - 1 - history.best_epoch
            history.done = history.epochs >= settings.epochs or waited >= settings.patience
        elif history.best_epoch < 0:
            raise InputError(
                "the training loss is not finite in the first epoch: bring the features to a common scale"
            )
        else:
            history.done = True  # diverged; the best weights are those of an earlier epoch
        now = time.monotonic()
        due = history.done or now - self._last_saved > SECONDS_BETWEEN_CHECKPOINTS
        if self._checkpoint is not None and due:
            self._checkpoint.save(model, self._optimizer, self._best, history)
            self._last_saved = now
        self.monitor.report(self.stage, history.epochs, settings.epochs)


def train(
    model: nn.Module,
    loss: Callable[[Tensor], Tensor],
    batches: Sequence[Tensor],
    score: Callable[[], tuple[float, ...]],
    settings: TrainingSettings,
    *,
    stage: str = "",
    monitor: Monitor = SILENT,
    keep_last: bool = False,
) -> History:
    """Train ``model`` in place to the end (:class:`Training`); it is left with its best weights."""
    training = Training(
        model, loss, batches, score, settings, stage=stage, monitor=monitor, keep_last=keep_last
    )
    return training.run()


def _epoch(optimizer: Adam, loss: Callable[[Tensor], Tensor], batches: Sequence[Tensor]) -> float:
    """Take one step for each batch and return the mean loss; stop before the step if a loss is not finite."""
    values = []
    for batch in batches:
        optimizer.zero_grad()
        objective = loss(batch)
        values.append(float(objective.detach()))
        if not math.isfinite(values[-1]):
            return values[-1]
        objective.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return sum(values) / len(values)


def _optimizer(model: nn.Module, settings: TrainingSettings) -> Adam:
    # No decay of θ: it would pull θ to 0, that is α = β = γ = δ = 2.5.
    named = list(model.named_parameters())
    theta = [p for name, p in named if name.endswith("theta")]
    others = [p for name, p in named if not name.endswith("theta")]
    return Adam([(others, settings.weight_decay), (theta, 0.0)], settings.lr)


def _set_training(modules: list[nn.Module], training: bool) -> None:
    """Do what ``model.train(training)`` does; that takes as long as a small product, twice in every epoch."""
    for each in modules:
        each.__dict__["training"] = training


def _copy_into(best: dict[str, Tensor], model: nn.Module) -> None:
    with torch.no_grad():
        for name, value in model.state_dict().items():
            best[name].copy_(value)


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {k: v.detach().clone() for k, v in model.state_dict().items()}
