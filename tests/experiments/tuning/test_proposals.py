"""What is tried next: the defaults, then nothing twice, and in the end what the records speak for."""

import sys
from collections import Counter

import numpy as np
import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.tuning.proposals import RANDOM, check_optuna, propose, quality_of
from otherhalf.experiments.tuning.space import Dimension, Way, ways_of
from otherhalf.experiments.tuning.trial import Trial

pytest.importorskip("optuna", reason="needs `pip install 'otherhalf[tune]'`")

WAYS = ways_of(["goal", "gcn"])
SMALL = [Way("gcn", {}, (Dimension("hidden", (8, 16, 32), 16), Dimension("residual", (False, True), True)))]


def searched(ways, count, score, seed=0, larger=True):
    """Trials of one fit each; ``score`` maps a way and a point to its score."""
    trials = []
    for number in range(count):
        found = propose(ways, trials, seed, number, larger_is_better=larger)
        if found is None:
            break
        trial = Trial(number, *found)
        trial.add(0, score(*found), 1.0)
        trials.append(trial)
    return trials


def asked(trials):
    return [(trial.way.name, trial.point) for trial in trials]


def test_the_defaults_of_every_way_are_first():
    trials = searched(WAYS, 4, lambda way, point: 0.5)
    assert asked(trials)[:3] == [("goal", {}), ("goal-embedding", {}), ("gcn", {})]
    assert trials[3].point


def test_the_same_seed_asks_the_same_and_another_one_does_not():
    def score(way, point):
        return len(point) / 10

    first = asked(searched(WAYS, 16, score))
    assert first == asked(searched(WAYS, 16, score))
    assert first != asked(searched(WAYS, 16, score, seed=1))


def test_nothing_is_tried_twice_and_a_small_space_ends():
    trials = searched(SMALL, 50, lambda way, point: 0.5)
    points = [repr(sorted(trial.point.items())) for trial in trials]
    assert len(points) == len(set(points)) == SMALL[0].size == 6


@pytest.mark.parametrize("larger", [True, False])
def test_it_learns_what_is_better(larger):
    """Half of the random points have the better value; of those that TPE asks for, most do."""
    sign = 1 if larger else -1
    (gcn,) = ways_of(["gcn"])

    def score(way, point):
        return sign * (0.3 * (point.get("hidden", 64) == 16) + 0.3 * (point.get("norm", "layer") == "none"))

    trials = searched([gcn], 40, score, larger=larger)
    later = Counter(trial.point.get("norm", "layer") for trial in trials[RANDOM + 5 :])
    assert later["none"] > 0.6 * later.total()


def test_trials_that_run_are_known():
    trials = searched(WAYS, 12, lambda way, point: 0.5)
    running = Trial(12, *propose(WAYS, trials, 0, 12, larger_is_better=True))
    other = propose(WAYS, [*trials, running], 0, 13, larger_is_better=True)
    assert (other[0].name, other[1]) != (running.way.name, running.point)


def test_scores_count_as_differences_to_the_defaults():
    gcn = WAYS[2]
    trials = [Trial(number, gcn, {}) for number in range(5)]
    for trial, scores in zip(trials, [[0.5, 0.9], [0.6, 0.8], [0.55], [], []], strict=True):
        for fit, score in enumerate(scores):
            trial.add(fit, score, 1.0)
    trials[3].add(0, None, 1.0, "failed")
    found = quality_of(trials, larger_is_better=True)
    assert found == {0: 0.0, 1: pytest.approx(0.0), 2: pytest.approx(0.05), 3: 0.0}
    assert quality_of(trials, larger_is_better=False)[2] == pytest.approx(-0.05)


def test_without_the_defaults_the_first_fit_counts():
    gcn = WAYS[2]
    trials = [Trial(0, gcn, {}), Trial(1, gcn, {"hidden": 32})]
    trials[1].add(0, 0.7, 1.0)
    assert quality_of(trials, larger_is_better=True) == {1: 0.7}


def test_the_state_of_numpy_is_left_alone():
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    searched(WAYS, 13, lambda way, point: 0.5)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_without_optuna_one_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"needs Optuna: install it with `pip install 'otherhalf\[tune\]'`"):
        check_optuna()
