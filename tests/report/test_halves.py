"""The halves side by side: homophily and mixing by hand."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.fits import by_hand, embedded, fitted, graph, parts, reported

from otherhalf.report import halves as module
from otherhalf.report.halves import (
    MOST_CLASSES,
    halves,
    mixing_shares,
    pair_homophily,
    random_homophily,
)
from otherhalf.report.reported import Reported

Y = np.array([0, 0, 1, 1, -1])
PAIRS = np.array([[0, 0, 2, 3, 4, 1], [1, 2, 3, 0, 0, 4]])


def test_homophily_counts_pairs_with_two_labels():
    # Of 0–1, 0–2, 2–3 and 3–0, the first and the third are within a class.
    assert pair_homophily(PAIRS, Y) == 0.5
    assert pair_homophily(PAIRS, Y, np.array([True, False, False, False, True])) == 0.5
    assert pair_homophily(PAIRS, Y, np.array([False, False, True, False, False])) == 1.0
    assert pair_homophily(PAIRS, Y, np.array([False, True, False, False, True])) is None


def test_homophily_is_that_of_the_missing_half():
    half, y = fitted().missing_half_, graph().y
    mask = np.isin(np.arange(150), parts().test)
    assert pair_homophily(half.pairs, y) == half.homophily(y)
    assert pair_homophily(half.pairs, y, mask) == half.homophily(y, parts().test)


def test_random_homophily_is_the_mean_over_all_pairs():
    rng = np.random.default_rng(0)
    y = rng.integers(-1, 3, 30)
    candidates = rng.choice(30, 12, replace=False)
    searching = rng.random(30) < 0.7
    shares = []
    for node in np.flatnonzero(searching & (y >= 0)):
        others = [other for other in candidates if other != node and y[other] >= 0]
        shares.append(np.mean([y[other] == y[node] for other in others]))
    assert random_homophily(y, candidates, searching) == pytest.approx(np.mean(shares))
    assert random_homophily(y, np.array([], dtype=int)) is None


def test_mixing_by_hand():
    # From class 0: to 0, to 1. From class 1: to 1, to 0.
    np.testing.assert_allclose(mixing_shares(PAIRS, Y, np.array([0, 1])), [[0.5, 0.5], [0.5, 0.5]])
    # A class without pairs has no shares, and one class of two has those of all its pairs.
    assert np.isnan(mixing_shares(PAIRS, Y, np.array([2]))).all()
    np.testing.assert_allclose(mixing_shares(PAIRS, Y, np.array([1])), [[0.5]])


def test_given_edges_count_from_both_ends():
    fit = by_hand([0, 0, 1], [(0, 1), (1, 2)], train=[0], test=[2])
    (row,) = halves(fit)["rows"]
    assert (row["name"], row["edges"]) == ("given", 2)
    # 0→1 and 1→0 are within a class, 1→2 and 2→1 are not.
    assert (row["all"], row["train"], row["test"]) == (0.5, 1.0, 0.0)


def test_the_found_half_beside_two_others():
    found = halves(reported())
    assert [row["name"] for row in found["rows"]] == ["given", "found", "knn", "random"]
    assert found["kind"] == fitted().missing_half_.kind
    assert found["rows"][1]["edges"] == fitted().missing_half_.num_edges
    assert found["words"].startswith("joined by ")
    assert len(found["mixing"]["found"]) == len(found["mixing_classes"]) == 3
    for row in found["mixing"]["found"]:
        assert sum(row) == pytest.approx(1, abs=1e-3)
    # Features with a signal are more alike within a class than chance.
    knn, chance = found["rows"][2:]
    assert knn["all"] > chance["all"] + 0.1


def test_the_least_similar_features_beside_a_heterophilic_half(monkeypatch):
    model = fitted()
    monkeypatch.setattr(model, "missing_half_", replace(model.missing_half_, kind="heterophily"))
    rows = halves(reported())["rows"]
    assert rows[2]["title"] == "least similar features"
    assert rows[2]["all"] < rows[3]["all"]


def test_models_without_a_half_or_with_a_random_one():
    assert [row["name"] for row in halves(reported("none"))["rows"]] == ["given"]
    assert list(halves(reported("none"))["mixing"]) == ["given"]
    assert halves(reported("random"))["rows"][1]["title"] == "random half"
    assert halves(reported())["rows"][1]["title"] == "found half"
    assert "mlp" in halves(Reported.of(embedded(), graph(), parts()))["words"]


def test_a_sample_is_stated(monkeypatch):
    monkeypatch.setattr(module, "MOST_QUERIES", 40)
    monkeypatch.setattr(module, "FEWEST_QUERIES", 10)
    knn = halves(reported())["rows"][2]
    assert "a sample of 40 of 150 nodes" in knn["explained"]
    assert f"among {len(parts().train)} nodes" in knn["explained"]


def test_many_classes_leave_the_largest():
    y = np.concatenate([np.arange(30), np.arange(10, 30)])
    fit = by_hand(y, [(i, i + 1) for i in range(49)])
    found = halves(fit)
    assert found["mixing_classes"] == [str(code) for code in range(10, 30)]
    assert len(found["mixing"]["given"]) == MOST_CLASSES


def test_a_half_of_both_kinds_has_a_row_for_each(monkeypatch):
    model = fitted()
    half = model.missing_half_
    signs = np.where(np.arange(half.pairs.shape[1]) % 2, -1, 1)
    both = replace(half, kind="both", weights=abs(half.weights) * signs)
    monkeypatch.setattr(model, "missing_half_", both)
    rows = {row["name"]: row for row in halves(reported())["rows"]}
    assert list(rows) == ["given", "found", "found_homophily", "found_heterophily", "knn", "random"]
    y = graph().y
    assert rows["found_homophily"]["all"] == pytest.approx(both.part("homophily").homophily(y), abs=1e-4)
