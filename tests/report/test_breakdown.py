"""The evaluation part of a report."""

import numpy as np
import pytest
from tests.report.fits import by_hand, fitted, graph, parts, reported

from otherhalf.estimators.run_folder import result_of
from otherhalf.report.breakdown import evaluation, reliability, surest_wrong, wrong_nodes
from otherhalf.training.metrics import METRICS

ALL = {node: node for node in range(150)}


def test_the_numbers_are_those_of_the_result():
    fit = reported()
    result = result_of(fitted(), graph(), parts())
    found, alone = evaluation(fit, result, ALL), evaluation(fit, {}, ALL)
    assert found == alone
    assert found["part"] == "test"
    assert found["nodes"] == len(parts().test)
    for row in found["metrics"]:
        assert row["value"] == pytest.approx(result["metrics"]["test"][row["name"]], abs=1e-4)
        assert row["majority"] == pytest.approx(result["majority"]["test"][row["name"]], abs=1e-4)
        assert row["larger_is_better"] == METRICS[row["name"]].larger_is_better
        assert row["low"] <= row["high"]
    assert np.sum(found["confusion"]) == found["nodes"]


def test_the_surest_wrong_nodes_come_first():
    sure = np.array([0.9, 0.6, 0.8, 0.7, 0.99, 0.95])
    p = np.stack([sure, 1 - sure], axis=1)  # all are taken for class 0
    fit = by_hand([1, 1, 1, 0, 1, -1], [(0, 1)], train=[4], test=[0, 1, 2, 3, 5], probabilities=p)
    assert wrong_nodes(fit).tolist() == [0, 1, 2]  # 3 is right, 4 is no test node, 5 has no label
    assert surest_wrong(fit) == [0, 2, 1]


def test_reliability_by_hand():
    confidence = np.array([0.55, 0.6, 0.95, 0.91, 1.0], dtype=np.float32)
    right = np.array([True, False, True, True, False])
    found = reliability(confidence, right)
    assert [(row["low"], row["high"], row["nodes"]) for row in found] == [(0.5, 0.6, 2), (0.9, 1.0, 3)]
    assert found[0]["confidence"] == pytest.approx(0.575)
    assert [row["accuracy"] for row in found] == pytest.approx([0.5, 0.6667])


def test_places_are_those_of_the_explorer():
    fit = reported()
    place = {node: 149 - node for node in range(150)}
    found = evaluation(fit, {}, place)["surest_wrong"]
    assert [row["node"] for row in found] == [149 - node for node in surest_wrong(fit)]
    assert found


def test_of_many_classes_the_largest_are_shown(monkeypatch):
    from otherhalf.report import breakdown

    monkeypatch.setattr(breakdown, "MOST_CLASSES", 2)
    found = evaluation(reported(), {}, ALL)
    assert len(found["per_class"]) == len(found["confusion"]) == len(found["confusion"][0]) == 2
