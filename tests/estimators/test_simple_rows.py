"""The simple models beside a fit: the same scores as alone, and a sentence only where one is better."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from otherhalf import GOALClassifier, Split, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import NotEnoughMemory
from otherhalf.estimators import simple_rows as module
from otherhalf.estimators.run_folder import fit_into
from otherhalf.estimators.simple import PropagationClassifier
from otherhalf.estimators.simple_rows import SIMPLE, _leads, better_simple, simple_rows
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.training.metrics import metric_named

GRAPH = contextual_sbm(num_nodes=150, num_classes=3, num_features=6, homophily=0.9, signal=1.0, seed=4)
PARTS = split(GRAPH)
ROW = {"model": "propagation", "title": "Label propagation", "test": 0.5, "seconds": 0.1, "better": False}


def quick(**options):
    return GOALClassifier(
        **{"ensemble": {"plain": 1, "folds": 1, "candidates": ("GCN",)}, "epochs": 5, **options}
    )


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(GRAPH, PARTS)


def test_the_rows_are_the_models_alone(fitted):
    before, steps = fitted.predict_proba(GRAPH), []
    rows = simple_rows(fitted, GRAPH, PARTS, before, lambda *step: steps.append(step))
    assert [row.model for row in rows] == list(SIMPLE)
    assert steps == [("simple", done, 6) for done in range(1, 7)]
    alone = {
        "propagation": PropagationClassifier(),
        "boosted-own": TreesClassifier("boosted", leaf=20, columns="own", trees=100),
    }
    for row in rows:
        if row.model in alone:
            model = alone[row.model].fit(GRAPH, PARTS)
            assert (row.validation, row.test) == tuple(model.score(GRAPH, p) for p in (PARTS.val, PARTS.test))
    counts = np.bincount(GRAPH.y[PARTS.train])
    assert rows[0].test == np.mean(GRAPH.y[PARTS.test] == counts.argmax())
    assert np.array_equal(fitted.predict_proba(GRAPH), before)


def test_one_that_the_memory_does_not_hold_is_left_out_and_the_fit_is_kept(fitted, monkeypatch):
    def refuse(self, *parts):
        raise NotEnoughMemory("the fit needs about 9.0 GB")

    monkeypatch.setattr(TreesClassifier, "check_fit", refuse)
    probabilities = fitted.predict_proba(GRAPH)
    with pytest.warns(UserWarning, match="^Boosted trees on .* is left out: the fit needs about 9.0"):
        rows = simple_rows(fitted, GRAPH, PARTS, probabilities)
    assert [row.model for row in rows] == ["majority", "propagation", "logistic-own", "logistic"]


def test_test_labels_change_nothing_but_the_test_score(fitted):
    y = GRAPH.y.copy()
    y[PARTS.test] = (y[PARTS.test] + 1) % 3
    probabilities = fitted.predict_proba(GRAPH)
    rows, others = (
        simple_rows(fitted, graph, PARTS, probabilities)
        for graph in (GRAPH, replace(GRAPH, y=y, classes=GRAPH.classes))
    )
    assert [(row.validation, row.better) for row in rows] == [(row.validation, row.better) for row in others]
    assert [row.test for row in rows] != [row.test for row in others]


def test_the_metric_the_seed_and_the_weights_of_the_fit_are_theirs(monkeypatch):
    made = []
    for name, (title, make) in SIMPLE.items():

        def kept(make=make, **options):
            made.append(make(**options))
            return made[-1]

        kept.__signature__ = module.inspect.signature(make)
        monkeypatch.setitem(SIMPLE, name, (title, kept))
    model = quick(seed=3, metric="macro_f1", class_weight="balanced").fit(GRAPH, PARTS)
    simple_rows(model, GRAPH, PARTS, model.predict_proba(GRAPH))
    assert {(each.seed, each.metric) for each in made} == {(3, "macro_f1")}
    assert [getattr(each, "class_weight", None) for each in made] == [None, None, *["balanced"] * 4]


def test_on_a_large_graph_only_the_quick_ones(fitted, monkeypatch):
    monkeypatch.setattr(module, "MOST_WORK", 3 * len(PARTS.train) - 1)
    rows = simple_rows(fitted, GRAPH, PARTS, fitted.predict_proba(GRAPH))
    assert [row.model for row in rows] == ["majority", "propagation"]


def test_without_test_labels(fitted):
    parts = Split(PARTS.train, PARTS.val, [])
    assert {row.test for row in simple_rows(fitted, GRAPH, parts, fitted.predict_proba(GRAPH))} == {None}


# ---------------------------------------------------------------------- who leads


def certain(y, right):
    """Probabilities that name the true class of the first ``right`` nodes, and another one of the others."""
    says = np.where(np.arange(len(y)) < right, y, 1 - y)
    return np.eye(2, dtype=np.float32)[says] * 0.8 + 0.1


def test_a_lead_counts_if_it_is_more_than_chance():
    """One node of 100 more has the standard error 1 % by itself; 10 of 100 more have 3 %."""
    y, accuracy = np.tile([0, 1], 50), metric_named("accuracy")
    assert not _leads(certain(y, 81), certain(y, 80), y, accuracy, 0)
    assert _leads(certain(y, 90), certain(y, 80), y, accuracy, 0)
    assert not _leads(certain(y, 80), certain(y, 90), y, accuracy, 0)
    assert not _leads(certain(y, 80), certain(y, 80), y, accuracy, 0)


def test_less_is_better_for_some_metrics():
    y, loss = np.tile([0, 1], 50), metric_named("log_loss")
    assert _leads(certain(y, 90), certain(y, 80), y, loss, 0)
    assert not _leads(certain(y, 80), certain(y, 90), y, loss, 0)


def test_draws_without_a_class_do_not_count():
    y = np.array([1, *[0] * 29])  # a third of the draws have no node of the second class
    ranks = np.linspace(0, 1, 30, dtype=np.float32)
    best, worst = np.stack([ranks, 1 - ranks], axis=1), np.stack([1 - ranks, ranks], axis=1)
    assert _leads(best, worst, y, metric_named("roc_auc"), 0)


# ---------------------------------------------------------------------- what is shown


def test_the_best_of_the_better_ones_is_named():
    rows = [{**ROW, "validation": each, "better": True, "title": str(each)} for each in (0.9, 0.95)]
    assert better_simple(rows, "accuracy", 0.8).startswith("0.95 alone has 0.9500 on validation (accuracy)")
    assert better_simple(rows, "log_loss", 1.2).startswith("0.9 alone has 0.9000 on validation (log loss)")
    assert better_simple([{**ROW, "validation": 0.9}], "accuracy", 0.8) == ""
    assert better_simple(rows, "accuracy", None) == ""
    assert better_simple([], "accuracy", 0.8) == ""


def test_a_result_has_them_if_they_are_wanted(tmp_path):
    result = fit_into(quick(), GRAPH, PARTS, tmp_path, simple=True)
    assert [row["model"] for row in result["simple"]] == list(SIMPLE)
    again = fit_into(quick(), GRAPH, PARTS, tmp_path, simple=True, resume=True)
    assert again == result
    without = fit_into(quick(), GRAPH, PARTS, None)
    assert without["simple"] == []
    assert without["leaderboard"][0]["validation"] == result["leaderboard"][0]["validation"]


def test_a_row_is_json(fitted):
    row = simple_rows(fitted, GRAPH, PARTS, fitted.predict_proba(GRAPH))[0]
    assert set(asdict(row)) == {*ROW, "validation"}
