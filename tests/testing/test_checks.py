"""Every estimator of the package keeps the rules; an estimator that breaks one is told which."""

import numpy as np
import pytest
from sklearn.utils import estimator_checks as of_sklearn

from otherhalf import BaselineClassifier, GOALClassifier, InputError, OnGraph
from otherhalf.estimators.averaged import AveragedClassifier
from otherhalf.estimators.logistic import LogisticClassifier
from otherhalf.estimators.simple import MajorityClassifier, PropagationClassifier
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.nn.models.registry import MODELS
from otherhalf.testing import check_estimator
from otherhalf.testing.case import small_graph
from otherhalf.testing.checks import CHECKS

SHORT = {"epochs": 3, "hidden": 4}
ESTIMATORS = {
    "kernel": GOALClassifier(**SHORT, ensemble={"folds": 2, "plain": 1, "candidates": ("GCN", "APPNP")}),
    "fast": GOALClassifier(fast=True, epochs=3),
    "refit": GOALClassifier(fast=True, refit=True, epochs=3),
    "embedding": GOALClassifier("paper", **SHORT, encoder={"kind": "gcn", **SHORT}),
    "extra trees": TreesClassifier(trees=3),
    "boosted trees": TreesClassifier("boosted", trees=3),
    "logistic": LogisticClassifier(steps=5),
    "majority": MajorityClassifier(),
    "propagation": PropagationClassifier(),
    "averaged": AveragedClassifier(BaselineClassifier("gcn", **SHORT), members=2),
    **{kind: BaselineClassifier(kind, **SHORT) for kind in MODELS},
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_keeps_every_rule(name):
    check_estimator(ESTIMATORS[name])


ON_GRAPH = OnGraph(MajorityClassifier(), small_graph())
WITHOUT_DATA = (
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_no_attributes_set_in_init",
    "check_estimators_unfitted",
)
"""scikit-learn's own checks that give no rows of numbers to a fit."""


@pytest.mark.parametrize("check", WITHOUT_DATA)
@pytest.mark.parametrize("name", [*ESTIMATORS, "on graph"])
def test_scikit_learns_own_checks(name, check):
    estimator = ESTIMATORS.get(name, ON_GRAPH)
    if isinstance(estimator, BaselineClassifier) and check == "check_no_attributes_set_in_init":
        pytest.skip("options of a model are arguments, and stored in own_options")
    getattr(of_sklearn, check)(type(estimator).__name__, estimator)


# ---------------------------------------------------------------------- estimators that break a rule


class WorksInInit(MajorityClassifier):
    def __init__(self, *, seed=0, metric="accuracy", device="cpu"):
        self._store(locals())
        self.shares_ = None


class ChangesAnArgument(MajorityClassifier):
    def __init__(self, *, seed=0, metric="accuracy", device="cpu"):
        self.seed, self.metric, self.device = seed, metric.upper().lower(), device


class AnswersBeforeFit(MajorityClassifier):
    def predict_proba(self, graph=None, **given):
        return np.full((graph.num_nodes, graph.num_classes), 1 / graph.num_classes)


class CountsFits(MajorityClassifier):
    fits = 0

    def _fit(self, *arguments):
        type(self).fits += 1
        learned = super()._fit(*arguments)
        return {**learned, "_shares": learned["_shares"] ** (1 + 0.01 * self.fits)}

    def _probabilities(self, prepared):
        found = super()._probabilities(prepared)
        return found / found.sum(axis=1, keepdims=True)


class SetsAnOddName(MajorityClassifier):
    def _fit(self, *arguments):
        return {**super()._fit(*arguments), "shares": 1}


class MovesTheRandomNumbers(MajorityClassifier):
    def _fit(self, *arguments):
        np.random.rand()  # noqa: NPY002
        return super()._fit(*arguments)


class ReadsEveryLabel(MajorityClassifier):
    def _fit(self, prepared, settings, supervision):
        test = supervision.split.test
        learned = super()._fit(prepared, settings, supervision)
        moved = learned["_shares"] + np.float32([0.001 * (test @ prepared.graph.y[test]), 0, 0])
        return {**learned, "_shares": moved / moved.sum()}


class ReadsDroppedEdges(MajorityClassifier):
    def _probabilities(self, prepared):
        found = super()._probabilities(prepared)
        return found[:, ::-1] if self._repeats else found

    def _fit(self, prepared, settings, supervision):
        repeats = prepared.graph.dropped_repeats > 0
        return {**super()._fit(prepared, settings, supervision), "_repeats": repeats}


class SumsToTwo(MajorityClassifier):
    def predict_proba(self, graph=None, **given):
        return super().predict_proba(graph, **given) + np.float32(1 / 3)


class ForgetsWhenSaved(MajorityClassifier):
    def _restore(self, description, tensors):
        super()._restore(description, tensors)
        self._shares = self._shares[::-1].copy()


BROKEN = {
    WorksInInit: "arguments: __init__ sets .'shares_'., which a fit should set",
    ChangesAnArgument: "arguments: __init__ changes metric",
    AnswersBeforeFit: "unfitted: predict works before fit|unfitted: predict",
    CountsFits: "fit: a second fit gives another result",
    SetsAnOddName: "fit: fit sets .'shares'., whose names do not end in _",
    MovesTheRandomNumbers: "nothing_else_changes: a fit moves the random numbers of numpy",
    ReadsEveryLabel: "hidden_labels: the labels of test nodes change the fit",
    ReadsDroppedEdges: "edges: another order or repetition of the edges changes the fit",
    SumsToTwo: "probabilities: a row of probabilities does not sum to 1",
    ForgetsWhenSaved: "files: load changes the predictions",
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_rule_is_named(kind):
    with pytest.raises(AssertionError, match=f"{kind.__name__}, .*({BROKEN[kind]})"):
        check_estimator(kind())


def test_a_check_can_be_left_out():
    check_estimator(SetsAnOddName(), skip=["fit"])
    with pytest.raises(
        InputError, match="there is no check 'fits' to skip: the checks are arguments, unfitted"
    ):
        check_estimator(MajorityClassifier(), skip=["fits"])
    assert all(check.__doc__ for check in CHECKS.values())
