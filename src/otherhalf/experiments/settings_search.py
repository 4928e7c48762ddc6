"""One search over settings for every model: the same number of trials each, judged on validation alone.

The first trials of a model are a list made to cover what matters: its defaults, then the frames of
:data:`FRAMES`, the same for every model, and beside them what it has of its own. Further ones are drawn.
Each is fitted on the first of the search's splits; the best :data:`FINALISTS` of them also on the others, and
the one with the best mean over all splits is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from otherhalf.experiments.job import Job
from otherhalf.experiments.models import configuration
from otherhalf.experiments.store import Store
from otherhalf.experiments.tasks import data_hash
from otherhalf.graph import Graph
from otherhalf.seeds import generator

SEEDS = (50, 51, 52)
"""The splits that settings are chosen on; no reported run uses them."""

TRIALS = 8
FINALISTS = 2

COMMON = {"epochs": 300, "patience": 40}

COLUMNS = ("hidden", "layers", "dropout", "norm", "residual", "lr", "weight_decay", "scaling")
FRAMES: tuple[tuple[Any, ...], ...] = (
    (64, 2, 0.5, "layer", True, 0.01, 5e-4, "auto"),
    (64, 2, 0.5, "none", False, 0.01, 5e-4, "row"),
    (128, 2, 0.7, "none", False, 0.01, 5e-4, "auto"),
    (128, 2, 0.5, "layer", True, 0.005, 5e-5, "auto"),
    (64, 3, 0.5, "batch", True, 0.01, 5e-4, "auto"),
    (128, 3, 0.2, "layer", False, 0.005, 5e-4, "auto"),
    (64, 2, 0.2, "none", True, 0.01, 5e-5, "row"),
    (128, 2, 0.7, "batch", True, 0.01, 5e-5, "auto"),
)
"""Frames that are tried for every baseline; the first is the default."""

OWN: dict[str, dict[str, tuple[Any, ...]]] = {
    "appnp": {"steps": (10, 10, 10, 10, 5, 5, 10, 10), "teleport": (0.1, 0.1, 0.2, 0.1, 0.5, 0.2, 0.2, 0.5)},
    "gprgnn": {
        "steps": (10, 10, 10, 10, 10, 5, 10, 10),
        "teleport": (0.1, 0.1, 0.5, 0.1, 0.9, 0.5, 0.2, 0.9),
    },
    "chebynet": {"steps": (2, 2, 1, 1, 1, 2, 3, 2)},
}
"""What a model has of its own, frame by frame."""

GOAL: tuple[dict[str, Any], ...] = (
    {},
    {"preset": "paper"},
    {"hidden": 128, "dropout": 0.7},
    {"hidden": 64, "dropout": 0.5, "norm": "none", "residual": False, "k": 5},
    {"hidden": 128, "dropout": 0.5, "lr": 0.005, "weight_decay": 5e-5, "k": 20},
    {"hidden": 64, "layers": 3, "dropout": 0.5, "norm": "batch", "residual": True},
    {"hidden": 128, "layers": 1, "dropout": 0.7},
    {"hidden": 64, "dropout": 0.7, "k": 5, "weight_decay": 5e-5},
)
"""GOAL's own list: both presets, then the same frames over the preset ``best``, with other K."""


@dataclass(frozen=True)
class Choice:
    """What a search came to: the settings, their mean on validation, and how many were tried."""

    params: dict[str, Any]
    validation: float
    trials: int


def candidates(model: str, count: int) -> list[dict[str, Any]]:
    """The first ``count`` trials of a model: always the same ones, none twice."""
    if model == "goal":
        found = [dict(params) for params in GOAL]
    else:
        rows = [dict(zip(COLUMNS, frame, strict=True)) for frame in FRAMES]
        own = OWN.get(model, {})
        found = [
            {**COMMON, **row, **{name: values[i] for name, values in own.items()}}
            for i, row in enumerate(rows)
        ]
    rng = generator(0)
    names = sorted({name for params in found for name in params} - {"preset", *COMMON})
    while len(found) < count:
        # Each value from one of the trials that give one: a new combination of what is known to make sense.
        drawn = dict(COMMON) if model != "goal" else {}
        for name in names:
            values = [params[name] for params in found[:TRIALS] if name in params]
            drawn[name] = values[int(rng.integers(len(values)))]
        if drawn not in found:
            found.append(drawn)
    return found[:count]


Run = Callable[[Sequence[Job]], None]
"""Sees to it that the store has a record of each of these jobs."""


@dataclass(frozen=True)
class Subject:
    """One model on one graph, whose settings are looked for."""

    model: str
    graph: Graph
    data: str
    metric: str
    split: str = "uniform"

    def job(self, params: Mapping[str, Any], seed: int, task: str = "trial") -> Job:
        """A run of this model on this graph."""
        return Job(
            task,
            self.data,
            data_hash(self.graph, self.split),
            self.model,
            configuration(self.model, params, self.metric, self.graph),
            self.split,
            seed,
        )


def search(
    subjects: Iterable[Subject],
    store: Store,
    run: Run,
    *,
    trials: int = TRIALS,
    seeds: Sequence[int] = SEEDS,
) -> list[Choice]:
    """The settings found for each subject, in their order.

    Three rounds over all subjects at once, so that no core waits: the defaults, which also tell which encoder
    suits GOAL (the other trials keep to it); the other trials on the first split; the finalists on the rest.
    """
    subjects = list(subjects)
    first = seeds[0]
    run([subject.job(candidates(subject.model, 1)[0], first) for subject in subjects])
    tried = [_trials(subject, store, trials, first) for subject in subjects]
    run([subject.job(p, first) for subject, each in zip(subjects, tried, strict=True) for p in each])
    finalists = [
        sorted(each, key=lambda p, s=subject: -_validation(s, p, store, [first]))[:FINALISTS]  # type: ignore[misc]
        for subject, each in zip(subjects, tried, strict=True)
    ]
    run(
        [
            subject.job(p, seed)
            for subject, each in zip(subjects, finalists, strict=True)
            for p in each
            for seed in seeds[1:]
        ]
    )
    choices = []
    for subject, each in zip(subjects, finalists, strict=True):
        values = [_validation(subject, p, store, seeds) for p in each]
        best = max(range(len(each)), key=values.__getitem__)
        choices.append(Choice(each[best], values[best], trials))
    return choices


def _trials(subject: Subject, store: Store, count: int, first: int) -> list[dict[str, Any]]:
    each = candidates(subject.model, count)
    if subject.model != "goal":
        return each
    # The encoder that the defaults chose on validation; to train all four in every trial would buy nothing.
    record = store.get(subject.job(each[0], first))
    if record is None:
        return each
    plain = record.result["encoder"] == "gcn" and record.result["encoder_plain"]
    encoder = "gcn-plain" if plain else record.result["encoder"]
    return [p if "preset" in p or not p else {**p, "encoder": encoder} for p in each]


def _validation(subject: Subject, params: dict[str, Any], store: Store, seeds: Sequence[int]) -> float:
    found = []
    for seed in seeds:
        record = store.get(subject.job(params, seed))
        # A trial that failed, or whose score is not defined, is one that nobody would choose.
        found.append(-1.0 if record is None or record.result["val"] is None else record.result["val"])
    return mean(found)
