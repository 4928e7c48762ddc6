"""One training loop for every model: early stopping, best weights restored, checkpoints that resume."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from otherhalf.errors import InputError
from otherhalf.system.atomic import atomic_write

SECONDS_BETWEEN_CHECKPOINTS = 2.0


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained: Adam, until ``patience`` epochs bring nothing better or ``epochs`` are over."""

    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 500
    patience: int = 100


@dataclass
class History:
    """What happened, epoch by epoch; ``best_epoch`` is the one whose weights were kept."""

    losses: list[float] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)
    best_epoch: int = -1
    done: bool = False

    @property
    def epochs(self) -> int:
        """The number of epochs trained."""
        return len(self.losses)

    @property
    def best_score(self) -> list[float]:
        """The score of the best epoch; empty before the first."""
        return self.scores[self.best_epoch] if self.best_epoch >= 0 else []


@dataclass(frozen=True)
class Checkpoint:
    """Where a stage of training keeps its state, and whose it is.

    ``owner`` identifies the run (data, settings, seed): a state of another run is never taken up.
    """

    path: Path
    owner: str

    def save(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, best: dict[str, Tensor], history: History
    ) -> None:
        """Write everything the next epoch depends on, to a temporary file and then into place."""
        tensors = {f"model/{k}": v for k, v in model.state_dict().items()}
        tensors |= {f"best/{k}": v for k, v in best.items()}
        for index, state in optimizer.state_dict()["state"].items():
            tensors |= {f"adam/{index}/{k}": torch.as_tensor(v) for k, v in state.items()}
        tensors["rng"] = torch.get_rng_state()
        metadata = {"owner": self.owner, "history": json.dumps(vars(history))}
        with atomic_write(self.path) as temporary:
            save_file({k: v.contiguous().clone() for k, v in tensors.items()}, temporary, metadata=metadata)

    def restore(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[dict[str, Tensor], History] | None:
        """Put a saved state back, or return None where there is none."""
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                metadata = file.metadata() or {}  # None in a file that was not written here
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            raise InputError(
                f"the checkpoint {self.path} cannot be read ({error}): delete it and start without --resume"
            ) from error
        if metadata.get("owner") != self.owner:
            raise InputError(
                f"the checkpoint {self.path} belongs to a run with other data, settings or seed: "
                "give the same ones, or start anew without --resume"
            )
        model.load_state_dict(_under("model/", tensors))
        adam: dict[int, dict[str, Tensor]] = {}
        for key, value in _under("adam/", tensors).items():
            index, name = key.split("/")
            adam.setdefault(int(index), {})[name] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": adam})
        torch.set_rng_state(tensors["rng"])
        return _under("best/", tensors), History(**json.loads(metadata["history"]))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers from ``seed`` inside, the caller's own afterwards as if nothing had happened."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def train(
    model: nn.Module,
    loss: Callable[[], Tensor],
    score: Callable[[], tuple[float, ...]],
    settings: TrainingSettings,
    *,
    checkpoint: Checkpoint | None = None,
    on_epoch: Callable[[int, int], Any] | None = None,
) -> History:
    """Train ``model`` in place and leave it with the weights of its best epoch.

    Args:
        model: What is trained, and saved.
        loss: The training loss of one full step, with the model in training mode.
        score: How good the model is on validation data, larger is better, the first differing entry
            decides; called with the model in evaluation mode and without gradients.
        settings: Step size, decay, length and patience.
        checkpoint: Where to keep the state, and to take it up if it is there.
        on_epoch: Told (epochs done, epochs at most) after every epoch.
    """
    optimizer = _optimizer(model, settings)
    history, best = History(), _copy(model)
    if checkpoint is not None and (saved := checkpoint.restore(model, optimizer)) is not None:
        best, history = saved
    last_saved = time.monotonic()
    while not history.done:
        model.train()
        optimizer.zero_grad()
        objective = loss()
        if math.isfinite(value := float(objective.detach())):
            objective.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            history.losses.append(value)
            model.eval()
            with torch.no_grad():
                history.scores.append(list(score()))
            if history.best_epoch < 0 or history.scores[-1] > history.best_score:
                history.best_epoch, best = history.epochs - 1, _copy(model)
            waited = history.epochs - 1 - history.best_epoch
            history.done = history.epochs >= settings.epochs or waited >= settings.patience
        elif history.best_epoch < 0:
            raise InputError(
                "the training loss is not finite from the start: bring the features to a common scale"
            )
        else:
            history.done = True  # diverged; the best weights were before that
        now = time.monotonic()
        if checkpoint is not None and (history.done or now - last_saved > SECONDS_BETWEEN_CHECKPOINTS):
            checkpoint.save(model, optimizer, best, history)
            last_saved = now
        if on_epoch is not None:
            on_epoch(history.epochs, settings.epochs)
    model.load_state_dict(best)
    model.eval()
    return history


def _optimizer(model: nn.Module, settings: TrainingSettings) -> torch.optim.Optimizer:
    # Decay would pull the coefficients' θ to 0, that is α = β = γ = δ = 2.5: they are left out of it.
    named = list(model.named_parameters())
    groups: list[dict[str, Any]] = [
        {"params": [p for name, p in named if not name.endswith("theta")]},
        {"params": [p for name, p in named if name.endswith("theta")], "weight_decay": 0.0},
    ]
    return torch.optim.Adam(
        [g for g in groups if g["params"]], lr=settings.lr, weight_decay=settings.weight_decay, fused=True
    )


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {k: v.detach().clone() for k, v in model.state_dict().items()}


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
