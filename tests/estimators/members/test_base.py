"""Members: their names differ, and what they save restores them."""

import numpy as np
import pytest

from otherhalf.estimators.kernel_way import MEMBERS
from otherhalf.estimators.members.boosted import fit_boosted
from otherhalf.estimators.members.complemented import fit_complemented
from otherhalf.estimators.members.plain import CANDIDATES, fit_plain
from otherhalf.estimators.members.propagation import fit_propagation
from otherhalf.estimators.members.replicas import Plan
from otherhalf.estimators.members.spread import fit_spread
from otherhalf.estimators.members.trees import fit_trees
from otherhalf.estimators.presets import BEST
from otherhalf.estimators.settings import GOALSettings
from otherhalf.nn.backbone import Architecture
from otherhalf.training.folds import stratified_folds
from otherhalf.training.loop import TrainingSettings

GOAL = GOALSettings(
    architecture=Architecture(8, 1, 0.5, "layer"),
    coefficients=BEST.goal.coefficients,
    learn_coefficients=True,
    training=TrainingSettings(epochs=3),
)


@pytest.fixture(scope="module")
def fitted(view, supervision):
    folds = stratified_folds(view.labels.codes, 2, 0)
    plan = Plan(2, folds)
    return [
        fit_spread(view),
        fit_propagation(view, supervision, folds),
        fit_trees(view, supervision),
        fit_boosted(view, supervision, plan),
        fit_complemented(view, supervision, GOAL, plan),
        fit_plain(view, supervision, CANDIDATES[0].at_most(3), plan),
    ]


def test_every_kind_of_member_is_here_and_named_once(fitted):
    over_rows = {"rows", "plain rows"}  # tests/estimators/members/test_over_rows.py
    assert {each.member.kind for each in fitted} == set(MEMBERS) - over_rows
    assert len({each.member.name for each in fitted}) == len(fitted)


def test_probabilities_are_probabilities_and_repeat(fitted, view):
    for each in fitted:
        p = each.member.probabilities(view)
        assert p.shape == (view.graph.num_nodes, view.graph.num_classes)
        assert p.sum(axis=1) == pytest.approx(np.ones(len(p)), abs=1e-4)
        assert np.array_equal(p, each.probabilities), each.member.name
        assert each.unseen.shape == (len(view.labels.nodes), view.graph.num_classes)
        assert np.isfinite(each.unseen).all()


def test_a_member_restored_from_its_state_predicts_the_same(fitted, view):
    for each in fitted:
        member, sizes = each.member, view.prepared.sizes
        again = MEMBERS[member.kind].restore(member.name, sizes, member.description(), member.tensors())
        for part, module in again.parts().items():
            module.load_state_dict(member.parts()[part].state_dict())
        assert again.name == member.name
        assert np.array_equal(again.probabilities(view), each.probabilities), member.name
