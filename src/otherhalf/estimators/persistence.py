"""A fitted GOALClassifier as files, and a BaselineClassifier."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from otherhalf.complement.encoder import Encoder
from otherhalf.complement.head import Head
from otherhalf.complement.missing_half import Embedding, MissingHalf
from otherhalf.diagnosis.verdict import Diagnosis
from otherhalf.estimators.model_folder import fill, read_folder, write_folder
from otherhalf.estimators.new_nodes import KnownNodes
from otherhalf.estimators.settings import Settings, from_dict, to_dict
from otherhalf.nn.goal import build_goal
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.models.registry import build, walks_of
from otherhalf.training.loop import History

if TYPE_CHECKING:
    from otherhalf.estimators.baseline import BaselineClassifier
    from otherhalf.estimators.goal import GOALClassifier

GOAL, BASELINE = "GOALClassifier", "BaselineClassifier"
DISTRIBUTIONS = ("bin_edges", "connected", "random")


# ---------------------------------------------------------------------- GOAL


def save_model(model: GOALClassifier, folder: Path) -> None:
    """Write a fitted model; an older one in the same folder is replaced at the very end."""
    write_folder(folder, GOAL, _description(model), _tensors(model))


def load_model(cls: type[GOALClassifier], folder: Path) -> GOALClassifier:
    """Read a model, checking every byte of both files first."""
    description, tensors = read_folder(folder, GOAL)
    parameters = description["parameters"]
    if parameters["coefficients"] is not None:
        parameters["coefficients"] = tuple(parameters["coefficients"])
    model = cls(**parameters)
    settings = from_dict(Settings, description["settings"])
    half = description["missing_half"]
    sizes = _sizes(description)

    model.settings_ = settings
    model.classes_ = np.asarray(description["classes"])
    model.diagnosis_ = _diagnosis(description["diagnosis"])
    model.history_ = {stage: History(**values) for stage, values in description["history"].items()}
    model.seconds_ = description["seconds"]
    model.encoder_share_ = description["encoder_share"]
    model.missing_half_ = MissingHalf(pairs=tensors["half/pairs"].numpy().astype(np.int64), **half)
    model._known, model._scaling = _known(description), _scaling(description, tensors)
    chosen = settings.complement.encoder
    walks = walks_of(chosen.kind, chosen)
    encoder = build(half["encoder"], *sizes, chosen.shape, **walks)
    head = Head(tensors["head/layers.0.weight"].shape[1], settings.complement.head)
    model._module = build_goal(*sizes, settings.goal)
    for prefix, module in (("encoder", encoder), ("head", head), ("goal", model._module)):
        fill(module, prefix, tensors, folder)
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
    return tensors | _scaling_tensors(model._scaling)


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


# ---------------------------------------------------------------------- plain models


def save_baseline(model: BaselineClassifier, folder: Path) -> None:
    """Write a fitted plain model; an older one in the same folder is replaced at the very end."""
    description = {
        "parameters": model.get_params(),
        "settings": to_dict(model.settings_),
        "classes": model.classes_.tolist(),
        "known": {**vars(model._known)},
        "scaling": model._scaling.kind,
        "history": vars(model.history_),
        "seconds": model.seconds_,
    }
    tensors = {f"module/{key}": value for key, value in model._module.state_dict().items()}
    write_folder(folder, BASELINE, description, tensors | _scaling_tensors(model._scaling))


def load_baseline(cls: type[BaselineClassifier], folder: Path) -> BaselineClassifier:
    """Read a plain model, checking every byte of both files first."""
    from otherhalf.estimators.baseline import BaselineSettings

    description, tensors = read_folder(folder, BASELINE)
    model = cls(**description["parameters"])
    model.settings_ = settings = from_dict(BaselineSettings, description["settings"])
    model.classes_ = np.asarray(description["classes"])
    model.history_ = History(**description["history"])
    model.seconds_ = description["seconds"]
    model._known, model._scaling = _known(description), _scaling(description, tensors)
    walks: dict[str, Any] = settings.walks
    model._module = build(settings.kind, *_sizes(description), settings.shape, **walks)
    fill(model._module, "module", tensors, folder)
    return model


# ---------------------------------------------------------------------- what both have


def _sizes(description: dict[str, Any]) -> tuple[int, int, int]:
    known = description["known"]
    return known["features"], len(description["classes"]), known["count"]


def _known(description: dict[str, Any]) -> KnownNodes:
    known = description["known"]
    return KnownNodes(**{**known, "ids": known["ids"] and tuple(known["ids"])})


def _scaling(description: dict[str, Any], tensors: dict[str, Tensor]) -> Scaling:
    parts = (tensors.get(f"scaling/{name}") for name in ("mean", "deviation"))
    return Scaling(description["scaling"], *(None if part is None else part.numpy() for part in parts))


def _scaling_tensors(scaling: Scaling) -> dict[str, Tensor]:
    parts = {"mean": scaling.mean, "deviation": scaling.deviation}
    return {f"scaling/{name}": torch.from_numpy(part) for name, part in parts.items() if part is not None}
