"""A fitted model as files: ``model.json`` and the weights as safetensors, each with a checksum.

The JSON names its weights file, and the weights file is named after its content. So the two change places
with an older pair in one step, when the JSON is moved into place: a kill at any moment leaves one whole
model behind, the old or the new.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from otherhalf import __version__
from otherhalf.atomic import atomic_write
from otherhalf.complement.encoder import Encoder
from otherhalf.complement.head import Head
from otherhalf.complement.missing_half import Embedding, MissingHalf
from otherhalf.diagnosis import Diagnosis
from otherhalf.errors import InputError
from otherhalf.growth import KnownNodes
from otherhalf.nn.baselines.registry import build as build_encoder
from otherhalf.nn.baselines.registry import walks_of
from otherhalf.nn.goal import build_goal
from otherhalf.nn.inputs import Scaling
from otherhalf.settings import Settings, from_dict, plain_number, to_dict
from otherhalf.training import History

if TYPE_CHECKING:
    from otherhalf.classifier import GOALClassifier

FORMAT_VERSION = 1
MODEL_FILE = "model.json"
PICKLE_ENDINGS = (".pkl", ".pickle", ".pt", ".pth", ".joblib")
DISTRIBUTIONS = ("bin_edges", "connected", "random")


def save_model(model: GOALClassifier, folder: Path) -> None:
    """Write a fitted model; an older one in the same folder is replaced at the very end."""
    tensors = _tensors(model)
    content = save({key: value.detach().cpu().contiguous() for key, value in tensors.items()})
    digest = hashlib.sha256(content).hexdigest()
    weights = f"weights-{digest[:16]}.safetensors"
    with atomic_write(folder / weights) as aside:
        aside.write_bytes(content)
    description = {
        "format_version": FORMAT_VERSION,
        "otherhalf_version": __version__,
        "weights": weights,
        "weights_sha256": digest,
        **_description(model),
    }
    description["checksum"] = _checksum(description)
    text = json.dumps(description, indent=1, ensure_ascii=False, default=plain_number)
    with atomic_write(folder / MODEL_FILE) as aside:
        aside.write_text(text + "\n", encoding="utf-8")
    for old in folder.glob("weights-*.safetensors"):
        if old.name != weights:
            old.unlink()


def load_model(cls: type[GOALClassifier], folder: Path) -> GOALClassifier:
    """Read a model, checking every byte of both files first."""
    description = _read_description(folder)
    tensors = _read_weights(folder / description["weights"], description["weights_sha256"])
    parameters = description["parameters"]
    if parameters["coefficients"] is not None:
        parameters["coefficients"] = tuple(parameters["coefficients"])
    model = cls(**parameters)
    settings = from_dict(Settings, description["settings"])
    known, half = description["known"], description["missing_half"]
    sizes = (known["features"], len(description["classes"]), known["count"])

    model.settings_ = settings
    model.classes_ = np.asarray(description["classes"])
    model.diagnosis_ = _diagnosis(description["diagnosis"])
    model.history_ = {stage: History(**values) for stage, values in description["history"].items()}
    model.seconds_ = description["seconds"]
    model.encoder_share_ = description["encoder_share"]
    model.missing_half_ = MissingHalf(pairs=tensors["half/pairs"].numpy().astype(np.int64), **half)
    model._known = KnownNodes(**{**known, "ids": known["ids"] and tuple(known["ids"])})
    mean, deviation = tensors.get("scaling/mean"), tensors.get("scaling/deviation")
    model._scaling = Scaling(
        description["scaling"],
        None if mean is None else mean.numpy(),
        None if deviation is None else deviation.numpy(),
    )
    chosen = settings.complement.encoder
    walks = walks_of(chosen.kind, chosen)
    encoder = build_encoder(half["encoder"], *sizes, chosen.shape, **walks)
    head = Head(tensors["head/layers.0.weight"].shape[1], settings.complement.head)
    model._module = build_goal(*sizes, settings.goal)
    for prefix, module in (("encoder", encoder), ("head", head), ("goal", model._module)):
        _fill(module, prefix, tensors, folder)
    model._embedding = Embedding(
        Encoder(half["encoder"], encoder, model.history_["encoder"]), head, model.history_["head"]
    )
    return model


def _tensors(model: GOALClassifier) -> dict[str, Tensor]:
    modules: dict[str, nn.Module] = {
        "encoder": model._embedding.encoder.module,
        "head": model._embedding.head,
        "goal": model._module,
    }
    tensors = {f"{p}/{key}": value for p, m in modules.items() for key, value in m.state_dict().items()}
    # int32 halves the file; a graph that one machine holds has fewer than 2³¹ nodes.
    tensors["half/pairs"] = torch.from_numpy(model.missing_half_.pairs.astype(np.int32))
    if model._scaling.mean is not None and model._scaling.deviation is not None:
        tensors["scaling/mean"] = torch.from_numpy(model._scaling.mean)
        tensors["scaling/deviation"] = torch.from_numpy(model._scaling.deviation)
    return tensors


def _description(model: GOALClassifier) -> dict[str, Any]:
    diagnosis = {f.name: getattr(model.diagnosis_, f.name) for f in fields(Diagnosis)}
    half = model.missing_half_
    return {
        "parameters": model.get_params(),
        "settings": to_dict(model.settings_),
        "classes": model.classes_.tolist(),
        "known": {**vars(model._known)},
        "scaling": model._scaling.kind,
        "missing_half": {
            key: getattr(half, key) for key in ("num_nodes", "kind", "k", "candidates", "encoder", "seconds")
        },
        "diagnosis": {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in diagnosis.items()},
        "history": {stage: vars(history) for stage, history in model.history_.items()},
        "encoder_share": model.encoder_share_,
        "seconds": model.seconds_,
    }


def _diagnosis(values: dict[str, Any]) -> Diagnosis:
    for distribution in DISTRIBUTIONS:
        values[distribution] = np.asarray(values[distribution])
    values["ks_draws"] = tuple(values["ks_draws"])
    values["intervals"] = {key: bounds and tuple(bounds) for key, bounds in values["intervals"].items()}
    return Diagnosis(**values)


def _checksum(description: dict[str, Any]) -> str:
    """Of all values but the checksum itself, however the file is laid out."""
    rest = {key: value for key, value in description.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, default=plain_number).encode()).hexdigest()


def _read_description(folder: Path) -> dict[str, Any]:
    if folder.suffix in PICKLE_ENDINGS:
        raise InputError(
            f"{folder} is a pickle, and loading one can run any code: give a folder written by save()"
        )
    path = folder / MODEL_FILE
    if not path.is_file():
        raise InputError(f"{folder} holds no {MODEL_FILE}: give a folder that save() or `fit --out` wrote")
    try:
        description: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} is damaged or cut short ({error}): save the model again") from error
    version = description.get("format_version") if isinstance(description, dict) else None
    if not isinstance(version, int):
        raise InputError(f"{path} is not a model of otherhalf: give a folder that save() wrote")
    if version > FORMAT_VERSION:
        raise InputError(
            f"{path} has format {version} and this otherhalf reads up to {FORMAT_VERSION}: upgrade otherhalf"
        )
    if description.get("checksum") != _checksum(description):
        raise InputError(f"{path} was altered after it was written (checksum): save the model again")
    return description


def _read_weights(path: Path, sha256: str) -> dict[str, Tensor]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): save the model again") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(
            f"{path} was altered or cut short after it was written (checksum): save the model again"
        )
    try:
        return load(content)
    except SafetensorError as error:
        raise InputError(f"{path} is not a safetensors file ({error}): save the model again") from error


def _fill(module: nn.Module, prefix: str, tensors: dict[str, Tensor], folder: Path) -> None:
    own = {k.removeprefix(f"{prefix}/"): v for k, v in tensors.items() if k.startswith(f"{prefix}/")}
    try:
        module.load_state_dict(own)
    except RuntimeError as error:
        raise InputError(
            f"the weights in {folder} do not fit the model described there: save the model again"
        ) from error
    module.eval()
