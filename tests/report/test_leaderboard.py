"""The classifier part of a report."""

import pytest
from tests.report.fits import embedded, fitted, graph, parts, reported

from otherhalf.report.leaderboard import classifier, curve, explained
from otherhalf.report.reported import Reported
from otherhalf.training.checkpoint import History


def test_members_with_weights_and_what_they_are():
    found = classifier(reported(), {})
    assert [row["member"] for row in found["leaderboard"]] == [row.member for row in fitted().leaderboard_]
    assert sum(row["weight"] for row in found["leaderboard"]) == pytest.approx(1, abs=1e-3)
    assert {"spread", "GOAL", "label propagation", "GCN"} == {row["member"] for row in found["leaderboard"]}
    assert found["metric"] == "accuracy"
    assert found["coefficients"][0].keys() == found["coefficient_meaning"].keys()


def test_what_members_are():
    assert explained("spread") == "labels spread over the found half"
    assert explained("GCN, plain") == "a network over the given edges only"
    assert explained("encoder gcn").startswith("the encoder of the embedding")


def test_a_training_has_one_curve():
    """The training of GOAL is in the history by two names."""
    names = [each["name"] for each in classifier(reported(), {})["curves"]]
    assert "GOAL 1" in names
    assert "classifier" not in names
    names = [each["name"] for each in classifier(Reported.of(embedded(), graph(), parts()), {})["curves"]]
    assert names == ["encoder", "head", "classifier"]


def test_long_curves_are_thinned():
    history = History([float(i) for i in range(450)], [[i / 450, 0.0] for i in range(450)], 300, True)
    found = curve("x", history)
    assert found["step"] == 3
    assert len(found["losses"]) == len(found["scores"]) == 150
    assert found["losses"][:3] == [0.0, 3.0, 6.0]
    assert found["scores"][1] == pytest.approx(3 / 450, abs=1e-4)
    assert found["best"] == 300
    assert curve("x", History([1.0], [[-0.5]], 0), -1)["scores"] == [0.5]


def test_simple_models_are_those_of_the_result():
    rows = [{"title": "Majority class", "validation": 0.3, "test": None, "seconds": 0.1, "better": False}]
    assert classifier(reported(), {"simple": rows})["simple"] == [
        {"title": "Majority class", "validation": 0.3, "test": None}
    ]
