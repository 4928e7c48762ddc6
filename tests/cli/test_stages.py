"""Stages of a fit in plain words."""

import pytest

from otherhalf import GOALClassifier, split
from otherhalf.cli.stages import in_words
from otherhalf.data.synthetic import contextual_sbm


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("kernels", "learning what makes nodes similar"),
        ("spread", "spreading labels over similar nodes"),
        ("race-appnp-0", "trying APPNP"),
        ("race-gcn--deep--with-labels-0", "trying GCN, deep, with labels"),
        ("member-goal-0", "training GOAL, part 1"),
        ("member-acm-gcn--4", "training ACM-GCN+, part 5"),
        ("member-new-model-4", "training new model, part 5"),
        ("again-goal-1", "training GOAL once more, part 2"),
        ("encoder-mlp", "training the encoder mlp"),
        ("member 2 classifier", "model 2: training the classifier on both halves"),
        ("simple", "fitting simple models to compare with"),
        ("something new", "something new"),
    ],
)
def test_words(stage, words):
    assert in_words(stage) == words


@pytest.mark.parametrize("options", [{"fast": True}, {"encoder": "mlp", "epochs": 2}])
def test_every_stage_of_a_fit_has_words(options):
    graph = contextual_sbm(num_nodes=90, num_classes=2, num_features=4, seed=0)
    stages = set()
    GOALClassifier(**options).fit(graph, split(graph), on_step=lambda stage, *_: stages.add(stage))
    assert stages
    assert {stage for stage in stages if in_words(stage) == stage} == set()
