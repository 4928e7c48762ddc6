"""What to try next: Optuna's tree-structured Parzen estimator (TPE), told of all trials anew each time.

Optuna keeps nothing: the records are the truth, and what is proposed depends on the seed, the number of the
trial and the trials so far alone. So a search that was stopped continues as if it had not been.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from statistics import mean
from types import ModuleType
from typing import Any

import numpy as np

from otherhalf.errors import InputError
from otherhalf.experiments.tuning.space import Dimension, Way
from otherhalf.experiments.tuning.trial import Trial

RANDOM = 10
"""Number of trials before TPE has enough to learn from; until then, points are drawn at random."""

ATTEMPTS = 10
DRAWS = 200
"""How often another point is asked of TPE, then drawn at random, where a point was tried before."""

WAY = "way"


def check_optuna() -> ModuleType:
    """Return Optuna; raise InputError if it is not installed."""
    try:
        import optuna
    except ImportError as error:
        raise InputError(
            "a search over settings needs Optuna: install it with `pip install 'otherhalf[tune]'`"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    module: ModuleType = optuna
    return module


def propose(
    ways: Sequence[Way], trials: Sequence[Trial], seed: int, number: int, *, larger_is_better: bool
) -> tuple[Way, dict[str, Any]] | None:
    """Return the way and the point of the next trial: the defaults of all ways first, and nothing twice.

    Return None if every point that was drawn has been tried: the space is small, and exhausted.

    Args:
        ways: The ways.
        trials: All trials so far, also those that run.
        seed: Seed of the search.
        number: Number of the next trial.
        larger_is_better: Whether larger scores are better.
    """
    seen = {_identity(trial.way, trial.point) for trial in trials}
    for way in ways:
        if _identity(way, {}) not in seen:
            return way, {}
    for way, point in _drawn(ways, trials, seed, number, larger_is_better):
        if _identity(way, point) not in seen:
            return way, point
    return None


def _identity(way: Way, point: dict[str, Any]) -> tuple[str, str]:
    return way.name, repr(sorted(point.items()))


def _drawn(
    ways: Sequence[Way], trials: Sequence[Trial], seed: int, number: int, larger_is_better: bool
) -> Iterator[tuple[Way, dict[str, Any]]]:
    """Yield points: those of TPE, then random ones."""
    if len(trials) >= RANDOM:
        for attempt in range(ATTEMPTS):
            yield _asked(ways, trials, _seed(seed, number, attempt), larger_is_better)
    rng = np.random.default_rng([seed, number])
    for _ in range(DRAWS):
        way = ways[int(rng.integers(len(ways)))]
        values = {each.name: each.values[int(rng.integers(len(each.values)))] for each in way.dimensions}
        yield way, way.point(values)


def _seed(*numbers: int) -> int:
    """Return a seed that the sampler takes."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def _asked(
    ways: Sequence[Way], trials: Sequence[Trial], seed: int, larger_is_better: bool
) -> tuple[Way, dict[str, Any]]:
    """Return the point that TPE proposes."""
    optuna = check_optuna()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=RANDOM, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    places = {way.name: place for place, way in enumerate(ways)}
    qualities = quality_of(trials, larger_is_better=larger_is_better)
    for trial in trials:
        distributions, values = _described(optuna, ways, trial, places[trial.way.name])
        known = qualities.get(trial.number)
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.RUNNING if known is None else optuna.trial.TrialState.COMPLETE,
                value=known,
                params=values,
                distributions=distributions,
            )
        )
    asked = study.ask()
    way = ways[asked.suggest_categorical(WAY, list(range(len(ways))))]
    chosen: dict[str, Any] = {}
    for dimension in way.dimensions:  # a switch comes before what depends on it
        if way.decides(dimension, chosen):
            name, last = f"{way.name}/{dimension.name}", len(dimension.values) - 1
            if _has_order(dimension):
                at = asked.suggest_int(name, 0, last)
            else:
                at = asked.suggest_categorical(name, list(range(last + 1)))
            chosen[dimension.name] = dimension.values[at]
    return way, way.point(chosen)


def _described(
    optuna: ModuleType, ways: Sequence[Way], trial: Trial, place: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the distributions and the values of a trial, as Optuna has them: places among the values."""
    distributions = {WAY: optuna.distributions.CategoricalDistribution(list(range(len(ways))))}
    values = {WAY: place}
    for dimension in trial.way.dimensions:
        if trial.way.decides(dimension, trial.point):
            name = f"{trial.way.name}/{dimension.name}"
            distributions[name] = _distribution(optuna, dimension)
            values[name] = dimension.values.index(trial.point.get(dimension.name, dimension.default))
    return distributions, values


def _distribution(optuna: ModuleType, dimension: Dimension) -> Any:
    last = len(dimension.values) - 1
    if _has_order(dimension):
        return optuna.distributions.IntDistribution(0, last)
    return optuna.distributions.CategoricalDistribution(list(range(last + 1)))


def _has_order(dimension: Dimension) -> bool:
    return dimension.ordered and len(dimension.values) > 2


def quality_of(trials: Sequence[Trial], *, larger_is_better: bool) -> dict[int, float]:
    """Return how good each trial with a score is, by its number; larger is better, and failed is worst.

    Fits of one number are on the same nodes, and some nodes are easier than others. So a trial counts with
    the mean of its differences to the defaults, fit by fit; before they have a score, with its first fit.
    """
    sign = 1.0 if larger_is_better else -1.0
    first = trials[0].scores
    known = {}
    for trial in trials:
        if trial.error or not trial.scores:
            continue
        shared = [fit for fit in trial.scores if fit in first]
        if not first and 0 in trial.scores:
            known[trial.number] = sign * trial.scores[0]
        elif shared:
            known[trial.number] = sign * mean(trial.scores[fit] - first[fit] for fit in shared)
    worst = min(known.values(), default=0.0)
    return known | {trial.number: worst for trial in trials if trial.error}
