"""Every model that is compared, by name: how it is made, and all that decides a fit of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otherhalf.errors import InputError
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.settings import to_dict
from otherhalf.experiments.runner.job import Job, plain
from otherhalf.nn.models.registry import KINDS

TITLES = {"goal": "GOAL", **{name: kind.title for name, kind in KINDS.items()}}
"""What papers call each model, by the name that the command line takes."""

PAPERS = ("mlp", "gcn", "gat", "appnp", "sage", "chebynet", "gprgnn", "jknet", "goal")
"""The nine of the paper's first table."""

RIVALS = ("linkx", "acmgcn")
"""Later models that are stronger on heterophilous graphs."""

Classifier = GOALClassifier | BaselineClassifier


def check_model(name: str) -> None:
    """Refuse a model that there is not."""
    if name not in TITLES:
        raise InputError(f"there is no model {name!r}: choose among {', '.join(TITLES)}")


def make_model(
    name: str, params: Mapping[str, Any], seed: int, metric: str, device: str = "cpu"
) -> Classifier:
    """An unfitted model with these arguments, everything else at its default."""
    check_model(name)
    try:
        if name == "goal":
            return GOALClassifier(seed=seed, metric=metric, device=device, **params)
        return BaselineClassifier(name, seed=seed, metric=metric, device=device, **params)
    except TypeError as error:
        raise InputError(f"{name} does not take these settings ({error}): correct them") from error


def configuration(name: str, params: Mapping[str, Any], metric: str, data: str) -> dict[str, Any]:
    """All that decides a fit but data, split and seed: what was said, and what came of it.

    What came of it stands beside what was said, because a preset or a default may change: then a run counts
    as another one. A setting that is None is left out, so that one that is added later, with None for what
    was done before, makes no other runs of those that there are.
    """
    resolved = _without_none(to_dict(make_model(name, params, 0, metric).resolved_settings(data)))
    full: dict[str, Any] = plain({"params": dict(params), "settings": resolved, "metric": metric})
    return full


def model_of(job: Job, device: str = "cpu") -> Classifier:
    """The model that a job describes, if this version would still fit it with the same settings."""
    params, metric = job.options["params"], job.options["metric"]
    wanted = configuration(job.model, params, metric, job.data)
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
