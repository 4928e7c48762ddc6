"""A model's folder: ``model.json`` and the weights as safetensors, each with a checksum.

The JSON names its weights file, and the weights file is named after its content. So a new pair replaces an
older one in one step, when the JSON is moved into place: a kill at any moment leaves one complete model in
the folder, the old or the new one.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from otherhalf.errors import InputError
from otherhalf.system.atomic import atomic_write
from otherhalf.system.fields import json_number
from otherhalf.system.version import VERSION

FORMAT_VERSION = 1
MODEL_FILE = "model.json"
PICKLE_ENDINGS = (".pkl", ".pickle", ".pt", ".pth", ".joblib")
FIRST_CLASS = "GOALClassifier"
"""The class of folders that do not name one: the first version wrote no other."""


def write_folder(folder: Path, owner: str, content: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Write a model of the class ``owner``; an older one in the folder is replaced at the very end."""
    weights_content = save({key: value.detach().cpu().contiguous() for key, value in tensors.items()})
    digest = hashlib.sha256(weights_content).hexdigest()
    weights = f"weights-{digest[:16]}.safetensors"
    with atomic_write(folder / weights) as temporary:
        temporary.write_bytes(weights_content)
    description = {
        "format_version": FORMAT_VERSION,
        "otherhalf_version": VERSION,
        "class": owner,
        "weights": weights,
        "weights_sha256": digest,
        **content,
    }
    description["checksum"] = _checksum(description)
    text = json.dumps(description, indent=1, ensure_ascii=False, default=json_number)
    with atomic_write(folder / MODEL_FILE) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    for old in folder.glob("weights-*.safetensors"):
        if old.name != weights:
            old.unlink()


def read_folder(folder: Path, owner: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read a model of this class, after a check of every byte of both files."""
    description = _read_description(folder)
    written = description.get("class", FIRST_CLASS)
    if written != owner:
        raise InputError(f"{folder} holds a {written}: load it with {written}.load")
    return description, _read_weights(folder / description["weights"], description["weights_sha256"])


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
