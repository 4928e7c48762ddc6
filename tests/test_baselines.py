"""The baselines behind the estimator's face."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from otherhalf import Graph, InputError, split
from otherhalf.baselines import PLAIN, BaselineClassifier
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.nn.skeleton import Shape
from otherhalf.training import TrainingSettings

NAMES = np.array(["red", "blue", "green"])
SBM = contextual_sbm(num_nodes=300, num_classes=3, num_features=8, homophily=0.8, signal=3.0, seed=2)
KNOWN = 240
INSIDE = (SBM.edges < KNOWN).all(axis=0)
GRAPH = Graph(edges=SBM.edges[:, INSIDE], x=SBM.x[:KNOWN], y=NAMES[SBM.y[:KNOWN]])
SPLIT = split(GRAPH, seed=0)
SHORT = TrainingSettings(epochs=40, patience=40)


def quick(kind, **options):
    return BaselineClassifier(kind, **{"shape": Shape(hidden=16), "training": SHORT, **options})


def test_manners():
    names = list(inspect.signature(BaselineClassifier).parameters)
    given = {name: object() for name in names}
    assert vars(BaselineClassifier(**given)) == given
    model = quick("mlp", seed=3)
    copy = clone(model)
    assert (copy.kind, copy.seed, copy.shape, copy.training) == ("mlp", 3, model.shape, SHORT)
    with pytest.raises(NotFittedError):
        model.predict(GRAPH)
    assert model.fit(GRAPH, SPLIT) is model
    learned = set(vars(model)) - set(names)
    assert all(name.endswith("_") or name.startswith("_") for name in learned)
    assert model.history_.epochs == SHORT.epochs


@pytest.mark.parametrize("kind", PLAIN)
def test_each_kind_learns_and_takes_new_nodes(kind):
    model = quick(kind).fit(GRAPH, SPLIT)
    assert model.score(GRAPH, SPLIT.test) > 0.8  # chance would give 1/3
    probabilities = model.predict_proba(SBM)
    assert probabilities.shape == (300, 3)
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert np.mean(model.predict(SBM)[KNOWN:] == NAMES[SBM.y[KNOWN:]]) > 0.8
    assert set(model.predict(GRAPH)) == set(NAMES)


def test_one_seed_one_model():
    probabilities = [quick("gcn", seed=seed).fit(GRAPH, SPLIT).predict_proba(GRAPH) for seed in (0, 0, 1)]
    assert np.array_equal(probabilities[0], probabilities[1])
    assert not np.array_equal(probabilities[0], probabilities[2])


def test_test_labels_play_no_part():
    y = GRAPH.y.copy()
    y[SPLIT.test] = (y[SPLIT.test] + 1) % 3
    other = Graph(edges=GRAPH.edges, x=GRAPH.x, y=y, classes=GRAPH.classes)
    one, two = (quick("gcn").fit(graph, SPLIT).predict_proba(graph) for graph in (GRAPH, other))
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kind": "transformer"},
            "there is no baseline 'transformer': choose one of mlp, gcn, gat, structure",
        ),
        ({"kind": "auto"}, "there is no baseline 'auto'"),
        ({"kind": "gcn", "device": "tpu"}, "the device 'tpu' cannot be used here"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(InputError, match=message):
        BaselineClassifier(**options).fit(GRAPH, SPLIT)
