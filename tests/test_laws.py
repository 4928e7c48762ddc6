"""Laws of graphs, with drawn graphs: which changes leave a result as it is, and how exactly.

``docs/laws.md`` has the same in words. Bit-equal, for every stage: order and repetition of edges, labels of
test nodes, order of nodes in a split. To rounding, for stages that draw no random numbers by them: numbers of
nodes, codes of classes and a lone node. In distribution: all others.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from otherhalf import BaselineClassifier, GOALClassifier, Graph, Split, diagnose, find_missing_half, split
from otherhalf.complement.settings import ComplementSettings, EncoderSettings, HeadSettings
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.logistic import LogisticClassifier
from otherhalf.estimators.presets import FAST
from otherhalf.estimators.simple import MajorityClassifier, PropagationClassifier
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.registry import MODELS
from otherhalf.testing import (
    edges_given_again,
    graphs,
    labels_permuted,
    relabelled,
    renumbered,
    splits,
    with_lone_node,
)
from otherhalf.training.loop import TrainingSettings

ROUNDING = 1e-4
"""Sums in another order differ by about 1e-7, and a few steps of training make it more."""

LEARNED = 1e-2
"""Adam divides a step by its size, so that learning a mixture of kernels enlarges rounding."""

# The same graphs in every run: a near-tie between two choices, decided by rounding, is no defect.
LAW = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "phases": [Phase.explicit, Phase.generate],
    "suppress_health_check": list(HealthCheck),
}
STEADY = {"dropout": 0.0, "epochs": 4, "hidden": 4}
"""Without dropout, a training draws random numbers for its first weights alone."""

SPREAD = {"plain": 0, "trees": False, "propagation": False, "classifier": False, "folds": 1}
TRAINING = TrainingSettings(epochs=3)
SHORT = ComplementSettings(
    encoder=EncoderSettings(kind="gcn", architecture=Architecture(hidden=4, dropout=0.0), training=TRAINING),
    head=HeadSettings(training=TRAINING),
)
PER_NODE = [kind for kind, spec in MODELS.items() if spec.reads_adjacency_rows]
SHARED = [kind for kind in MODELS if kind not in PER_NODE]
"""Models with a weight for each node of the graph, whose start is drawn by its number, and all others."""


@st.composite
def odd(draw):
    """A graph of any kind, with nodes that nothing tells apart, and a split."""
    graph = draw(graphs(nodes=(8, 14), per_class=3, features=(0, 3)))
    return graph, draw(splits(graph))


@st.composite
def without_ties(draw):
    """A graph whose features tell all nodes apart, and a split."""
    seed, homophily = draw(st.integers(0, 999)), draw(st.sampled_from([0.2, 0.5, 0.8]))
    graph = contextual_sbm(20, draw(st.integers(2, 3)), 3, average_degree=4, homophily=homophily, seed=seed)
    return graph, split(graph, "stratified", seed=seed)


def law(examples, cases=odd):
    """Run a test with so many drawn graphs and splits."""
    return lambda test: settings(max_examples=examples, **LAW)(given(cases())(test))


def probabilities(estimator, graph, split):
    return clone(estimator).fit(graph, split).predict_proba(graph)


def order_of(graph):
    return np.random.default_rng(graph.num_edges).permutation(graph.num_nodes)


# ---------------------------------------------------------------------- bit-equal

STAGES = {
    "diagnose": lambda graph, split: diagnosis(graph, split),
    "half by kernel": lambda graph, split: half(graph, split, FAST.kernel),
    "half by embedding": lambda graph, split: half(graph, split, SHORT),
    **{
        name: lambda graph, split, model=model: probabilities(model, graph, split).tolist()
        for name, model in {
            "majority": MajorityClassifier(),
            "propagation": PropagationClassifier(),
            "logistic": LogisticClassifier(steps=5),
            "extra trees": TreesClassifier(trees=3),
            "boosted trees": TreesClassifier("boosted", trees=3),
            "fast": GOALClassifier(fast=True, epochs=2),
            "acmgcn": BaselineClassifier("acmgcn", epochs=2, hidden=4),
        }.items()
    },
}


def diagnosis(graph, split):
    found = diagnose(graph, nodes=np.concatenate([split.train, split.val])).to_dict()
    return {name: value for name, value in found.items() if not name.startswith("dropped_")}


def half(graph, split, settings):
    found = find_missing_half(graph, split, settings=settings)
    weights = None if found.weights is None else found.weights.tolist()
    return found.kind, found.pairs.tolist(), weights


@pytest.mark.parametrize("stage", STAGES)
def test_what_changes_no_bit(stage):
    """Order and repetition of edges, labels of test nodes, and the order of nodes in a split."""

    @law(4)
    def holds(case):
        graph, split = case
        expected = STAGES[stage](graph, split)
        assert STAGES[stage](edges_given_again(graph), split) == expected
        assert STAGES[stage](labels_permuted(graph, split.test), split) == expected
        turned = Split(split.train[::-1], split.val[::-1], split.test[::-1])
        assert STAGES[stage](graph, turned) == expected

    holds()


# ---------------------------------------------------------------------- to rounding

MEASURES = (
    "edge_homophily",
    "node_homophily",
    "class_insensitive_homophily",
    "adjusted_homophily",
    "label_informativeness",
)
SURE = {"majority": MajorityClassifier(), "propagation": PropagationClassifier()}
TIED = {
    "logistic": (LogisticClassifier(), ROUNDING),
    "spread": (GOALClassifier(ensemble=SPREAD, follow="heterophily"), LEARNED),
}
"""Where nodes, singular values or kernels are tied, rounding decides between them."""

BY_NUMBER = {
    **{name: (model, ROUNDING, odd) for name, model in SURE.items()},
    **{kind: (BaselineClassifier(kind, **STEADY), ROUNDING, odd) for kind in SHARED},
    **{name: (*each, without_ties) for name, each in TIED.items()},
    "embedding": (
        GOALClassifier("paper", **STEADY, encoder={"kind": "gcn", **STEADY}, follow="heterophily"),
        LEARNED,
        without_ties,
    ),
}


@pytest.mark.parametrize("name", BY_NUMBER)
def test_other_numbers_of_nodes_give_the_same_rows_in_that_order(name):
    model, rounding, cases = BY_NUMBER[name]

    @law(4, cases)
    def holds(case):
        graph, split = case
        order = order_of(graph)
        found = probabilities(model, renumbered(graph, order), renumbered(split, order))
        np.testing.assert_allclose(found, probabilities(model, graph, split)[order], atol=rounding)

    holds()


@pytest.mark.parametrize("settings", [FAST.kernel, SHORT], ids=["kernel", "embedding"])
def test_other_numbers_of_nodes_give_the_same_half(settings):
    @law(3, without_ties)
    def holds(case):
        graph, split = case
        order = order_of(graph)
        options = {"settings": settings, "follow": "heterophily"}
        expected = find_missing_half(graph, split, **options).matrix.toarray()[np.ix_(order, order)]
        found = find_missing_half(renumbered(graph, order), renumbered(split, order), **options)
        np.testing.assert_allclose(found.matrix.toarray(), expected, atol=ROUNDING)

    holds()


BY_CODE = {
    **{name: (model, ROUNDING, odd) for name, model in SURE.items()},
    "boosted trees": (TreesClassifier("boosted", trees=3), ROUNDING, odd),
    **{name: (*each, without_ties) for name, each in TIED.items()},
}


@pytest.mark.parametrize("name", BY_CODE)
def test_another_order_of_classes_gives_the_same_columns_in_that_order(name):
    model, rounding, cases = BY_CODE[name]

    @law(4, cases)
    def holds(case):
        graph, split = case
        order = np.roll(np.arange(graph.num_classes), 1)
        found = probabilities(model, relabelled(graph, order), split)
        np.testing.assert_allclose(found, probabilities(model, graph, split)[:, order], atol=rounding)

    holds()


UNSCALED = {**SURE, **{kind: BaselineClassifier(kind, **STEADY, scaling="none") for kind in SHARED}}
"""A scaling is learned from all nodes, and so a lone one moves it."""


@pytest.mark.parametrize("name", UNSCALED)
def test_a_lone_node_without_a_label_changes_nobody(name):
    @law(4)
    def holds(case):
        graph, split = case
        found = probabilities(UNSCALED[name], with_lone_node(graph), split)
        expected = probabilities(UNSCALED[name], graph, split)
        np.testing.assert_allclose(found[: graph.num_nodes], expected, atol=ROUNDING)

    holds()


@law(8)
def test_measures_by_labels_know_neither_numbers_nor_codes_nor_lone_nodes(case):
    graph, split = case
    order, codes = order_of(graph), np.roll(np.arange(graph.num_classes), 1)
    measured = [
        diagnosis(*changed)
        for changed in (
            (graph, split),
            (renumbered(graph, order), renumbered(split, order)),
            (relabelled(graph, codes), split),
            (with_lone_node(graph), split),
        )
    ]
    for name in MEASURES:
        expected, *found = (values[name] for values in measured)
        assert found == [None] * 3 if expected is None else found == pytest.approx([expected] * 3, abs=1e-9)


# ---------------------------------------------------------------------- in distribution


@law(8, without_ties)
def test_the_ks_statistic_moves_by_its_own_spread(case):
    """Its random pairs are drawn by number."""
    graph, _ = case
    first = diagnose(graph, simple=False)
    for other in (renumbered(graph, order_of(graph)), with_lone_node(graph)):
        second = diagnose(other, simple=False)
        assert abs(first.ks - second.ks) <= 2 * max(first.ks_std, second.ks_std)


BY_CHANCE = {
    "extra trees": TreesClassifier(trees=30),
    "boosted trees": TreesClassifier("boosted", trees=10),
    "fast": GOALClassifier(fast=True, epochs=15),
    **{kind: BaselineClassifier(kind, epochs=15, hidden=8) for kind in PER_NODE},
}


@pytest.mark.parametrize("name", BY_CHANCE)
def test_the_number_of_a_node_says_nothing(name):
    """Nodes are in the order of their classes, and neither features nor edges know of these."""
    draw, n = np.random.default_rng(0), 200
    graph = Graph(edges=draw.integers(0, n, (2, 500)), x=draw.normal(size=(n, 4)), y=np.arange(n) * 2 // n)
    parts = split(graph, seed=0, ratios=(0.3, 0.2, 0.5))
    score = clone(BY_CHANCE[name]).fit(graph, parts).score(graph, parts.test)
    assert abs(score - 0.5) < 0.15  # three standard errors of 100 nodes
