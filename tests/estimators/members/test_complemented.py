"""The classifier over both halves as a member."""

import numpy as np
import torch
from tests.estimators.members.test_base import GOAL

from otherhalf.estimators.members.complemented import fit_complemented
from otherhalf.estimators.members.replicas import Plan


def test_no_derivative_of_a_training_node_s_output_by_its_own_label_exists(view, supervision):
    """Through label messages and through the scores, with the trained weights fixed."""
    from otherhalf.nn.complemented import BothHalves
    from otherhalf.nn.label_messages import label_walks, messages
    from otherhalf.nn.ops.sparse import mean_matrix

    module = fit_complemented(view, supervision, GOAL, Plan(1)).member.modules[0].eval()
    given, joined = mean_matrix(view.graph.adjacency), view.found.half.matrix
    walks = label_walks([(given,), (given, given), (joined,), (joined, given), (given, joined)])
    labels = view.label_rows.clone().requires_grad_()
    halves = view.halves
    node = int(view.labels.nodes[0])
    planted = BothHalves(halves.homophilic, halves.heterophilic, messages(walks, labels), halves.scores)
    for output in module(view.prepared.inputs, planted)[node]:
        (by_label,) = torch.autograd.grad(output, labels, retain_graph=True)
        assert by_label[node].abs().max() < 1e-6 * max(1.0, float(by_label.abs().max()))
        assert by_label.abs().max() > 0  # other labels do matter


def test_coefficients_are_the_means_of_the_trainings(view, supervision):
    fitted = fit_complemented(view, supervision, GOAL, Plan(2))
    each = [module.coefficients() for module in fitted.member.modules]
    assert np.allclose(fitted.member.coefficients(), np.mean(each, axis=0))
    assert len(fitted.member.coefficients()) == 1
    assert len(fitted.member.coefficients()[0]) == 4


def test_without_a_half_it_still_learns(view_without_half, supervision):
    fitted = fit_complemented(view_without_half, supervision, GOAL, Plan(1))
    assert fitted.member.description()["scores"] is False
    assert np.isfinite(fitted.probabilities).all()
