"""A search over settings: the same number of trials for every model, judged on validation nodes only.

The first trials of a model are a list: its defaults, then the other :data:`ARCHITECTURES`, which are the same
for every neural network but GOAL, each with a choice of the model's own options. Further trials are drawn.
Every trial is fitted on the first split of the search; the best :data:`FINALISTS` also on the other splits,
and the one with the best mean over all splits is chosen.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from otherhalf.data.splits import ONE_SPLIT
from otherhalf.errors import InputError
from otherhalf.estimators.simple_rows import SIMPLE
from otherhalf.estimators.trees import KINDS as TREE_KINDS
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import make_model, model_name
from otherhalf.experiments.runner.store import Store
from otherhalf.nn.models.registry import model_spec
from otherhalf.system.seeds import generator

SEEDS = (50, 51, 52)
"""Splits that settings are chosen on; no reported run uses them."""

PUBLISHED_SEEDS = (0, 1, 2)
"""Published splits are few and all reported, so settings are chosen on the validation nodes of the first."""

TRIALS = 8
MOST_TRIALS = 200
FINALISTS = 2

COMMON = {"epochs": 300, "patience": 40}

COLUMNS = ("hidden", "layers", "dropout", "norm", "residual", "lr", "weight_decay", "scaling")
ARCHITECTURES: tuple[tuple[Any, ...], ...] = (
    (64, 2, 0.5, "layer", True, 0.01, 5e-4, "auto"),
    (64, 2, 0.5, "none", False, 0.01, 5e-4, "row"),
    (128, 2, 0.7, "none", False, 0.01, 5e-4, "auto"),
    (128, 2, 0.5, "layer", True, 0.005, 5e-5, "auto"),
    (64, 3, 0.5, "batch", True, 0.01, 5e-4, "auto"),
    (64, 2, 0.5, "layer", True, 0.05, 5e-5, "auto"),
    (64, 2, 0.2, "none", True, 0.01, 5e-5, "row"),
    (128, 2, 0.7, "batch", True, 0.01, 5e-5, "auto"),
)
"""Architectures and training settings that are tried for every baseline; the first is the default."""

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
"""Trials of GOAL: both presets, then encoders of several kinds with architectures of the list above."""

TREES = tuple({"kind": kind, "leaf": leaf} for leaf in (2, 1, 5, 10) for kind in TREE_KINDS)
"""Trials of the trees; the first is the default."""

MORE_TREES = tuple({"kind": TREE_KINDS[i % 2], "leaf": i + 1, "trees": 50 * (i % 10 + 1)} for i in range(20))
"""Values that further trials of the trees are drawn from, each setting by itself."""


@dataclass(frozen=True)
class Tuned:
    """The settings that a search chose for one model.

    Attributes:
        params: Arguments of the model.
        validation: Mean score on the validation nodes.
        trials: Number of settings tried.
    """

    params: dict[str, Any]
    validation: float
    trials: int


def candidates(model: str, count: int) -> list[dict[str, Any]]:
    """Return the first ``count`` trials of a model: always the same, and all different."""
    _check_trials(count)
    model = model_name(model)
    if model in SIMPLE:  # they choose by themselves
        return [{}]
    own: dict[str, Sequence[dict[str, Any]]] = {"goal": GOAL, "trees": TREES}
    common: dict[str, Any] = {}
    if model in own:
        trials = [dict(params) for params in own[model]]
    else:
        common = COMMON
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in ARCHITECTURES]
        options = model_spec(model).trials or ({},) * len(rows)
        trials = [{**common, **row, **more} for row, more in zip(rows, options, strict=True)]
    if count > len(trials):
        trials += _drawn(model, trials, common, count - len(trials))
    return trials[:count]


def _drawn(
    model: str, listed: list[dict[str, Any]], common: dict[str, Any], count: int
) -> list[dict[str, Any]]:
    """Return further trials: each setting as in one of the list, or left out where that one lacks it.

    The list of the trees has all their combinations, so theirs are drawn from :data:`MORE_TREES`.
    """
    rng = generator(0)
    sources: Sequence[dict[str, Any]] = [params for params in listed if "preset" not in params]
    if model == "trees":
        sources = MORE_TREES
    names = sorted({name for params in sources for name in params} - set(COMMON))
    seen = [_resolved(model, params) for params in listed]
    drawn: list[dict[str, Any]] = []
    while len(drawn) < count:
        params = dict(common)
        for name in names:
            source = sources[int(rng.integers(len(sources)))]
            params |= {name: source[name]} if name in source else {}
        settings = _resolved(model, params)
        if settings not in seen:
            drawn.append(params)
            seen.append(settings)
    return drawn


def _resolved(model: str, params: dict[str, Any]) -> Any:
    return make_model(model, params, 0, "accuracy").resolved_settings()


def _check_trials(count: int) -> None:
    if not 1 <= count <= MOST_TRIALS:
        raise InputError(f"{count} trials cannot be made for every model: give 1 to {MOST_TRIALS}")


def check_runs(runs: int) -> None:
    """Raise InputError if there are too few runs, or so many that they include the splits of the search."""
    if runs < 1:
        raise InputError(f"{runs} runs are too few: give 1 or more")
    if runs > min(SEEDS):
        raise InputError(
            f"{runs} runs are too many, because settings are chosen on splits from {min(SEEDS)} on: give "
            f"{min(SEEDS)} or less"
        )


def search_seeds(split: str, published: int | None = None) -> tuple[int, ...]:
    """Return the splits that settings are chosen on; ``published`` is the number of published splits."""
    seeds = {"fixed": PUBLISHED_SEEDS, **dict.fromkeys(ONE_SPLIT, (0,))}.get(split, SEEDS)
    return seeds if published is None else tuple(seed for seed in seeds if seed < published)


Run = Callable[[Sequence[Job]], None]
"""Runs the jobs that the store has no record of."""


def search(
    wanted: Iterable[tuple[str, BenchmarkData]],
    store: Store,
    run: Run,
    *,
    trials: int = TRIALS,
    seeds: Sequence[int] = SEEDS,
) -> list[Tuned]:
    """Return the best settings for each pair of a model and a graph.

    There are two rounds over all pairs, so that no core is idle: every trial on the first split, then the
    finalists on the other splits.
    """
    _check_trials(trials)
    searches = [_Search(model, benchmark, store) for model, benchmark in wanted]
    for each in searches:
        if each.model in SIMPLE:
            raise InputError(f"{each.model} chooses by itself and has nothing to search: leave it out")
    tried = [(each, candidates(each.model, trials)) for each in searches]
    run([each.job(params, seeds[0]) for each, tries in tried for params in tries])
    best = [(each, each.sorted(tries, seeds[:1])[:FINALISTS]) for each, tries in tried]
    run([each.job(params, seed) for each, tries in best for params in tries for seed in seeds[1:]])
    chosen = [(each, each.sorted(tries, seeds)[0]) for each, tries in best]
    return [Tuned(params, each.validation(params, seeds), trials) for each, params in chosen]


@dataclass(frozen=True)
class _Search:
    """The search for one model on one graph."""

    model: str
    benchmark: BenchmarkData
    store: Store

    def job(self, params: dict[str, Any], seed: int) -> Job:
        return self.benchmark.job("trial", self.model, params, seed)

    def sorted(self, tries: list[dict[str, Any]], seeds: Sequence[int]) -> list[dict[str, Any]]:
        return sorted(tries, key=lambda params: -self.benchmark.quality(self.validation(params, seeds)))

    def validation(self, params: dict[str, Any], seeds: Sequence[int]) -> float:
        records = [self.store.get(self.job(params, seed)) for seed in seeds]
        scores = [None if record is None else record.result["val"] for record in records]
        # A trial that failed, or whose score is undefined, must not be chosen.
        worst = self.benchmark.quality(-1.0)
        return mean(worst if score is None else score for score in scores)
