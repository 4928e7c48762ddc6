"""The report object: what a notebook shows is the page, and a file of it is the page."""

import html
import re

import pytest
from sklearn.exceptions import NotFittedError
from tests.report.made_up import content

from otherhalf import GOALClassifier, load, split
from otherhalf.errors import InputError
from otherhalf.report.notebook import Report
from otherhalf.report.page import render


def test_save_writes_the_page(tmp_path):
    path = Report(content()).save(tmp_path / "new" / "page.html")
    assert path == tmp_path / "new" / "page.html"
    assert path.read_bytes() == render(content()).encode()


def test_a_wrong_ending(tmp_path):
    with pytest.raises(InputError, match=r"page\.txt does not end in \.html"):
        Report(content()).save(tmp_path / "page.txt")


@pytest.mark.parametrize("hostile", [False, True])
def test_a_notebook_shows_the_page_in_a_frame(hostile):
    shown = Report(content(hostile=hostile))._repr_html_()
    frame = re.fullmatch(
        r'<iframe title="Report" sandbox="allow-scripts" style="[^"]*" srcdoc="([^"]*)"></iframe>', shown
    )
    assert html.unescape(frame.group(1)) == render(content(hostile=hostile))


def test_a_name():
    assert repr(Report(content())) == "Report of made-up: .save('report.html') writes it"
    assert repr(Report({"name": ""})).startswith("Report of a graph")


@pytest.fixture(scope="module")
def fitted():
    graph = load("csbm:nodes=90,classes=3,features=6,homophily=0.2,signal=2")
    parts = split(graph, "stratified", seed=3)
    return GOALClassifier(fast=True).fit(graph, parts), graph, parts


def test_the_report_is_of_the_fit(fitted):
    model, graph, parts = fitted
    content = model.report().content
    assert content["graph"]["nodes"] == 90
    assert content["graph"]["parts"] == {name: len(getattr(parts, name)) for name in ("train", "val", "test")}
    assert content["made"]["split"] == "stratified"
    metrics = {row["name"]: row["value"] for row in content["evaluation"]["metrics"]}
    assert metrics["accuracy"] == pytest.approx(model.score(graph, parts.test), abs=1e-4)


def test_a_path_is_written(fitted, tmp_path):
    model, graph, parts = fitted
    report = model.report(graph, parts, path=tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == report.html


def test_a_loaded_model_is_given_both(fitted, tmp_path):
    model, graph, parts = fitted
    model.save(tmp_path)
    loaded = GOALClassifier.load(tmp_path)
    with pytest.raises(InputError, match=r"give report\(graph, split\)"):
        loaded.report()
    with pytest.raises(InputError, match=r"give report\(graph, split\)"):
        loaded.report(graph)
    first, second = (each.report(graph, parts).content for each in (model, loaded))
    for report in (first, second):
        del report["made"]["when"]
    assert first == second


def test_a_model_without_a_fit():
    with pytest.raises(NotFittedError):
        GOALClassifier().report()
