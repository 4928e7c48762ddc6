"""`report`: a folder in, one page out; wrong folders and names get one line."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from tests.report.made_up import HOSTILE, content

from otherhalf.cli.commands import main  # as a process, it would ignore signals in the end
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.run_files import REPORT_FILE
from otherhalf.report.stored import read_content, write_content


@pytest.fixture
def folder(tmp_path):
    write_content(tmp_path / "run", content())
    return tmp_path / "run"


def refused(outcome, *fragments):
    status, out, err = outcome
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    for fragment in fragments:
        assert fragment in err


def test_the_page_is_in_the_folder(run, folder):
    status, out, err = run("report", folder)
    assert (status, err) == (0, "")
    page = folder / "report.html"
    assert str(page) in out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_page_is_where_it_is_wanted(run, folder, tmp_path):
    out = tmp_path / "new" / "page.html"
    status, text, _ = run("report", folder, "--out", out, "--json")
    assert status == 0
    worth = content()["halves"]["worth"]
    assert json.loads(text) == {"out": str(out), "bytes": out.stat().st_size, "worth": worth}
    assert not (folder / "report.html").exists()


def test_open_shows_the_page(run, folder, monkeypatch):
    shown = []
    monkeypatch.setattr("typer.launch", shown.append)
    assert run("report", folder, "--open")[0] == 0
    assert shown == [str((folder / "report.html").resolve())]


def test_a_folder_without_a_report(run, tmp_path):
    refused(run("report", tmp_path), str(tmp_path), "has no report.json", "otherhalf fit DATA --out")
    refused(run("report", tmp_path / "nowhere"), "has no report.json")


def test_a_damaged_report(run, folder):
    (folder / REPORT_FILE).write_text("{")
    refused(run("report", folder), "report.json is damaged", "again")
    assert not (folder / "report.html").exists()


def test_a_page_of_another_ending(run, folder, tmp_path):
    refused(run("report", folder, "--out", tmp_path / "page.pdf"), "page.pdf does not end in .html")


def test_an_older_page_stays_when_the_report_is_damaged(run, folder):
    (folder / "report.html").write_text("old")
    (folder / REPORT_FILE).write_text(json.dumps({**content(), "made": {}}))
    refused(run("report", folder), "made.version is missing")
    assert (folder / "report.html").read_text() == "old"


DATA = "csbm:nodes=90,classes=3,features=6,homophily=0.2,signal=2"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder of a fit, and the page that the same command wrote."""
    folder = tmp_path_factory.mktemp("fit")
    files = ["--out", folder / "run", "--report", folder / "page.html"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["otherhalf", "fit", DATA, "--fast", "--seed", "1", *map(str, files)])
        with pytest.raises(SystemExit) as stop:
            main()
    assert not stop.value.code
    return folder / "run", folder / "page.html"


def test_fit_writes_the_same_page_as_report(run, fitted):
    folder, page = fitted
    assert run("report", folder)[0] == 0
    assert (folder / "report.html").read_bytes() == page.read_bytes()
    assert f"--report {page}" in page.read_text(encoding="utf-8")


def test_fit_writes_a_page_without_a_folder(run, tmp_path):
    page = tmp_path / "page.html"
    assert run("fit", DATA, "--fast", "--report", page, "--json")[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_page_of_fit_that_cannot_be_written_is_noticed_before_the_fit(run, tmp_path):
    refused(run("fit", DATA, "--report", tmp_path / "page.txt", "--out", tmp_path / "run"), "page.txt")
    assert not (tmp_path / "run").exists()


def test_the_worth_of_a_half_is_measured_and_kept(run, fitted):
    folder, _ = fitted
    status, out, err = run("report", folder, "--worth", DATA, "--json")
    assert (status, err) == (0, "")
    worth = json.loads(out)["worth"]
    assert {"with", "without", "random"} <= worth.keys()
    assert read_content(folder)["halves"]["worth"] == worth
    result = json.loads((folder / "result.json").read_text())
    assert worth["with"] == pytest.approx(result["test_accuracy"], abs=1e-4)


def test_the_worth_with_a_split_of_the_table(run, tmp_path):
    graph = contextual_sbm(num_nodes=90, num_classes=2, num_features=4, homophily=0.2, seed=0)
    nodes = pd.DataFrame(graph.x, columns=list("abcd")).assign(y=graph.y, part=["train", "val", "test"] * 30)
    nodes.rename_axis("id").to_csv(tmp_path / "nodes.csv")
    pd.DataFrame({"from": graph.edges[0], "to": graph.edges[1]}).to_csv(tmp_path / "edges.csv", index=False)
    data, folder = f"{tmp_path}/nodes.csv,{tmp_path}/edges.csv", tmp_path / "run"
    words = ("--label", "y", "--split-column", "part", "--fast", "--out", folder)
    assert run("fit", data, *words)[0] == 0
    status, out, err = run("report", folder, "--worth", data, "--json")
    assert status == 0, err
    result = json.loads((folder / "result.json").read_text())
    assert json.loads(out)["worth"]["with"] == pytest.approx(result["test_accuracy"], abs=1e-4)

    predictions = folder / "predictions.csv"
    predictions.write_text(predictions.read_text().replace(",val,", ",train,", 1))
    refused(run("report", folder, "--worth", data), "does not have the split of the fit: fit again")
    predictions.unlink()
    refused(run("report", folder, "--worth", data), "has no split that can be read")


def test_the_worth_on_other_data(run, fitted):
    folder, _ = fitted
    refused(run("report", folder, "--worth", f"{DATA},seed=5"), "is not the data that", "was fitted on")


def test_hostile_tables_become_text(run, tmp_path):
    draw = np.random.default_rng(0)
    ids = [f"{HOSTILE[i % 4]} {i}" for i in range(60)]
    classes = np.array([HOSTILE[0], HOSTILE[1]])[np.arange(60) % 2]
    columns = {
        "id": ids,
        "label": classes,
        HOSTILE[0]: draw.normal(size=60),
        HOSTILE[2]: draw.normal(size=60),
    }
    pd.DataFrame(columns).to_csv(tmp_path / "nodes.csv", index=False)
    ends = {"source": draw.choice(ids, 150), "target": draw.choice(ids, 150)}
    pd.DataFrame(ends).to_csv(tmp_path / "edges.csv", index=False)
    page = tmp_path / "page.html"
    tables = f"{tmp_path / 'nodes.csv'},{tmp_path / 'edges.csv'}"
    status, _, err = run("fit", tables, "--fast", "--report", page)
    assert status == 0, err
    text = page.read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script") == 3
    assert "<img" not in text
    assert "<svg onload" not in text
    assert "&lt;/script&gt;&lt;img" in text
