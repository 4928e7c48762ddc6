"""One search over settings for every model: the same number of trials each, judged on validation alone.

The first trials of a model are a list made to cover what matters: its defaults, then the frames of
:data:`FRAMES`, the same for every model, and beside them what it has of its own. Further ones are drawn.
Each is fitted on the first of the search's splits; the best :data:`FINALISTS` of them also on the others, and
the one with the best mean over all splits is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from otherhalf.errors import InputError
from otherhalf.experiments.models import make_model
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store
from otherhalf.system.seeds import generator

SEEDS = (50, 51, 52)
"""The splits that settings are chosen on; no reported run uses them."""

PUBLISHED_SEEDS = (0, 1, 2)
"""Published splits are few and all reported: settings are chosen on the validation nodes of the first."""

TRIALS = 8
MOST_TRIALS = 200
FINALISTS = 2

COMMON = {"epochs": 300, "patience": 40}

COLUMNS = ("hidden", "layers", "dropout", "norm", "residual", "lr", "weight_decay", "scaling")
FRAMES: tuple[tuple[Any, ...], ...] = (
    (64, 2, 0.5, "layer", True, 0.01, 5e-4, "auto"),
    (64, 2, 0.5, "none", False, 0.01, 5e-4, "row"),
    (128, 2, 0.7, "none", False, 0.01, 5e-4, "auto"),
    (128, 2, 0.5, "layer", True, 0.005, 5e-5, "auto"),
    (64, 3, 0.5, "batch", True, 0.01, 5e-4, "auto"),
    (64, 2, 0.5, "layer", True, 0.05, 5e-5, "auto"),
    (64, 2, 0.2, "none", True, 0.01, 5e-5, "row"),
    (128, 2, 0.7, "batch", True, 0.01, 5e-5, "auto"),
)
"""Frames that are tried for every baseline; the first is the default."""


def _walks(steps: tuple[int, ...], *teleport: float) -> tuple[dict[str, Any], ...]:
    if not teleport:
        return tuple({"steps": far} for far in steps)
    return tuple({"steps": far, "teleport": t} for far, t in zip(steps, teleport, strict=True))


_AUTHORS_GPR = {"epochs": 1000, "norm": "none", "residual": False, "lr": 0.05, "weight_decay": 0.0}

OWN: dict[str, tuple[dict[str, Any], ...]] = {
    "appnp": _walks((10, 10, 10, 10, 5, 5, 10, 10), 0.1, 0.1, 0.2, 0.1, 0.5, 0.2, 0.2, 0.5),
    "chebynet": _walks((2, 2, 1, 1, 1, 2, 3, 2)),
    "gprgnn": (
        {"steps": 10, "teleport": 0.1, "walk_dropout": 0.0},
        {"steps": 10, "teleport": 0.1, "walk_dropout": 0.5},
        {"steps": 10, "teleport": 0.5, "walk_dropout": 0.0},
        {"steps": 10, "teleport": 0.1, "walk_dropout": 0.0},
        {"steps": 10, "teleport": 0.9, "walk_dropout": 0.0},
        {"steps": 10, "teleport": 0.0, "walk_dropout": 0.5, **_AUTHORS_GPR, "patience": 100},
        {"steps": 10, "teleport": 1.0, "walk_dropout": 0.7, **_AUTHORS_GPR, "patience": 200},
        {"steps": 10, "teleport": 0.9, "walk_dropout": 0.5},
    ),
}
"""What a model has of its own, frame by frame.

GPR-GNN is slow to learn its say for far distances: in two of its frames it has large steps, no decay, and
time, as its authors give it.
"""

GOAL: tuple[dict[str, Any], ...] = (
    {},
    {"preset": "paper"},
    {
        "encoder": {
            "kind": "appnp", "hidden": 128, "dropout": 0.7, "norm": "none", "residual": False, "teleport": 0.2
        },
        "hidden": 128, "dropout": 0.7, "norm": "none", "residual": False,
    },
    {
        "encoder": {"kind": "acmgcn", "hidden": 128, "dropout": 0.7, "norm": "none", "residual": False},
        "hidden": 128, "dropout": 0.7,
    },
    {
        "encoder": {"kind": "gat", "hidden": 128, "lr": 0.005, "weight_decay": 5e-5},
        "hidden": 128, "dropout": 0.5, "lr": 0.005, "weight_decay": 5e-5,
    },
    {
        "encoder": {"kind": "gcn", "hidden": 128, "dropout": 0.7, "norm": "batch", "weight_decay": 5e-5},
        "hidden": 128, "dropout": 0.7, "k": 20,
    },
    {
        "encoder": {"kind": "structure", "hidden": 128, "dropout": 0.7, "weight_decay": 5e-5},
        "hidden": 128, "dropout": 0.7, "k": 5,
    },
    {
        "encoder": {"kind": "sage", "hidden": 64, "layers": 3, "norm": "batch"},
        "hidden": 64, "dropout": 0.5, "norm": "batch", "residual": True,
    },
)  # fmt: skip
"""GOAL's own list: both presets, then encoders of several kinds in frames of the list above."""


@dataclass(frozen=True)
class Choice:
    """What a search came to: the settings, their mean on validation, and how many were tried."""

    params: dict[str, Any]
    validation: float
    trials: int


def candidates(model: str, count: int) -> list[dict[str, Any]]:
    """The first ``count`` trials of a model: always the same ones, none twice."""
    _check(count)
    if model == "goal":
        found = [dict(params) for params in GOAL]
    else:
        rows = [dict(zip(COLUMNS, frame, strict=True)) for frame in FRAMES]
        own = OWN.get(model, ({},) * len(FRAMES))
        found = [{**COMMON, **row, **more} for row, more in zip(rows, own, strict=True)]
    rng = generator(0)
    names = sorted({name for params in found for name in params} - {"preset", *COMMON})
    listed = [params for params in found if "preset" not in params]
    seen = [_resolved(model, params) for params in found]
    while len(found) < count:
        # Each as one of the list has it, also left out: a new combination of what is known to make sense.
        drawn = dict(COMMON) if model != "goal" else {}
        for name in names:
            chosen = listed[int(rng.integers(len(listed)))]
            drawn |= {name: chosen[name]} if name in chosen else {}
        if _resolved(model, drawn) not in seen:
            found.append(drawn)
            seen.append(_resolved(model, drawn))
    return found[:count]


def _check(count: int) -> None:
    if not 1 <= count <= MOST_TRIALS:
        raise InputError(f"{count} trials cannot be made for every model: give 1 to {MOST_TRIALS}")


def _resolved(model: str, params: dict[str, Any]) -> Any:
    return make_model(model, params, 0, "accuracy").resolved_settings()


def search_seeds(split: str, published: int | None = None) -> tuple[int, ...]:
    """The splits that settings are chosen on under this protocol; of published ones, as many as there are."""
    seeds = {"fixed": PUBLISHED_SEEDS, "public": (0,)}.get(split, SEEDS)
    return seeds if published is None else tuple(seed for seed in seeds if seed < published)


Run = Callable[[Sequence[Job]], None]
"""Sees to it that the store has a record of each of these jobs."""


def search(
    wanted: Iterable[tuple[str, BenchmarkData]],
    store: Store,
    run: Run,
    *,
    trials: int = TRIALS,
    seeds: Sequence[int] = SEEDS,
) -> list[Choice]:
    """The settings found for each model and graph, in their order.

    Two rounds over all of them at once, so that no core waits: every trial on the first split, then the
    finalists on the rest.
    """
    _check(trials)
    pairs = [_Search(model, benchmark, store) for model, benchmark in wanted]
    first = seeds[0]
    tried = [candidates(each.model, trials) for each in pairs]
    run([each.job(params, first) for each, tries in zip(pairs, tried, strict=True) for params in tries])
    best = [each.best(tries, [first])[:FINALISTS] for each, tries in zip(pairs, tried, strict=True)]
    run(
        [
            each.job(params, seed)
            for each, finalists in zip(pairs, best, strict=True)
            for params in finalists
            for seed in seeds[1:]
        ]
    )
    return [
        each.choice(each.best(finalists, seeds)[0], seeds, trials)
        for each, finalists in zip(pairs, best, strict=True)
    ]


@dataclass(frozen=True)
class _Search:
    """The search for one model on one graph."""

    model: str
    benchmark: BenchmarkData
    store: Store

    def job(self, params: dict[str, Any], seed: int) -> Job:
        return self.benchmark.job("trial", self.model, params, seed)

    def best(self, tries: list[dict[str, Any]], seeds: Sequence[int]) -> list[dict[str, Any]]:
        return sorted(tries, key=lambda params: -self.validation(params, seeds))

    def validation(self, params: dict[str, Any], seeds: Sequence[int]) -> float:
        found = []
        for seed in seeds:
            record = self.store.get(self.job(params, seed))
            # A trial that failed, or whose score is not defined, is one that nobody would choose.
            found.append(-1.0 if record is None or record.result["val"] is None else record.result["val"])
        return mean(found)

    def choice(self, params: dict[str, Any], seeds: Sequence[int], trials: int) -> Choice:
        return Choice(params, self.validation(params, seeds), trials)
