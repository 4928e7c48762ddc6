"""The models that experiments compare: how each is made, and everything that decides a fit of it."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.settings import Settings
from otherhalf.estimators.simple_rows import SIMPLE
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.experiments.runner.job import Job, canonical
from otherhalf.nn.models.registry import MODELS, ModelSpec
from otherhalf.system.fields import to_dict

GOAL = "goal"
TREES = "trees"
GOAL_EMBEDDING = "goal-embedding"

TITLES = {
    GOAL: "GOAL",
    TREES: "Trees on the graph as a table",
    GOAL_EMBEDDING: "GOAL, embedding",
    **{name: title for name, (title, _) in SIMPLE.items()},
}
"""The names that are no entry of MODELS."""

ALIASES = {GOAL_EMBEDDING: GOAL}
"""Second names, for a second row in a table: in jobs, records and files of settings stands the model."""

GOAL_DEFAULT: dict[str, Any] = {"method": "kernel"}
"""GOAL as a user gets it. The method is named because records without one are the embedding's."""


def model_name(name: str) -> str:
    """Return the model that a name stands for: the name itself, unless it is a second name."""
    return ALIASES.get(name, name)


def title_of(model: str) -> str:
    """Return the name of a model as papers write it; raise InputError if there is no such model."""
    if model in TITLES:
        return TITLES[model]
    if model not in MODELS:
        known = ", ".join((GOAL, *MODELS, TREES, *SIMPLE, GOAL_EMBEDDING))
        raise InputError(f"there is no model {model!r}: choose among {known}")
    return MODELS[model].title


def compared_models() -> tuple[str, ...]:
    """Return the models of a full comparison: the paper's, GOAL as the last of them, then later models."""
    names = [name for name, spec in MODELS.items() if spec.compared]
    papers = [name for name in names if MODELS[name].in_paper]
    return (*papers, GOAL, *(name for name in names if name not in papers), TREES)


def make_model(
    name: str, params: Mapping[str, Any], seed: int, metric: str, device: str = "cpu"
) -> NodeClassifier:
    """Return an unfitted model with these arguments; everything else has its default."""
    title_of(name)  # raises InputError if there is no such model
    name = model_name(name)
    try:
        if name == GOAL:
            return GOALClassifier(seed=seed, metric=metric, device=device, **_with_method(params))
        if name in SIMPLE:
            return SIMPLE[name][1](seed=seed, metric=metric, device=device, **params)
        if name == TREES:
            return TreesClassifier(seed=seed, metric=metric, device=device, **params)
        return BaselineClassifier(name, seed=seed, metric=metric, device=device, **params)
    except TypeError as error:
        raise InputError(f"{name} does not take these settings ({error}): correct them") from error


def _with_method(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return GOAL's arguments; without a method they are those of records before there was another."""
    return dict(params) if "method" in params else {**params, "method": "embedding"}


def configuration(name: str, params: Mapping[str, Any], metric: str, data_set: str = "") -> dict[str, Any]:
    """Return what decides a fit besides data, split and seed: the arguments, and the settings they give.

    The settings are listed too because a preset or a default may change: then it is another run. A setting
    that is None is left out. So a new setting whose None means the old behaviour changes no run.

    Args:
        name: The model.
        params: Its arguments.
        metric: Metric that the validation nodes select by.
        data_set: Name of the data set that the graph is by its content; empty for any other graph.
    """
    given, spec = canonical(dict(params)), MODELS.get(name)
    full: dict[str, Any] = json.loads(_configuration(name, spec, given, metric, data_set))
    return full


@lru_cache(maxsize=10_000)
def _configuration(name: str, spec: ModelSpec | None, params: str, metric: str, data_set: str) -> str:
    # Cached, because the same settings are resolved for every split of a table. ``spec`` is part of the key,
    # so that another entry of the same name is resolved again.
    given = json.loads(params)
    resolved = make_model(name, given, 0, metric).resolved_settings(data_set)
    settings = to_dict(resolved)
    if isinstance(resolved, Settings) and resolved.method == GOAL_DEFAULT["method"]:
        # Files leave out these where they are the defaults, but they decide the run, and defaults change.
        settings |= {"kernel": to_dict(resolved.kernel), "ensemble": to_dict(resolved.ensemble)}
    return canonical({"params": given, "settings": _without_none(settings), "metric": metric})


def model_of(job: Job, device: str = "cpu") -> NodeClassifier:
    """Return the model of a job; raise InputError if this version resolves its settings differently."""
    params, metric = job.options["params"], job.options["metric"]
    wanted = configuration(job.model, params, metric, job.data_set)
    if any(job.options[name] != value for name, value in wanted.items()):
        raise InputError(
            f"{job.model} on {job.data}: this version resolves its settings differently from the job's: plan "
            "the experiment again"
        )
    return make_model(job.model, params, job.seed, metric, device)


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_none(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if value is not None
    }
