"""Replicas: folds are left out, the mean is the mean, seeds differ."""

import numpy as np
import pytest
from torch import nn

from otherhalf.estimators.members.replicas import Plan, mean_probabilities, seed_of, train_replicas
from otherhalf.training.folds import stratified_folds
from otherhalf.training.loop import TrainingSettings
from otherhalf.training.supervised import class_probabilities


class Linear(nn.Module):
    """Logits from dense features."""

    def __init__(self, features, classes):
        super().__init__()
        self.map = nn.Linear(features, classes)

    def forward(self, inputs):
        return self.map(inputs.features)


def trained(view, supervision, plan, epochs=5):
    arguments = (view.prepared.inputs,)
    features, classes, _ = view.prepared.sizes
    training = TrainingSettings(epochs=epochs)
    build = lambda: Linear(features, classes)  # noqa: E731
    return train_replicas(build, arguments, view.graph, training, supervision, plan, "member-x"), arguments


def test_the_probabilities_are_the_mean_of_the_modules(view, supervision):
    replicas, arguments = trained(view, supervision, Plan(3))
    each = [class_probabilities(module, *arguments) for module in replicas.modules]
    assert replicas.probabilities == pytest.approx(np.mean(each, axis=0), abs=1e-6)
    nodes = view.labels.nodes
    mean = mean_probabilities(replicas.modules, arguments, nodes)
    assert mean == pytest.approx(np.mean(each, axis=0), abs=1e-6)
    assert replicas.unseen is None
    assert not np.array_equal(each[0], each[1])


def test_unseen_probabilities_come_from_the_module_without_that_fold(view, supervision):
    folds = stratified_folds(view.labels.codes, 3, 0)
    replicas, arguments = trained(view, supervision, Plan(3, folds))
    for index, module in enumerate(replicas.modules):
        own = class_probabilities(module, *arguments)[view.labels.nodes[folds == index]]
        assert np.array_equal(replicas.unseen[folds == index], own)


def test_a_fold_that_is_left_out_does_not_teach(view, supervision):
    """With the labels of fold 0 changed, the module that leaves fold 0 out is the same."""
    from dataclasses import replace

    folds = stratified_folds(view.labels.codes, 3, 0)
    replicas, arguments = trained(view, supervision, Plan(3, folds))
    y = view.graph.y.copy()
    left_out = view.labels.nodes[folds == 0]
    y[left_out] = (y[left_out] + 1) % 3
    graph = replace(view.graph, y=y, classes=view.graph.classes)
    features, classes, _ = view.prepared.sizes
    again = train_replicas(
        lambda: Linear(features, classes),
        arguments,
        graph,
        TrainingSettings(epochs=5),
        supervision,
        Plan(3, folds),
        "member-x",
    )
    same = [
        np.array_equal(class_probabilities(one, *arguments), class_probabilities(other, *arguments))
        for one, other in zip(replicas.modules, again.modules, strict=True)
    ]
    assert same == [True, False, False]


def test_the_first_replica_has_the_seed_of_the_fit():
    assert seed_of(7, 0) == 7
    assert len({seed_of(seed, index) for seed in range(50) for index in range(10)}) == 500
