"""A diagnosis in a notebook: verdicts, measures, curves, sentences, and names that are text."""

from dataclasses import replace

from tests.system.test_html import texts

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.diagnosis.verdict_html import diagnosis_html

SBM = contextual_sbm(num_nodes=200, num_classes=2, num_features=4, homophily=0.9, signal=3.0, seed=0)
GRAPH = replace(SBM, name="blocks")
FOUND = diagnose(GRAPH)


def test_verdicts_and_sentences():
    assert diagnosis_html(FOUND) == FOUND._repr_html_()
    found = texts(FOUND._repr_html_())
    assert found[0] == "Diagnosis of blocks"
    values = dict(zip(found[1::2], found[2::2], strict=False))
    assert values["by the features"].startswith(f"{FOUND.tendency}: D = {FOUND.ks:.3f} ± ")
    assert values["by the labels"] == FOUND.label_tendency == "homophily"
    assert values["edges within a class"] == f"{FOUND.edge_homophily:.1%}"
    assert found[-4:] == str(FOUND).splitlines()
    assert FOUND._repr_html_().count("<polyline") == 2


def test_without_labels():
    found = texts(diagnose(replace(GRAPH, y=None, classes=None))._repr_html_())
    assert "by the features" in found
    assert "by the labels" not in found
    assert "adjusted homophily" not in found


def test_a_name_is_text():
    html = replace(FOUND, name="<script>alert(1)</script>")._repr_html_()
    assert "<script" not in html
    assert texts(html)[0] == "Diagnosis of <script>alert(1)</script>"
