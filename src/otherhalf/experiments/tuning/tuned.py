"""The settings chosen by the search: one file per protocol and data set, with the paper's numbers."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from otherhalf.errors import InputError
from otherhalf.experiments.paper.published import TABLE1
from otherhalf.experiments.runner.models import model_name
from otherhalf.experiments.tuning.search import FINALISTS, Tuned, candidates
from otherhalf.system.atomic import atomic_write, check_folder
from otherhalf.system.locks import folder_lock
from otherhalf.system.own_files import reason_of

PACKAGED_SETTINGS = Path(str(files("otherhalf.experiments.tuning").joinpath("settings")))

DAMAGE = (OSError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)
"""What a file raises that holds no settings."""

HEADER = """\
# Settings of every model on {data}, found by `otherhalf search`: the best of {trials} trials each by
# validation, all of them on the first of the splits {seeds}, the best {finalists} on the mean over all. The
# test nodes of these splits were not looked at. `paper`: what the paper prints.
"""


def packaged_settings(split: str) -> Path:
    """Return the package's folder of settings for a protocol."""
    return PACKAGED_SETTINGS / split


def read_tuned(data: str, folder: Path) -> dict[str, Tuned]:
    """Return the settings of each model on a data set; empty if there was no search."""
    path = folder / f"{data}.toml"
    if not path.is_file():
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            model: Tuned(dict(entry["params"]), float(entry["validation"]), int(entry["trials"]))
            for model, entry in content.items()
        }
    except DAMAGE as error:
        raise InputError(
            f"{path} cannot be read ({reason_of(error)}): write it again with `otherhalf search`"
        ) from error


def params_of(models: Iterable[str], tuned: Mapping[str, Tuned]) -> dict[str, dict[str, Any]]:
    """Return the arguments of each model: its tuned settings, else the defaults that a search begins with."""
    searched = {model: tuned.get(model_name(model)) for model in models}
    return {
        model: candidates(model, 1)[0] if each is None else each.params for model, each in searched.items()
    }


def settings_to_keep(data: str, models: Iterable[str], trials: int, folder: Path) -> dict[str, Tuned]:
    """Return the file's settings of models that are not among ``models``, which are searched now.

    Raise InputError if they had another number of trials.
    """
    searched = set(models)
    kept = {model: tuned for model, tuned in read_tuned(data, folder).items() if model not in searched}
    for model, tuned in kept.items():
        if tuned.trials != trials:
            raise InputError(
                f"{folder / data}.toml has {model} as the best of {tuned.trials} trials, and every model "
                f"must have the same number: search with {tuned.trials} trials, or for {model} too"
            )
    return kept


def write_tuned(data: str, searched: Mapping[str, Tuned], seeds: tuple[int, ...], folder: Path) -> Path:
    """Write settings to the data set's file, and return it; settings of other models in it are kept."""
    trials = {tuned.trials for tuned in searched.values()}
    if len(trials) != 1:
        raise ValueError("every model must have had the same number of trials")
    (number,) = trials
    check_folder(folder)
    with folder_lock(folder):  # another search may write the settings of other models at the same time
        return _write_under_lock(data, searched, number, seeds, folder)


def _write_under_lock(
    data: str, searched: Mapping[str, Tuned], number: int, seeds: tuple[int, ...], folder: Path
) -> Path:
    every = {**settings_to_keep(data, searched, number, folder), **searched}
    parts = [HEADER.format(data=data, trials=number, seeds=", ".join(map(str, seeds)), finalists=FINALISTS)]
    for model, tuned in sorted(every.items()):
        lines = [f"[{model}]", f"trials = {number}", f"validation = {tuned.validation:.6f}"]
        if data in TABLE1.get(model, {}):
            lines.append(f"paper = {TABLE1[model][data][0]}")
        lines.append(f"[{model}.params]")
        lines += [f"{key} = {_toml(value)}" for key, value in tuned.params.items()]
        parts.append("\n".join(lines) + "\n")
    path = folder / f"{data}.toml"
    with atomic_write(path) as temporary:
        temporary.write_text("\n".join(parts), encoding="utf-8")
    return path


def _toml(value: Any) -> str:
    """Return a value as TOML: as in JSON, except for tables and lists."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
