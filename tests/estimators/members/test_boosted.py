"""Boosted trees as a member."""

import json

import numpy as np

from otherhalf.estimators.members import boosted
from otherhalf.estimators.members.boosted import BoostedTreesMember, fit_boosted, worth_boosting
from otherhalf.estimators.members.replicas import Plan
from otherhalf.training.folds import stratified_folds


def test_a_fold_is_judged_by_the_boosting_that_has_not_seen_it(view, supervision):
    folds = stratified_folds(view.labels.codes, 3, 0)
    fitted = fit_boosted(view, supervision, Plan(3, folds))
    rows = boosted.table_rows(fitted.member.table, view)
    each = [forest.probabilities(rows) for forest in fitted.member.forests]
    np.testing.assert_allclose(fitted.probabilities, np.mean(each, axis=0), atol=1e-6)
    for index in range(3):
        left_out = folds == index
        assert np.array_equal(fitted.unseen[left_out], each[index][view.labels.nodes[left_out]])


def test_the_labels_of_a_fold_do_not_teach_the_boosting_without_it(view, supervision):
    """Rows hold labels of neighbours, so they are kept, and only the codes of the fold change."""
    folds = stratified_folds(view.labels.codes, 2, 0)
    first = fit_boosted(view, supervision, Plan(2, folds))
    left_out = folds == 0
    before = view.labels.codes[left_out].copy()
    rows = boosted.table_rows(first.member.table, view)
    try:
        kept, boosted.table_rows = boosted.table_rows, lambda table, view: rows
        view.labels.codes[left_out] = (before + 1) % view.labels.classes
        second = fit_boosted(view, supervision, Plan(2, folds))
    finally:
        boosted.table_rows = kept
        view.labels.codes[left_out] = before
    same = [
        np.array_equal(a.probabilities(rows), b.probabilities(rows))
        for a, b in zip(first.member.forests, second.member.forests, strict=True)
    ]
    assert same == [True, False]


def test_without_folds_there_is_one_boosting_and_nothing_unseen(view, supervision):
    fitted = fit_boosted(view, supervision, Plan(1))
    assert len(fitted.member.forests) == 1
    assert fitted.unseen is None
    y = view.graph.y[supervision.split.test]
    assert (fitted.probabilities[supervision.split.test].argmax(axis=1) == y).mean() > 0.6  # chance: a third


def test_it_is_restored(view, supervision):
    fitted = fit_boosted(view, supervision, Plan(2, stratified_folds(view.labels.codes, 2, 0))).member
    saved = json.loads(json.dumps(fitted.description()))
    restored = BoostedTreesMember.restore(fitted.name, view.prepared.sizes, saved, fitted.tensors())
    assert np.array_equal(restored.probabilities(view), fitted.probabilities(view))


def test_again_it_has_as_many_iterations(view, supervision):
    fitted = fit_boosted(view, supervision, Plan(2, stratified_folds(view.labels.codes, 2, 0))).member
    again = fitted.again(view, supervision, [])
    assert [len(each.roots) for each in again.forests] == [len(each.roots) for each in fitted.forests]


def test_many_classes_and_nodes_are_not_boosted(view, monkeypatch):
    assert worth_boosting(view)
    monkeypatch.setattr(boosted, "MOST_WORK", len(view.labels.nodes))
    assert not worth_boosting(view)
