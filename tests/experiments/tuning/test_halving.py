"""Successive halving, by hand and for any scores."""

from hypothesis import given
from hypothesis import strategies as st

from otherhalf.experiments.tuning.halving import SHARE, chosen, next_fit, ranked
from otherhalf.experiments.tuning.space import ways_of
from otherhalf.experiments.tuning.trial import RUNGS, Trial

(GCN,) = ways_of(["gcn"])


def run(scores, *, larger=True, last=True):
    """Do all fits that halving asks for; ``scores`` has those of every trial, in the order of fits."""
    trials, order = [Trial(i, GCN, {}) for i in range(len(scores))], []
    while (found := next_fit(trials, larger_is_better=larger, last=last)) is not None:
        trial, fit = found
        order.append((trial.number, fit))
        trial.add(fit, scores[trial.number][fit], 1.0)
    return trials, order


def test_by_hand():
    scores = [[0.5] * 4] + [[level] * 4 for level in (0.1, 0.2, 0.3, 0.7, 0.6, 0.9, 0.0, 0.05, 0.01)]
    trials, order = run(scores)
    assert order[:10] == [(i, 0) for i in range(10)]  # every trial once
    # Three of the nine others go on, the best first, and the defaults with them, from rung to rung.
    assert order[10:] == [(6, 1), (0, 1), (6, 2), (6, 3), (0, 2), (0, 3), (4, 1), (5, 1)]
    best, rung = chosen(trials, larger_is_better=True)
    assert (best.number, rung) == (6, 2)


def test_smaller_is_better():
    trials, _ = run([[0.5] * 4, [0.1] * 4, [0.9] * 4], larger=False)
    assert chosen(trials, larger_is_better=False)[0].number == 1


def test_a_lucky_first_fit_is_found_out():
    trials, _ = run([[0.5] * 4, [0.9, 0.1, 0.1, 0.1], [0.4] * 4])
    best, rung = chosen(trials, larger_is_better=True)
    assert (best.number, rung) == (0, 2)


def test_before_the_last_trial_nobody_goes_on_too_early():
    trials = [Trial(i, GCN, {}) for i in range(3)]
    for trial in trials:
        trial.add(0, 0.5 + trial.number, 1.0)
    assert next_fit(trials, larger_is_better=True, last=False) is None  # of two others, a third is none
    trials.append(Trial(3, GCN, {}))
    trials[3].add(0, 0.1, 1.0)
    assert next_fit(trials, larger_is_better=True, last=False) == (trials[2], 1)


def test_the_defaults_win_a_tie():
    trials, _ = run([[0.5] * 4] * 5)
    assert chosen(trials, larger_is_better=True)[0].number == 0


def test_failed_trials_are_not_chosen():
    trials = [Trial(i, GCN, {}) for i in range(3)]
    assert chosen(trials, larger_is_better=True) is None
    trials[1].add(0, 0.9, 1.0)
    assert chosen(trials, larger_is_better=True) is None  # the defaults still run
    trials[0].add(0, None, 1.0, "failed")
    assert chosen(trials, larger_is_better=True) == (trials[1], 0)
    trials[1].add(1, None, 1.0, "failed later")
    assert chosen(trials, larger_is_better=True) is None


def test_a_higher_rung_counts_only_beside_the_defaults():
    trials = [Trial(0, GCN, {}), Trial(1, GCN, {})]
    trials[0].add(0, 0.5, 1.0)
    trials[1].add(0, 0.6, 1.0)
    trials[1].add(1, 0.0, 1.0)  # its mean is below, but the defaults have no second fit to compare with
    assert chosen(trials, larger_is_better=True) == (trials[1], 0)
    trials[0].add(1, 0.5, 1.0)
    assert chosen(trials, larger_is_better=True) == (trials[0], 1)


SCORES = st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=4, max_size=4), min_size=1)


@given(SCORES)
def test_the_choice_is_never_worse_than_the_defaults_and_fits_are_few(scores):
    trials, order = run(scores)
    assert len(set(order)) == len(order)
    best, rung = chosen(trials, larger_is_better=True)
    assert best.mean(rung) >= trials[0].mean(rung)
    assert best.number == 0 or best.mean(rung) > trials[0].mean(rung)
    others = len(scores) - 1
    goes_on = max(1, others // SHARE) if others else 0
    assert len(order) <= len(scores) + 3 + goes_on + 2 * max(1, goes_on)
    for rung in range(len(RUNGS)):
        assert ranked(trials, rung, larger_is_better=True) == sorted(
            (t for t in trials if t.has(rung)), key=lambda t: (-t.mean(rung), t.number)
        )
