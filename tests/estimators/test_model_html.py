"""A fitted classifier in a notebook, and scikit-learn's diagram before the fit."""

import numpy as np
import pytest
import sklearn
from tests.system.test_html import texts

from otherhalf import BaselineClassifier, GOALClassifier, Graph, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.sentences import adjective
from otherhalf.estimators.simple import MajorityClassifier

SBM = contextual_sbm(num_nodes=120, num_classes=2, num_features=4, homophily=0.1, signal=2.0, seed=0)
NAMES = np.array(["<script>alert(1)</script>", "b & c"])
GRAPH = Graph(edges=SBM.edges, x=SBM.x, y=NAMES[SBM.y])
SPLIT = split(GRAPH)


@pytest.fixture(scope="module")
def fitted():
    return GOALClassifier(fast=True, epochs=5).fit(GRAPH, SPLIT)


def values(model):
    found = [text for text in texts(model._repr_html_()) if text.strip()]
    return found[0], dict(zip(found[1::2], found[2::2], strict=False)), found


def test_goal(fitted):
    title, facts, found = values(fitted)
    assert title == "GOALClassifier(epochs=5, fast=True), fitted"
    assert facts["fitted on"].startswith("120 nodes, ")
    assert facts["classes"] == ", ".join(NAMES)
    assert facts["metric"] == "accuracy"
    assert facts["verdict"].startswith(fitted.diagnosis_.tendency)
    half = fitted.missing_half_
    assert facts["missing half"] == f"homophilic, {half.num_edges:,} edges, {half.words}"
    for row in fitted.leaderboard_:
        place = found.index(row.member)
        assert found[place + 1] == f"{row.validation:.4f}"
        assert found[place + 3] == f"{row.weight:.0%}"


def test_the_embedding_and_no_half():
    model = GOALClassifier(encoder="mlp", epochs=3, hidden=4).fit(GRAPH, SPLIT)
    half = model.missing_half_
    assert values(model)[1]["missing half"] == f"{adjective(half.kind)}, {half.num_edges:,} edges"
    model = GOALClassifier(fast=True, epochs=3, ensemble={"half": "none"}).fit(GRAPH, SPLIT)
    assert values(model)[1]["missing half"] == "none"


def test_baseline():
    model = BaselineClassifier("gcn", epochs=4).fit(GRAPH, SPLIT)
    title, facts, found = values(model)
    assert title == "BaselineClassifier(epochs=4), fitted"
    assert facts["model"] == "gcn"
    assert "missing half" not in facts
    best = model.history_["classifier"].best_score[0]
    assert found[-3:] == ["classifier", f"{best:.4f}", "4"]


def test_a_model_without_training():
    assert values(MajorityClassifier().fit(GRAPH, SPLIT))[1]["classes"] == ", ".join(NAMES)


def test_a_loaded_model_looks_the_same(fitted, tmp_path):
    fitted.save(tmp_path)
    assert GOALClassifier.load(tmp_path)._repr_html_() == fitted._repr_html_()


def test_notebooks_take_the_bundle(fitted):
    bundle = fitted._repr_mimebundle_()
    assert bundle == {"text/plain": repr(fitted), "text/html": fitted._repr_html_()}


def test_before_the_fit_it_is_that_of_scikit_learn():
    html = GOALClassifier(seed=3)._repr_mimebundle_()["text/html"]
    assert "sk-container" in html
    assert "sk-container" in GOALClassifier(seed=3)._repr_html_()


def test_scikit_learns_option_for_text(fitted):
    with sklearn.config_context(display="text"):
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(fitted, "_repr_html_")


def test_many_classes():
    graph = contextual_sbm(num_nodes=150, num_classes=12, num_features=4, seed=0)
    model = MajorityClassifier().fit(graph, split(graph))
    assert values(model)[1]["classes"] == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
