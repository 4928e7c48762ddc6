"""Members over rows: trained, saved, restored, and fitted again."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.estimators.members.conftest import GRAPH, PARTS, view_of
from tests.estimators.members.test_base import GOAL
from tests.estimators.members.test_row_inputs import with_rows

from otherhalf.estimators.members.over_rows import PlainRowsMember, RowsMember, fit_over_rows, row_settings
from otherhalf.estimators.members.view import TrainingLabels


@pytest.fixture(scope="module")
def rows_view():
    return with_rows(view_of(GRAPH, PARTS))


@pytest.fixture(scope="module", params=["GOAL", "SIGN", "MLP"])
def fitted(request, rows_view, supervision):
    return fit_over_rows(rows_view, supervision, GOAL, request.param)


def test_probabilities_are_those_of_the_restored_member(fitted, rows_view):
    member = fitted.member
    assert np.allclose(fitted.probabilities.sum(axis=1), 1, atol=1e-5)
    kind = RowsMember if member.name == "GOAL" else PlainRowsMember
    again = kind.restore(member.name, (8, 3, 160), member.description(), member.tensors())
    again.module.load_state_dict(member.module.state_dict())
    assert np.array_equal(again.probabilities(rows_view), member.probabilities(rows_view))


def test_few_nodes_have_the_probabilities_of_all(fitted, rows_view):
    nodes = np.array([2, 80, 159])
    few = fitted.member.probabilities_of(rows_view, nodes)
    assert np.allclose(few, fitted.probabilities[nodes], atol=1e-6)


def test_only_the_convolution_has_coefficients(fitted):
    coefficients = fitted.member.coefficients()
    assert [len(each) for each in coefficients] == ([4] if fitted.member.name == "GOAL" else [])


def test_it_is_trained_again_as_long_as_it_was_best(fitted, rows_view, supervision):
    nodes = np.sort(np.concatenate([PARTS.train, PARTS.val]))
    labels = TrainingLabels(nodes, GRAPH.y[nodes], 3)
    more = with_rows(view_of(GRAPH, PARTS))
    more.labels = labels
    again = fitted.member.again(more, supervision, list(fitted.histories.values()))
    assert type(again) is type(fitted.member)
    changed = [
        not torch.equal(one, other)
        for one, other in zip(again.module.parameters(), fitted.member.module.parameters(), strict=True)
    ]
    assert any(changed)


def test_a_shorter_training_is_shorter_over_rows_too():
    short = replace(GOAL, training=replace(GOAL.training, epochs=2))
    assert row_settings(short, 3).training.epochs == 2
    assert row_settings(replace(GOAL, training=replace(GOAL.training, epochs=500)), 3).training.epochs < 500


def test_many_classes_have_wider_layers():
    assert row_settings(GOAL, 40).architecture.hidden > row_settings(GOAL, 5).architecture.hidden


def test_two_fits_are_bit_equal(rows_view, supervision):
    one, other = (fit_over_rows(rows_view, supervision, GOAL, "GOAL").probabilities for _ in range(2))
    assert np.array_equal(one, other)
