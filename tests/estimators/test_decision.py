"""The threshold between two classes: chosen by all ways to part the nodes, and applied."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, recall_score

from otherhalf.errors import InputError
from otherhalf.estimators.decision import Decision


def rows(second):
    second = np.asarray(second, dtype=np.float32)
    return np.stack([1 - second, second], axis=1)


def value_at(threshold, p, y, metric):
    predicted = (p[:, 1].astype(np.float64) >= threshold).astype(int)
    if metric == "macro_f1":
        return f1_score(y, predicted, average="macro")
    return np.mean([np.mean(predicted[y == c] == c) for c in np.unique(y)])


def test_by_hand():
    p, y = rows([0.1, 0.2, 0.3, 0.4]), np.array([0, 0, 1, 1])
    decision = Decision.choose(p, y)
    assert decision.threshold == pytest.approx(0.25)
    assert (decision.metric, decision.value) == ("macro_f1", 1.0)
    assert decision.codes(p).tolist() == [0, 0, 1, 1]


def test_of_equal_thresholds_the_nearest_to_one_half():
    p, y = rows([0.1, 0.9]), np.array([0, 1])
    assert Decision.choose(p, y).threshold == 0.5
    y = np.array([1, 1])  # from the first on, or from nowhere on
    assert Decision.choose(rows([0.6, 0.9]), y).threshold == 0.5
    assert Decision.choose(rows([0.2, 0.9]), y).threshold == pytest.approx(0.1)


def test_a_threshold_is_at_least_reached():
    assert Decision(0.3).codes(rows([0.25, 0.5, 0.75])).tolist() == [0, 1, 1]
    assert Decision(0.5).codes(rows([0.25, 0.5, 0.75])).tolist() == [0, 1, 1]
    assert Decision(0.0).codes(rows([0.0, 0.5])).tolist() == [1, 1]


probabilities = st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.625, 1.0]) | st.floats(0, 1, width=32)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(probabilities, st.integers(0, 1)), min_size=1, max_size=25),
    st.sampled_from(["macro_f1", "balanced_accuracy"]),
)
def test_no_other_threshold_is_better(nodes, metric):
    p, y = rows([second for second, _ in nodes]), np.array([code for _, code in nodes])
    chosen = Decision.choose(p, y, metric)
    assert chosen.value == pytest.approx(value_at(chosen.threshold, p, y, metric))
    for other in (*np.unique(p[:, 1].astype(np.float64)), 0.0, 0.5, 1.0):
        assert value_at(other, p, y, metric) <= chosen.value + 1e-9


def test_a_rare_class_is_found():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.08).astype(int)
    p = rows(np.clip(0.15 + 0.15 * y + 0.06 * rng.normal(size=400), 0, 1))
    assert recall_score(y, p.argmax(axis=1)) < 0.1
    assert recall_score(y, Decision.choose(p, y).codes(p)) > 0.6


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: Decision(1.5), "threshold must be a number"),
        (lambda: Decision(float("nan")), "threshold must be a number"),
        (
            lambda: Decision(0.5).codes(np.ones((2, 3)) / 3),
            "a threshold needs 2 classes, and the model has 3",
        ),
        (lambda: Decision.choose(np.ones((2, 3)) / 3, np.array([0, 1])), "a threshold needs 2 classes"),
        (lambda: Decision.choose(rows([0.5]), np.array([0]), "log_loss"), "chosen by one of macro_f1, bal"),
        (lambda: Decision.choose(rows([]), np.array([], dtype=int)), "no labelled node to choose"),
    ],
)
def test_what_is_refused(attempt, message):
    with pytest.raises(InputError, match=message):
        attempt()


def test_as_json_and_back():
    decision = Decision.choose(rows([0.1, 0.3]), np.array([0, 1]))
    assert Decision(**decision.to_dict()) == decision
