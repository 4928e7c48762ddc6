"""The explorer: which nodes are in it, what their details say, and that it stays small."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from tests.report.fits import by_hand, embedded, fitted, graph, parts, reported

from otherhalf.estimators.inside import member_weights
from otherhalf.report import explored
from otherhalf.report.breakdown import wrong_nodes
from otherhalf.report.explored import explore
from otherhalf.report.reported import Reported


def test_a_small_graph_is_shown_and_explained_whole():
    fit = reported()
    found = explore(fit).content
    nodes = found["nodes"]
    assert found["sentence"] == "All nodes are here."
    assert (found["sampled"], found["shown"], found["of"], found["explained"]) == (False, 150, 150, 150)
    assert nodes["id"] == graph().ids.tolist()
    assert nodes["label"] == graph().y.tolist()
    assert nodes["predicted"] == fit.predicted.tolist()
    assert nodes["part"] == "".join(fit.part)
    assert nodes["degree"] == np.diff(graph().adjacency.indptr).tolist()
    assert sorted(nodes["detail"]) == list(range(150))
    # Wrong predictions are explained first, the surest before the others.
    wrong = sorted(wrong_nodes(fit), key=lambda node: -fit.confidence[node])
    assert [nodes["detail"][node] for node in wrong] == list(range(len(wrong)))


def test_details_add_up():
    fit = reported("both members")
    found = explore(fit).content
    weights = list(member_weights(fit.model).values())
    assert found["members"] == ["GOAL", "spread"]
    for node in range(150):
        detail = found["details"][found["nodes"]["detail"][node]]
        (predicted, probability), *_ = detail["p"]
        assert predicted == fit.predicted[node]
        assert probability == pytest.approx(float(fit.confidence[node]), abs=1e-4)
        blend = sum(w * p for w, p in zip(weights, detail["members"], strict=True))
        assert blend == pytest.approx(probability, abs=2e-4)
        spread = detail["spread"]
        total = sum(value for _, value in spread["from"]) + spread["others"] + spread["own"]
        assert total == pytest.approx(spread["score"][0], abs=1e-9)
        assert len(detail["given"]) + detail["given_more"] == found["nodes"]["degree"][node]
        assert len(detail["found"]) + detail["found_more"] == fit.model.missing_half_.k


@pytest.mark.parametrize("model", [lambda: fitted("none"), lambda: fitted("random"), embedded])
def test_models_without_a_spread(model):
    found = explore(Reported.of(model(), graph(), parts())).content
    assert all(detail["spread"] is None for detail in found["details"])
    assert all(len(detail["members"]) == len(found["members"]) for detail in found["details"])


def test_a_budget_leaves_out_what_is_least_wanted(monkeypatch):
    fit = reported()
    monkeypatch.setattr(explored, "FEWEST_NODES", 5)
    monkeypatch.setattr(explored, "NODE_BYTES", 60 * (explored.BYTES_OF_A_NODE + 6))
    monkeypatch.setattr(explored, "DETAIL_BYTES", 12_000)
    result = explore(fit)
    found = result.content
    assert 50 < found["shown"] < 75
    assert found["sampled"]
    wrong = wrong_nodes(fit)
    assert set(wrong.tolist()) <= result.place.keys()
    assert len(json.dumps(found["details"], separators=(",", ":"))) <= 12_000 + 2
    assert 0 < found["explained"] == len(found["details"]) < found["shown"]
    assert found["sentence"] == (
        f"{found['shown']} of 150 nodes are here: every wrongly predicted test node, and a random sample of "
        f"others. {found['explained']} of them are explained: every wrongly predicted test node, and a "
        "random sample of others."
    )
    for node in wrong:
        assert found["nodes"]["detail"][result.place[int(node)]] >= 0
    # A neighbour that is not in the list is told by id, label and prediction.
    told = [other for detail in found["details"] for other in detail["given"] if isinstance(other, list)]
    assert told
    for name, label, predicted in told:
        node = int(name[1:])
        assert (label, predicted) == (graph().y[node], fit.predicted[node])
        assert node not in result.place


def test_long_ids_are_cut():
    assert explored._id("x" * 500) == "x" * 119 + "…"
    assert explored._id(17) == "17"


def test_the_order_is_wrong_then_unseen_then_taught():
    p = np.array([[0.9, 0.1]] * 8)
    y = [1, 0, 1, 0, 0, 1, -1, 1]
    model = SimpleNamespace(seed=0)
    fit = by_hand(y, [(0, 1)], train=[0, 1], val=[2], test=[3, 4, 5, 7], probabilities=p, model=model)
    order = explored._order(fit).tolist()
    assert order[:2] == [5, 7]
    assert sorted(order[2:5]) == [3, 4, 6]
    assert sorted(order[5:]) == [0, 1, 2]


def test_more_wrong_nodes_than_fit(monkeypatch):
    p = np.array([[0.9, 0.1]] * 8)
    model = SimpleNamespace(seed=0)
    fit = by_hand([1] * 8, [(0, 1)], train=[0], val=[1], test=range(2, 8), probabilities=p, model=model)
    monkeypatch.setattr(explored, "SUREST", 2)
    order = explored._order(fit)
    assert order[:2].tolist() == [2, 3]
    assert order[[3, 5]].tolist() == [4, 5]
    assert sorted(order[[2, 4]]) == [0, 1]
    assert order[6:].tolist() == [6, 7]
    assert explored.sentence(fit, order, 4, 2) == (
        "4 of 8 nodes are here: the surest wrongly predicted test nodes, and a random sample of others. "
        "2 of them are explained: the surest wrongly predicted test nodes."
    )
