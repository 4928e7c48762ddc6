"""The settings that the search found: a file per protocol and data set, the paper's numbers in it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from otherhalf.errors import InputError
from otherhalf.experiments.paper.published import TABLE1
from otherhalf.experiments.tuning.search import FINALISTS, Choice
from otherhalf.system.atomic import atomic_write

PACKAGED_SETTINGS = Path(str(files("otherhalf.experiments.tuning").joinpath("settings")))


def packaged_settings(split: str) -> Path:
    """Where the package keeps what was found under a protocol: settings of one are not those of another."""
    return PACKAGED_SETTINGS / split


HEADER = """\
# Settings of every model on {data}, found by `otherhalf search`: the best of {trials} trials each by
# validation, all of them on the first of the splits {seeds}, the best {finalists} on the mean over all. The
# test nodes of these splits were not looked at. `paper`: what the paper prints.
"""


@dataclass(frozen=True)
class Tuned:
    """What a file says about one model."""

    params: dict[str, Any]
    validation: float
    trials: int


def read_tuned(data: str, folder: Path) -> dict[str, Tuned]:
    """The settings of each model on a data set; empty where no search has been made."""
    path = folder / f"{data}.toml"
    if not path.is_file():
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            model: Tuned(dict(entry["params"]), float(entry["validation"]), int(entry["trials"]))
            for model, entry in content.items()
        }
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path} cannot be read ({error}): write it anew with `otherhalf search`") from error


def settings_kept(data: str, models: Iterable[str], trials: int, folder: Path) -> dict[str, Tuned]:
    """What the data set's file says of other models; refused if they had another number of trials."""
    searched = set(models)
    kept = {model: found for model, found in read_tuned(data, folder).items() if model not in searched}
    for model, found in kept.items():
        if found.trials != trials:
            raise InputError(
                f"{folder / data}.toml has {model} as the best of {found.trials} trials, and the same number "
                f"is due to every model: search with {found.trials} trials, or for {model} too"
            )
    return kept


def write_tuned(data: str, choices: Mapping[str, Choice], seeds: tuple[int, ...], folder: Path) -> Path:
    """Put the choices into the data set's file; models that were not searched now stay as they are."""
    trials = {choice.trials for choice in choices.values()}
    if len(trials) != 1:
        raise ValueError("every model must have had the same number of trials")
    (number,) = trials
    every: dict[str, Choice | Tuned] = {**settings_kept(data, choices, number, folder), **choices}
    parts = [HEADER.format(data=data, trials=number, seeds=", ".join(map(str, seeds)), finalists=FINALISTS)]
    for model, choice in sorted(every.items()):
        lines = [f"[{model}]", f"trials = {number}", f"validation = {choice.validation:.6f}"]
        if data in TABLE1.get(model, {}):
            lines.append(f"paper = {TABLE1[model][data][0]}")
        lines.append(f"[{model}.params]")
        lines += [f"{key} = {_toml(value)}" for key, value in choice.params.items()]
        parts.append("\n".join(lines) + "\n")
    path = folder / f"{data}.toml"
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as temporary:
        temporary.write_text("\n".join(parts), encoding="utf-8")
    return path


def _toml(value: Any) -> str:
    """A setting as TOML writes it: numbers, texts and truth values as in JSON, but not what has parts."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
