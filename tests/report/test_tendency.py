"""The verdict in plain words."""

from dataclasses import replace

import pytest
from tests.report.fits import fitted, graph, parts, reported

from otherhalf import BaselineClassifier
from otherhalf.diagnosis.plain_words import EITHER, LIKE, UNLIKE
from otherhalf.report.reported import Reported
from otherhalf.report.tendency import ADVICE, meaning, verdict

BASE = fitted().diagnosis_


@pytest.mark.parametrize(
    ("label_tendency", "adjusted", "words"),
    [("homophily", 0.7, LIKE), ("heterophily", 0.05, EITHER), ("heterophily", -0.3, UNLIKE)],
)
def test_the_advice_follows_the_labels(label_tendency, adjusted, words):
    diagnosis = replace(BASE, label_tendency=label_tendency, adjusted_homophily=adjusted)
    assert ADVICE[words] in meaning(diagnosis, None)


def test_the_meaning_names_contradiction_doubt_and_half():
    half = fitted().missing_half_
    diagnosis = replace(BASE, tendency="homophily", label_tendency="heterophily", doubt="D means little.")
    lines = meaning(diagnosis, half)
    assert "D means little." in lines
    assert any("contradict" in line for line in lines)
    assert any("misleads" in line for line in lines)
    assert lines[-1].startswith("The missing half is homophilic")
    assert meaning(diagnosis, None)[-1] == "The model was fitted without a missing half."


def test_the_values_are_those_of_the_diagnosis():
    found = verdict(reported())
    assert found["ks"] == pytest.approx(BASE.ks, abs=1e-4)
    measures = {row["name"]: row for row in found["measures"]}
    assert measures["edge_homophily"]["value"] == pytest.approx(BASE.edge_homophily, abs=1e-4)
    assert measures["edge_homophily"]["low"] <= measures["edge_homophily"]["value"]
    assert measures["node_homophily"]["low"] is None
    assert len(found["cosines"]["bins"]) == len(found["cosines"]["connected"]) + 1
    known = [*parts().train, *parts().val]
    counts = [list(graph().y[known]).count(code) for code in range(3)]
    assert found["simple"][0]["score"] == pytest.approx(max(counts) / len(known), abs=1e-4)


def test_a_baseline_is_diagnosed_here():
    model = BaselineClassifier("mlp", epochs=1).fit(graph(), parts())
    found = verdict(Reported.of(model, graph(), parts()))
    assert found["ks"] == pytest.approx(BASE.ks, abs=1e-4)
    assert found["meaning"][-1] == "The model was fitted without a missing half."
