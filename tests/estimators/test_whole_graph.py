"""How often members are trained, and which plain models start and finish."""

import numpy as np
from tests.estimators.members.conftest import GRAPH, PARTS, view_of

from otherhalf import Split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.settings import EnsembleSettings
from otherhalf.estimators.whole_graph import (
    FEW_FOLDS,
    FEW_PLAIN,
    LARGE,
    MANY_VAL,
    SMALL,
    count_finishers,
    plan_of,
)
from otherhalf.training.supervised import Supervision


def test_folds_on_small_graphs_fewer_on_larger_ones_none_on_large_ones_with_many_validation_nodes():
    settings, view = EnsembleSettings(), view_of(GRAPH, PARTS, half=False)
    plan = plan_of(view, settings, Supervision(PARTS))
    assert plan.count == 5
    assert set(plan.folds) == {0, 1, 2, 3, 4}
    assert plan_of(view, EnsembleSettings(folds=1), Supervision(PARTS)).folds is None
    few = Split(np.arange(100), np.arange(100, 200), np.arange(200, 300))
    many = Split(np.arange(100), np.arange(100, 100 + MANY_VAL), np.arange(0))
    for nodes, with_few, with_many in ((SMALL, FEW_FOLDS, FEW_FOLDS), (LARGE, FEW_FOLDS, 1)):
        graph = contextual_sbm(num_nodes=nodes + 1, num_classes=2, num_features=2, average_degree=2, seed=0)
        for parts, count in ((few, with_few), (many, with_many)):
            view = view_of(graph, parts, half=False)
            assert plan_of(view, settings, Supervision(parts)).count == count


def test_fewer_plain_models_finish_on_larger_graphs():
    assert count_finishers(SMALL, EnsembleSettings(plain=4)) == 4
    assert count_finishers(SMALL + 1, EnsembleSettings(plain=4)) == FEW_PLAIN
    assert count_finishers(SMALL + 1, EnsembleSettings(plain=1)) == 1
