"""The state of a training on disk, so that an interrupted fit can continue."""

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor, nn

from otherhalf.errors import InputError
from otherhalf.system.atomic import atomic_write
from otherhalf.system.own_files import read_own_file, reason_of
from otherhalf.system.threads import threads_asked_for
from otherhalf.training.adam import Adam

FIX = "delete it and start without --resume"


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

    @classmethod
    def from_dict(cls, values: Any) -> "History":
        """Return the history that ``vars`` gave; raise ValueError or TypeError if it cannot be one."""
        history = cls(**values)
        rows = [history.losses, *history.scores]
        if not all(isinstance(row, list) and all(map(_is_number, row)) for row in rows):
            raise ValueError("its losses and scores are not lists of numbers")
        best, done = history.best_epoch, history.done
        if type(best) is not int or not -1 <= best < max(1, len(history.scores)) or type(done) is not bool:
            raise ValueError("its best epoch is not one of its epochs")
        return history


@dataclass(frozen=True)
class Checkpoint:
    """The file in which one stage of a training keeps its state.

    ``owner`` identifies the run (data, settings, seed): the state of another run is never loaded, nor that of
    a run with another number of threads, because sums in another order end in other digits.
    """

    path: Path
    owner: str

    def save(self, model: nn.Module, optimizer: Adam, best: dict[str, Tensor], history: History) -> None:
        """Write everything that the next epoch depends on."""
        tensors = {f"model/{k}": v for k, v in model.state_dict().items()}
        tensors |= {f"best/{k}": v for k, v in best.items()}
        for index, state in optimizer.state_dict().items():
            tensors |= {f"adam/{index}/{k}": v for k, v in state.items()}
        tensors["rng"] = torch.get_rng_state()
        tensors = {key: value.detach().cpu().contiguous().clone() for key, value in tensors.items()}
        metadata = {
            "owner": self.owner,
            "threads": str(threads_asked_for()),
            "history": json.dumps(vars(history)),
        }
        metadata["checksum"] = _checksum(metadata, tensors)
        # Not save_file: that one writes to a file of its own, which a kill leaves behind.
        content = save(tensors, metadata=metadata)
        with atomic_write(self.path) as temporary:
            temporary.write_bytes(content)

    def restore(self, model: nn.Module, optimizer: Adam) -> tuple[dict[str, Tensor], History] | None:
        """Load the state into model and optimizer; return the best weights and the history, or None."""
        if not self.path.exists():
            return None
        content = read_own_file(self.path, FIX)
        try:
            return self._load(content, model, optimizer)
        except InputError:
            raise
        except (ValueError, TypeError, KeyError, RuntimeError, SafetensorError) as error:
            raise InputError(
                f"the checkpoint {self.path} cannot be read ({reason_of(error)}): {FIX}"
            ) from error

    def _load(self, content: bytes, model: nn.Module, optimizer: Adam) -> tuple[dict[str, Tensor], History]:
        tensors, metadata = load(content), _metadata(content)
        if metadata.get("owner") != self.owner:
            raise InputError(
                f"the checkpoint {self.path} belongs to a run with other data, settings or seed: "
                "give the same ones, or start without --resume"
            )
        if metadata["checksum"] != _checksum(metadata, tensors):
            raise ValueError("it was altered after it was written")
        check_threads(metadata["threads"], str(self.path))
        history = History.from_dict(json.loads(metadata["history"]))
        weights, best = _under("model/", tensors), _under("best/", tensors)
        for found in (weights, best):
            _check_weights(found, model)
        adam: dict[int, dict[str, Tensor]] = {}
        for key, value in _under("adam/", tensors).items():
            index, name = key.split("/")
            adam.setdefault(int(index), {})[name] = value
        random = tensors["rng"]
        if random.shape != torch.get_rng_state().shape:
            raise ValueError("it holds no random state")
        model.load_state_dict(weights)
        optimizer.load_state_dict(adam)
        torch.set_rng_state(random)
        return best, history


def check_threads(threads: Any, place: str) -> None:
    """Raise InputError if a run was begun with another number of threads than this process has."""
    present = threads_asked_for()
    if str(threads) != str(present):
        raise InputError(
            f"{place} is of a fit with {threads} thread(s), and {present} would end in other digits: "
            f"continue it with --threads {threads}, or start without --resume"
        )


def check_threads_of(folder: Path) -> None:
    """Raise InputError if a checkpoint of a folder was made with another number of threads.

    One that cannot be read is refused when its stage begins.
    """
    for path in sorted(folder.glob("*.safetensors")):
        with suppress(SafetensorError, OSError):
            with safe_open(path, "pt") as file:
                threads = (file.metadata() or {}).get("threads")
            if threads is not None:
                check_threads(threads, str(path))


def _metadata(content: bytes) -> dict[str, str]:
    """Return the metadata of a safetensors file that could be loaded."""
    length = int.from_bytes(content[:8], "little")
    found: dict[str, str] = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    return found


def _checksum(metadata: dict[str, str], tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    digest.update(json.dumps([metadata[name] for name in ("owner", "threads", "history")]).encode())
    for key in sorted(tensors):
        digest.update(f"{key} {tensors[key].dtype} {tuple(tensors[key].shape)}".encode())
        digest.update(tensors[key].numpy().tobytes())
    return digest.hexdigest()


def _check_weights(found: dict[str, Tensor], model: nn.Module) -> None:
    wanted = {key: value.shape for key, value in model.state_dict().items()}
    if wanted != {key: value.shape for key, value in found.items()}:
        raise ValueError("its weights are not those of the model")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
