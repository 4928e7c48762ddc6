"""Nodes whose features overflow, of the fit and new ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from otherhalf.data.splits import split
from otherhalf.errors import InputError
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.feature_range import check_range
from otherhalf.estimators.find import find_missing_half
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.logistic import LogisticClassifier
from otherhalf.estimators.simple import MajorityClassifier, PropagationClassifier
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling

KNOWN = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(KNOWN, 3)).astype(np.float32)
EDGES = RNG.integers(0, KNOWN, (2, 80))
Y = np.arange(KNOWN) % 2


def grown(value, sparse=False):
    """The fitted graph and one node with this feature, joined to the first."""
    x = np.vstack([X, [0, value, 0]])
    edges = np.hstack([EDGES, [[KNOWN], [0]]])
    ids = [*(f"n{i}" for i in range(KNOWN)), "new"]
    return Graph(
        edges=edges, x=sp.csr_matrix(x) if sparse else x, y=[*Y, -1], ids=ids, feature_names=["a", "b", "c"]
    )


def fitted_graph():
    return Graph(edges=EDGES, x=X, y=Y, ids=[f"n{i}" for i in range(KNOWN)], feature_names=["a", "b", "c"])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [1e20, -1e30, 3e38])
def test_a_square_that_overflows(value, sparse):
    graph = grown(value, sparse)
    with pytest.raises(
        InputError, match=r"feature 'b' of the new node 'new' is -?[13]e\+\d\d, which overflows"
    ):
        check_range(graph, Scaling("none"), KNOWN)
    check_range(graph, Scaling("row"), KNOWN)  # divided by its own size


@pytest.mark.parametrize("sparse", [False, True])
def test_a_sum_that_overflows(sparse):
    x = np.full((2, 3), 3e38)
    graph = Graph(edges=[[0], [1]], x=sp.csr_matrix(x) if sparse else x)
    with pytest.raises(
        InputError, match=r"the feature number 0 of the new node '1' is 3e\+38, which overflows"
    ):
        check_range(graph, Scaling("row"), 1)


@pytest.mark.parametrize("value", [0, 1, -1e6, 1e18])
def test_large_numbers_that_can_be_computed_with(value):
    check_range(grown(value), Scaling("none"), KNOWN)
    check_range(grown(value, sparse=True), Scaling("none"), KNOWN)


def test_the_scale_of_the_fit_counts_and_known_nodes_do_not():
    scaling = Scaling("standard", np.full(3, 1e30, np.float32), np.full(3, 1e29, np.float32))
    check_range(grown(1e30), scaling, KNOWN)
    check_range(grown(1e30), Scaling("none"), KNOWN + 1)
    with pytest.raises(InputError, match=r"the feature 'b' of the node 'new' is 1e\+30, which overflows"):
        check_range(grown(1e30), Scaling("none"))


@pytest.mark.parametrize(
    "model",
    [
        GOALClassifier(preset="paper", epochs=2),
        BaselineClassifier("gcn", epochs=2),
        BaselineClassifier("mlp", epochs=2),
        LogisticClassifier(),
        TreesClassifier(trees=4),
        MajorityClassifier(),
        PropagationClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_estimator_answers_for_a_node_that_overflows(model):
    model.fit(fitted_graph())
    with pytest.raises(InputError, match="the feature 'b' of the new node 'new' is 1e\\+38, which overflows"):
        model.predict(grown(1e38))
    assert model.predict_proba(grown(1.0)).sum(axis=1) == pytest.approx(np.ones(KNOWN + 1), abs=1e-5)


HUGE = {
    "large": [3e38, -3e38, 1e38, 0.0],
    "mixed": [1e-45, 3e38, -3e38, 1e20],
    "tiny": [1e-45, -1e-39, 2e-38],
}


@pytest.mark.parametrize("values", HUGE)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_fit_to_extreme_numbers_answers_or_refuses_in_one_sentence(values, sparse):
    """The default, trees and logistic regression ended in a traceback, and an MLP in NaN."""
    x = np.random.default_rng(1).choice(np.float32(HUGE[values]), (KNOWN, 3))
    graph = Graph(edges=EDGES, x=sp.csr_matrix(x) if sparse else x, y=Y)
    models = (GOALClassifier(fast=True, epochs=2), TreesClassifier(trees=2), LogisticClassifier(steps=5))
    for model in (*models, BaselineClassifier("mlp", epochs=2, hidden=4)):
        if values == "tiny":
            assert np.isfinite(model.fit(graph).predict_proba(graph)).all()
            continue
        with pytest.raises(
            InputError, match=r"the feature number \d of the node '\d+' is .* overflows in the"
        ):
            model.fit(graph)
    if values != "tiny":
        with pytest.raises(InputError, match="overflows in the model"):
            find_missing_half(graph, split(graph))


def test_no_row_that_is_no_probability_is_returned(monkeypatch):
    model = BaselineClassifier("mlp", epochs=2).fit(fitted_graph())
    wrong = model.predict_proba(fitted_graph())
    wrong[3] = np.nan
    monkeypatch.setattr(model, "_probabilities", lambda prepared: wrong)
    for method in (model.predict, model.predict_proba, model.score, model.predict_sets):
        with pytest.raises(InputError, match="the probabilities of the node 'n3' are not probabilities"):
            method(fitted_graph())
