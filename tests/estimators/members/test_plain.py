"""Plain members and their race."""

import json

import numpy as np
import pytest
import torch

from otherhalf.estimators.members import plain
from otherhalf.estimators.members.plain import (
    CANDIDATES,
    HOPELESS,
    RACE_EPOCHS,
    fit_plain,
    race_fits,
    stage_name,
    validation_quality,
    winners,
)
from otherhalf.estimators.members.replicas import Plan
from otherhalf.nn.models.registry import MODELS
from otherhalf.training.loop import Monitor
from otherhalf.training.supervised import Supervision


def test_candidates_differ_in_name_and_one_is_deep():
    assert len({each.name for each in CANDIDATES}) == len(CANDIDATES)
    assert len({stage_name(each.name) for each in CANDIDATES}) == len(CANDIDATES)
    assert all(each.kind in MODELS for each in CANDIDATES)
    deep = [each.architecture for each in CANDIDATES if 8 <= each.architecture.layers <= 12]
    assert deep
    assert all(each.norm == "batch" and each.residual for each in deep)


def test_a_candidate_may_be_shortened_and_a_usual_length_shortens_none():
    deep = next(each for each in CANDIDATES if each.architecture.layers > 3)
    assert deep.at_most(5).training.epochs == 5
    assert deep.at_most(300).training.epochs == deep.training.epochs > 300
    assert deep.at_most(5, 2).training.patience == 2


def places_of(view, supervision, candidates):
    """Return the quality of each candidate after the race."""
    fits = race_fits(candidates, supervision)
    return [validation_quality(fit(view).probabilities, view, supervision) for fit in fits]


def test_the_race_trains_all_briefly_and_keeps_the_best(view):
    seen = {}

    def on_step(stage, done, total):
        seen[stage] = max(done, seen.get(stage, 0))

    from tests.estimators.members.conftest import PARTS

    supervision = Supervision(PARTS, 0, monitor=Monitor(on_step=on_step))
    starters = [each.at_most(8) for each in CANDIDATES[:4]]
    places = places_of(view, supervision, starters)
    best = winners(starters, places, 2)
    assert [places[starters.index(each)] for each in best] == sorted(places)[:1:-1]
    assert {stage for stage in seen if stage.startswith("race-")} == {
        f"race-{stage_name(each.name)}-0" for each in starters
    }
    assert max(seen.values()) <= RACE_EPOCHS


def test_a_start_is_the_training_of_the_candidate_alone(view, supervision):
    starters = [each.at_most(8) for each in CANDIDATES[:4]]
    assert places_of(view, supervision, starters) == [
        validation_quality(
            fit_plain(view, supervision, each.at_most(RACE_EPOCHS, 20), Plan(1)).probabilities,
            view,
            supervision,
        )
        for each in starters
    ]


def test_those_that_are_hopelessly_behind_do_not_finish():
    starters = list(CANDIDATES[:3])
    assert winners(starters, [0.5, 0.7, 0.6], 2) == [starters[1], starters[2]]
    assert winners(starters, [0.5, 0.7, 0.6], 2, best=0.6 + HOPELESS) == [starters[1]]
    assert winners(starters, [0.5, 0.7, 0.6], 2, best=2.0) == []
    assert winners(starters, [0.5, 0.7, 0.6], 0) == []


@pytest.mark.parametrize("name", ["GCN, plain", "ACM-GCN+", "APPNP"])
def test_names_of_stages_are_file_names(name):
    assert "/" not in stage_name(name)
    assert " " not in stage_name(name)


LABELLED = next(each for each in CANDIDATES if each.architecture.reads_labels).at_most(6)


def test_a_member_with_labels_never_reads_the_label_of_the_node_it_predicts(view, supervision):
    """Another label at one training node changes predictions around it, but not its own."""
    from dataclasses import replace

    from otherhalf.estimators.members.view import GraphView

    member = fit_plain(view, supervision, LABELLED, Plan(1)).member
    before = member.probabilities(view)
    codes = view.labels.codes.copy()
    codes[0] = (codes[0] + 1) % view.labels.classes
    planted = GraphView(
        view.prepared, replace(view.labels, codes=codes), view.tendency, spread=view.spread, found=view.found
    )
    after, node = member.probabilities(planted), view.labels.nodes[0]
    assert np.array_equal(after[node], before[node])
    assert not np.allclose(after, before)


def test_a_fold_left_out_is_predicted_without_the_labels_of_the_fold(view, supervision):
    from otherhalf.training.folds import stratified_folds
    from otherhalf.training.supervised import class_probabilities

    folds = stratified_folds(view.labels.codes, 3, 0)
    fitted = fit_plain(view, supervision, LABELLED, Plan(3, folds))
    inputs, *operators = plain._arguments(LABELLED, view)
    for index, module in enumerate(fitted.member.modules):
        nodes = view.labels.nodes[folds == index]
        expected = class_probabilities(module, inputs.hiding(torch.from_numpy(nodes)), *operators)[nodes]
        assert np.array_equal(fitted.unseen[folds == index], expected)


def test_a_member_with_labels_is_restored(view, supervision):
    fitted = fit_plain(view, supervision, LABELLED, Plan(2)).member
    saved = json.loads(json.dumps(fitted.description()))
    restored = plain.PlainMember.restore(LABELLED.name, view.prepared.sizes, saved, {})
    for new, old in zip(restored.modules, fitted.modules, strict=True):
        new.load_state_dict(old.state_dict())
    assert np.array_equal(restored.probabilities(view), fitted.probabilities(view))
