"""The state of a training on disk, so that an interrupted fit can continue."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from otherhalf.errors import InputError
from otherhalf.system.atomic import atomic_write


@dataclass
class History:
    """Losses and validation scores by epoch; ``best_epoch`` is the one whose weights were kept."""

    losses: list[float] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)
    best_epoch: int = -1
    done: bool = False

    @property
    def epochs(self) -> int:
        """Number of epochs trained."""
        return len(self.losses)

    @property
    def best_score(self) -> list[float]:
        """Score of the best epoch; empty before the first."""
        return self.scores[self.best_epoch] if self.best_epoch >= 0 else []


@dataclass(frozen=True)
class Checkpoint:
    """The file in which one stage of a training keeps its state.

    ``owner`` identifies the run (data, settings, seed): the state of another run is never loaded.
    """

    path: Path
    owner: str

    def save(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, best: dict[str, Tensor], history: History
    ) -> None:
        """Write everything that the next epoch depends on."""
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
        """Load the state into model and optimizer; return the best weights and the history, or None."""
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                metadata = file.metadata() or {}  # None in a foreign file
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            raise InputError(
                f"the checkpoint {self.path} cannot be read ({error}): delete it and start without --resume"
            ) from error
        if metadata.get("owner") != self.owner:
            raise InputError(
                f"the checkpoint {self.path} belongs to a run with other data, settings or seed: "
                "give the same ones, or start without --resume"
            )
        model.load_state_dict(_under("model/", tensors))
        adam: dict[int, dict[str, Tensor]] = {}
        for key, value in _under("adam/", tensors).items():
            index, name = key.split("/")
            adam.setdefault(int(index), {})[name] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": adam})
        torch.set_rng_state(tensors["rng"])
        return _under("best/", tensors), History(**json.loads(metadata["history"]))


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
