"""The spread as a member."""

import numpy as np
import pytest
from scipy.special import softmax

from otherhalf.estimators.members.spread import SpreadMember, fit_spread


def test_it_is_the_softmax_of_the_scores_and_unseen_on_training_nodes(view):
    fitted = fit_spread(view)
    assert fitted.probabilities == pytest.approx(softmax(view.found.scores, axis=1))
    assert np.array_equal(fitted.unseen, fitted.probabilities[view.labels.nodes])


def test_it_is_better_than_chance_on_nodes_it_has_not_seen(view, supervision):
    test = supervision.split.test
    right = fit_spread(view).probabilities[test].argmax(axis=1) == view.graph.y[test]
    assert right.mean() > 0.6


def test_without_a_half_there_is_none(view_without_half):
    with pytest.raises(ValueError, match="found half"):
        SpreadMember().probabilities(view_without_half)
