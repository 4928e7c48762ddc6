"""Groups of nodes by hand: who is in which, and the mean of each."""

import numpy as np
import pytest
from tests.report.fits import reported

from otherhalf import Graph
from otherhalf.report.groups import (
    _by_distance,
    _by_number,
    distances,
    group,
    group_metric,
    groups,
    merged,
    node_homophily,
)

PATH = Graph(edges=[[0, 1, 2, 3], [1, 2, 3, 4]], x=np.ones((7, 1)), y=[0, 0, 1, -1, 1, 0, 1])


def test_node_homophily_by_hand():
    # 1 has 0 (same) and 2 (other); 2 has 1 (other), and 3 without a label; 4 has 3 alone; 5 and 6 have none.
    found = node_homophily(PATH)
    np.testing.assert_array_equal(found[[0, 1, 2]], [1.0, 0.5, 0.0])
    assert np.isnan(found[[4, 5, 6]]).all()


def test_distances_by_hand():
    assert distances(PATH, np.array([0])).tolist() == [0, 1, 2, 3, 4, 9, 9]
    assert distances(PATH, np.array([0, 4])).tolist() == [0, 1, 2, 1, 0, 9, 9]
    assert distances(PATH, np.array([0]), furthest=2).tolist() == [0, 1, 2, 3, 3, 3, 3]
    assert distances(PATH, np.array([], dtype=int)).tolist() == [9] * 7


def test_neighbouring_groups_are_put_together():
    assert merged([5, 5, 5], 5) == [(0, 0), (1, 1), (2, 2)]
    assert merged([2, 4, 5, 1], 5) == [(0, 1), (2, 3)]
    assert merged([1, 1], 5) == [(0, 1)]
    assert merged([], 5) == []


@pytest.mark.parametrize("counts", [[3, 1, 4, 1, 5, 9, 2, 6], [100], [1] * 50])
def test_every_node_is_in_one_group_of_enough(counts):
    ranges = merged(counts, 7)
    assert [place for first, last in ranges for place in range(first, last + 1)] == list(range(len(counts)))
    if sum(counts) >= 7:
        assert all(sum(counts[first : last + 1]) >= 7 for first, last in ranges)


def test_the_mean_of_a_group():
    found = group("x", np.array([1.0, 1.0, 0.0, 0.0]))
    assert (found["label"], found["nodes"], found["value"]) == ("x", 4, 0.5)
    assert 0 < found["low"] < 0.5 < found["high"] < 1
    losses = group("x", np.array([0.5, 1.5]))
    assert losses["value"] == 1.0
    assert losses["high"] - 1 == pytest.approx(1.96 * np.sqrt(0.5) / np.sqrt(2), abs=1e-3)
    assert group("x", np.array([0.7]))["low"] is None


def test_labels_of_ranges_do_not_overlap():
    numbers, values = np.repeat([1, 2, 3, 7, 9], [10, 4, 6, 3, 2]), np.ones(25)
    assert [row["label"] for row in _by_number(numbers, values)] == ["1", "2 and more"]
    far = [row["label"] for row in _by_distance(numbers, values)]
    assert far == ["1", "2–7", "more than 8, or no way"]
    assert [row["label"] for row in _by_distance(numbers[:-2], values[:-2])] == ["1", "2 and more"]


def test_other_metrics_than_means_are_shown_by_accuracy():
    assert group_metric("log_loss") == "log_loss"
    assert group_metric("roc_auc") == "accuracy"


def test_all_judged_nodes_are_in_each_kind_of_group():
    fit = reported()
    found = {row["title"]: row for row in groups(fit)}
    assert list(found) == ["degree", "node homophily", "distance to the nearest training node", "part"]
    accuracy = np.mean(fit.predicted[fit.judged] == fit.graph.y[fit.judged])
    for title in list(found)[:3]:
        rows = found[title]["groups"]
        assert sum(row["nodes"] for row in rows) == len(fit.judged)
        mean = sum(row["nodes"] * row["value"] for row in rows) / len(fit.judged)
        assert mean == pytest.approx(accuracy, abs=1e-3)
    assert [row["label"] for row in found["part"]["groups"]] == ["training", "validation", "test"]
