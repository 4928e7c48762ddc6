"""The registry of metrics: scores by name, what is refused, and what they select when a model is trained."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, roc_auc_score

from otherhalf import GOALClassifier, InputError, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.graph import Split
from otherhalf.training.measures import accuracy
from otherhalf.training.metrics import METRICS, Metric, all_metrics, check_metric, metric_named, score

TWO = contextual_sbm(num_nodes=150, num_classes=2, num_features=6, homophily=0.6, signal=0.7, seed=4)
THREE = contextual_sbm(num_nodes=120, num_classes=3, num_features=6, seed=1)
PARTS = split(TWO, seed=0)
ONE_CLASS_TO_STOP_BY = Split(train=PARTS.train, val=PARTS.val[TWO.y[PARTS.val] == 1], test=PARTS.test)

# Few distinct values, so that ties are many.
margins = st.sampled_from([-8.0, -2.0, -0.5, -0.25, 0.0, 0.25, 1.0, 3.0]) | st.floats(-8, 8, width=32)
labelled = st.lists(st.tuples(margins, st.integers(0, 1)), min_size=2, max_size=40)
both_classes = labelled.filter(lambda rows: len({y for _, y in rows}) == 2)


def logits_of(rows, level=0.0):
    margin = np.array([m for m, _ in rows], dtype=np.float32)
    logits = np.stack([np.full_like(margin, level), margin + np.float32(level)], axis=1)
    return logits, np.array([y for _, y in rows])


# ---------------------------------------------------------------------- values


@settings(deadline=None)
@given(both_classes)
def test_roc_auc_is_scikit_learns(rows):
    logits, y = logits_of(rows)
    assert score("roc_auc", logits, y) == pytest.approx(roc_auc_score(y, logits[:, 1]), abs=1e-12)


@settings(deadline=None)
@given(both_classes)
def test_logits_and_probabilities_agree(rows):
    # On a grid: margins that differ in a float's last digits only may become ties as probabilities.
    logits, y = logits_of([(round(m * 64) / 64, y) for m, y in rows])
    logits = logits.astype(np.float64)
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert score("roc_auc", probabilities, y) == pytest.approx(score("roc_auc", logits, y), abs=1e-12)
    assert score("roc_auc", probabilities, y) == pytest.approx(roc_auc_score(y, probabilities[:, 1]))
    assert score("accuracy", probabilities, y) == score("accuracy", logits, y)


@settings(deadline=None)
@given(both_classes, st.sampled_from([-64.0, -2.0, 16.0]))
def test_only_the_difference_of_logits_counts(rows, level):
    rows = [(round(m * 4) / 4, y) for m, y in rows]  # exact at any level
    (logits, y), (moved, _) = logits_of(rows), logits_of(rows, level)
    assert score("roc_auc", moved, y) == score("roc_auc", logits, y)
    assert score("roc_auc", logits[:, ::-1], y) == pytest.approx(1 - score("roc_auc", logits, y))


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(2, 5))
def test_accuracy_is_scikit_learns(seed, nodes, classes):
    rng = np.random.default_rng(seed)
    scores, y = rng.integers(0, 4, (nodes, classes)).astype(np.float32), rng.integers(0, classes, nodes)
    assert score("accuracy", scores, y) == pytest.approx(accuracy_score(y, scores.argmax(axis=1)))


def test_by_hand():
    y = np.array([0, 1, 1])
    scores = np.array([[0.6, 0.4], [0.7, 0.3], [0.4, 0.6]])
    assert score("accuracy", scores, y) == pytest.approx(2 / 3)
    assert score("roc_auc", scores, y) == 0.5  # above the 0 stands one of the two 1s
    scores[1] = scores[0]
    assert score("roc_auc", scores, y) == 0.75  # a tie counts half


@pytest.mark.parametrize("only", [0, 1])
def test_one_class_alone_has_no_roc_auc(only):
    scores = np.array([[0.6, 0.4], [0.3, 0.7]])
    assert math.isnan(score("roc_auc", scores, np.array([only, only])))
    assert score("accuracy", scores, np.array([only, only])) == 0.5


def test_nodes_are_chosen_and_unlabelled_ones_left_out():
    y = np.array([0, -1, 1, 1, -1])
    right, wrong = [0.9, 0.1], [0.1, 0.9]
    probabilities = np.array([right, right, wrong, right, wrong])  # of class 0, whatever the label
    assert score("accuracy", probabilities, y) == pytest.approx(2 / 3)
    assert score("accuracy", probabilities, y, np.array([0, 1, 4])) == 1.0
    assert score("accuracy", probabilities, y, np.array([1, 3])) == 0.0
    assert score("roc_auc", probabilities, y, np.array([0, 1, 3])) == 0.5
    assert score("roc_auc", probabilities, y, np.array([0, 2, 4])) == 1.0
    for metric in METRICS:
        assert math.isnan(score(metric, probabilities, y, np.array([1, 4])))
        assert math.isnan(score(metric, probabilities, y, np.array([], dtype=np.int64)))


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.floats(0, 1))
def test_unlabelled_nodes_do_not_count(seed, nodes, share):
    rng = np.random.default_rng(seed)
    probabilities, y = rng.random((nodes, 2)), rng.integers(0, 2, nodes)
    known = rng.random(nodes) >= share
    hidden = np.where(known, y, -1)
    for metric in METRICS:
        expected = score(metric, probabilities[known], y[known])
        assert score(metric, probabilities, hidden) == pytest.approx(expected, nan_ok=True)


def test_quality_is_larger_for_the_better_of_two_and_of_logits_or_probabilities_as_needed():
    seen = []

    def remember(scores, y):
        seen.append(scores)
        return accuracy(scores, y)

    logits, y = np.array([[2.0, 0.0]]), np.array([0])
    assert Metric("m", "M", remember).quality_of_logits(logits, y) == 1.0
    assert Metric("m", "M", remember, needs_probabilities=True).quality_of_logits(logits, y) == 1.0
    assert Metric("m", "M", remember, larger_is_better=False).quality(logits, y) == -1.0
    np.testing.assert_allclose(seen[0], logits)
    np.testing.assert_allclose(seen[1], np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))


def test_logits_of_two_classes_are_ranked_as_they_are():
    """As probabilities in float32, margins of 200 and 300 would be equal."""
    logits, y = np.array([[0.0, 200.0], [0.0, 300.0]], dtype=np.float32), np.array([0, 1])
    assert METRICS["roc_auc"].quality_of_logits(logits, y) == 1.0
    assert METRICS["average_precision"].quality_of_logits(logits, y) == 1.0


def test_logits_of_more_classes_become_probabilities():
    logits = np.array([[9.0, 9.0, 0.0], [1.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]])
    probabilities, y = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), np.array([1, 0, 1, 2])
    for name in ("roc_auc", "average_precision"):
        assert METRICS[name].quality_of_logits(logits, y) == pytest.approx(score(name, probabilities, y))
        assert METRICS[name].function(logits, y) != pytest.approx(score(name, probabilities, y))


def test_all_metrics():
    probabilities, y = np.array([[0.6, 0.4], [0.7, 0.3], [0.4, 0.6], [0.5, 0.5]]), np.array([0, 1, 1, -1])
    values = all_metrics(probabilities, y, ["a", "b"])
    assert list(values) == list(METRICS)
    assert values["top_3"] is None
    assert values["accuracy"] == pytest.approx(2 / 3)
    for name in METRICS:
        if values[name] is not None:
            assert values[name] == score(name, probabilities, y)
    assert all(value is None for value in all_metrics(probabilities[3:], y[3:], ["a", "b"]).values())
    with pytest.raises(InputError, match=r"shape \(4, 2\) for 4 nodes and 3 classes: give \[4, 3\]"):
        all_metrics(probabilities, y, ["a", "b", "c"])


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_can_be_had(metric):
    classes = max(2, METRICS[metric].fewest_classes)
    check_metric(metric, classes)
    check_metric(metric, classes, np.arange(classes))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("f1", 2), f"metric must be one of {', '.join(METRICS)}, not 'f1'"),
        (("top_3", 3), "top-3 accuracy needs at least 4 classes, and the graph has 3: choose accuracy"),
        (("roc_auc", 1), "ROC-AUC needs at least 2 classes, and the graph has 1: choose accuracy"),
        (
            ("roc_auc", 2, np.array([1, 1])),
            "ROC-AUC needs validation nodes of every class: give a split whose val part has them, or choose",
        ),
    ],
)
def test_metrics_that_cannot_be_had_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        check_metric(*arguments)


def test_a_metric_by_name():
    assert all(metric_named(name).name == name for name in METRICS)
    with pytest.raises(InputError, match=r"metric must be one of accuracy, .*, not 'f1'"):
        score("f1", np.ones((1, 2)), np.array([0]))


def test_accuracy_needs_neither_two_classes_nor_both_of_them():
    check_metric("accuracy", 7)
    check_metric("accuracy", 2, np.array([1, 1]))


# ---------------------------------------------------------------------- selecting by it


@pytest.mark.parametrize("kind", ["gcn", "linkx"])
def test_a_baseline_selects_by_it(kind):
    model = BaselineClassifier(kind, epochs=20, hidden=8, metric="roc_auc").fit(TWO, PARTS)
    history = model.history_["classifier"]
    assert history.best_score[0] == max(first for first, _ in history.scores)
    found = score("roc_auc", model.predict_proba(TWO)[PARTS.val], TWO.y[PARTS.val])
    assert found == pytest.approx(history.best_score[0], abs=1e-3)  # probabilities may round to ties


def test_goal_selects_by_it():
    options = {"encoder": "gcn", "epochs": 15, "hidden": 8, "blend": False}
    model = GOALClassifier(metric="roc_auc", **options).fit(TWO, PARTS)
    for stage in ("encoder", "classifier"):
        history = model.history_[stage]
        assert history.best_score[0] == max(first for first, _ in history.scores)
    found = score("roc_auc", model.predict_proba(TWO)[PARTS.val], TWO.y[PARTS.val])
    assert found == pytest.approx(model.history_["classifier"].best_score[0], abs=1e-3)


@pytest.mark.parametrize("model", [GOALClassifier(metric="top_3"), BaselineClassifier(metric="top_3")])
def test_too_few_classes_are_refused_before_anything_is_trained(model):
    with pytest.raises(InputError, match="top-3 accuracy needs at least 4 classes, and the graph has 3"):
        model.fit(THREE)
    assert not hasattr(model, "history_")


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "top_3"])
def test_every_metric_selects_among_three_classes(metric):
    parts = split(THREE, seed=0)
    model = BaselineClassifier("gcn", epochs=15, hidden=8, metric=metric).fit(THREE, parts)
    history = model.history_["classifier"]
    assert history.best_score[0] == max(first for first, _ in history.scores)
    found = METRICS[metric].sign * score(metric, model.predict_proba(THREE), THREE.y, parts.val)
    assert found == pytest.approx(history.best_score[0], abs=1e-3)


def test_validation_nodes_of_one_class_are_refused():
    with pytest.raises(InputError, match="ROC-AUC needs validation nodes of every class"):
        BaselineClassifier("mlp", metric="roc_auc").fit(TWO, ONE_CLASS_TO_STOP_BY)
    BaselineClassifier("mlp", epochs=2).fit(TWO, ONE_CLASS_TO_STOP_BY)  # accuracy needs no other class
