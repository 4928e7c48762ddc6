"""Trees as a member."""

import numpy as np

from otherhalf.estimators.members.trees import fit_trees


def test_scores_are_columns_where_there_is_a_half(view, view_without_half, supervision):
    with_half, without = fit_trees(view, supervision), fit_trees(view_without_half, supervision)
    columns = with_half.member.rows(view).shape[1] - without.member.rows(view_without_half).shape[1]
    assert columns == view.graph.num_classes


def test_training_nodes_are_judged_out_of_bag(view, supervision):
    fitted = fit_trees(view, supervision)
    y = view.graph.y[view.labels.nodes]
    seen = (fitted.probabilities[view.labels.nodes].argmax(axis=1) == y).mean()
    unseen = (fitted.unseen.argmax(axis=1) == y).mean()
    assert seen > unseen
    assert np.isfinite(fitted.unseen).all()
