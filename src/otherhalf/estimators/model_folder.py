"""A model's folder: ``model.json`` and the weights as safetensors, each with a checksum.

The JSON names its weights file, and the weights file is named after its content. So a new pair replaces an
older one in one step, when the JSON is moved into place: a kill at any moment leaves one complete model in
the folder, the old or the new one.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from otherhalf.errors import InputError
from otherhalf.system.atomic import atomic_write, check_folder
from otherhalf.system.fields import json_number
from otherhalf.system.locks import folder_lock
from otherhalf.system.own_files import parse_object, read_own_file, reason_of
from otherhalf.system.version import VERSION

FORMAT_VERSION = 1
MODEL_FILE = "model.json"
WEIGHTS = re.compile(r"weights-[0-9a-f]{16}\.safetensors")
FIX = "save the model again"
PICKLE_ENDINGS = (".pkl", ".pickle", ".pt", ".pth", ".joblib")
DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RuntimeError)
FIRST_CLASS = "GOALClassifier"
"""The class of folders that do not name one: the first version wrote no other."""


def write_folder(folder: Path, owner: str, content: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Write a model of the class ``owner``; an older one in the folder is replaced at the very end.

    Two processes do not write to one folder at the same time. Of the files that are there, only the weights
    that the older model names are removed.
    """
    weights_content = save({key: value.detach().cpu().contiguous() for key, value in tensors.items()})
    digest = hashlib.sha256(weights_content).hexdigest()
    description = {
        "format_version": FORMAT_VERSION,
        "otherhalf_version": VERSION,
        "class": owner,
        "weights": f"weights-{digest[:16]}.safetensors",
        "weights_sha256": digest,
        **content,
    }
    description["checksum"] = _checksum(description)
    text = json.dumps(description, indent=1, ensure_ascii=False, default=json_number) + "\n"
    check_folder(folder)
    with folder_lock(folder):
        old = weights_of(folder)
        # The inner file is moved into place first, and the description that names it after it.
        with (
            atomic_write(folder / MODEL_FILE) as model_file,
            atomic_write(folder / description["weights"]) as weights_file,
        ):
            model_file.write_text(text, encoding="utf-8")
            weights_file.write_bytes(weights_content)
        if old not in (None, description["weights"]):
            (folder / str(old)).unlink(missing_ok=True)


def weights_of(folder: Path) -> str | None:
    """Return the name of the weights file of the model in a folder; None if there is no model."""
    try:
        name = parse_object(read_own_file(folder / MODEL_FILE, FIX), folder / MODEL_FILE, FIX).get("weights")
    except InputError:
        return None
    return name if is_weights(name) else None


def is_weights(name: Any) -> TypeGuard[str]:
    """Return whether this is the name of a weights file, which has no folder in it."""
    return isinstance(name, str) and WEIGHTS.fullmatch(name) is not None


def class_of(folder: Path) -> str:
    """Return the name of the class that wrote the model in a folder."""
    return str(_read_description(folder).get("class", FIRST_CLASS))


def read_folder(folder: Path, owner: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read a model of this class, after a check of every byte of both files."""
    description = _read_description(folder)
    written = description.get("class", FIRST_CLASS)
    if written != owner:
        raise InputError(f"{folder} holds a {written}: load it with {written}.load")
    try:
        return description, _read_weights(folder, description)
    except InputError:
        again = _read_description(folder)
        if again == description:
            raise
    return again, _read_weights(folder, again)  # another process has saved a model meanwhile


def load_weights(module: nn.Module, prefix: str, tensors: dict[str, Tensor], folder: Path) -> None:
    """Load the weights that were written under this prefix into a module."""
    own = {k.removeprefix(f"{prefix}/"): v for k, v in tensors.items() if k.startswith(f"{prefix}/")}
    try:
        module.load_state_dict(own)
    except RuntimeError as error:
        raise InputError(
            f"the weights in {folder} do not fit the model described there: save the model again"
        ) from error
    module.eval()


def read_classes(names: Any) -> npt.NDArray[Any]:
    """Return the classes of a description: different names, or different numbers."""
    classes = np.asarray(names)
    if not isinstance(names, list) or classes.ndim != 1 or classes.dtype.kind not in "iufbU":
        raise ValueError("its classes are not a list of names")
    if not names or len(set(names)) != len(names):
        raise ValueError("its classes are not different from each other")
    return classes


@contextmanager
def damage_refused(folder: Path, owner: str) -> Iterator[None]:
    """Raise InputError for whatever missing or mistyped fields of a description raise."""
    try:
        yield
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(f"{folder} describes no {owner} ({reason_of(error)}): {FIX}") from error


def _checksum(description: dict[str, Any]) -> str:
    """Return a hash of all values but the checksum itself; the layout of the file does not matter."""
    rest = {key: value for key, value in description.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, default=json_number).encode()).hexdigest()


def _read_description(folder: Path) -> dict[str, Any]:
    if folder.suffix in PICKLE_ENDINGS:
        raise InputError(
            f"{folder} is a pickle, and loading one can run any code: give a folder written by save()"
        )
    path = folder / MODEL_FILE
    if not os.path.lexists(path):
        raise InputError(f"{folder} holds no {MODEL_FILE}: give a folder that save() or `fit --out` wrote")
    description = parse_object(read_own_file(path, FIX), path, FIX)
    version = description.get("format_version")
    if type(version) is not int:
        raise InputError(f"{path} is not a model of otherhalf: give a folder that save() wrote")
    if version > FORMAT_VERSION:
        raise InputError(
            f"{path} has format {version} and this otherhalf reads up to {FORMAT_VERSION}: upgrade otherhalf"
        )
    if description.get("checksum") != _checksum(description):
        raise InputError(f"{path} was altered after it was written (checksum): {FIX}")
    return description


def _read_weights(folder: Path, description: dict[str, Any]) -> dict[str, Tensor]:
    name = description.get("weights")
    if not is_weights(name):
        raise InputError(f"{folder / MODEL_FILE} names no weights file of otherhalf: {FIX}")
    path = folder / name
    content = read_own_file(path, FIX)
    if hashlib.sha256(content).hexdigest() != description.get("weights_sha256"):
        raise InputError(f"{path} was altered or cut short after it was written (checksum): {FIX}")
    try:
        return load(content)
    except (SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise InputError(f"{path} is not a safetensors file ({reason_of(error)}): {FIX}") from error
