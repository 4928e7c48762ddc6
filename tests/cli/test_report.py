"""`report`: a folder in, one page out; wrong folders and names get one line."""

import json

import pytest
from tests.report.made_up import content

from otherhalf.report.stored import REPORT_FILE, write_content


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
    assert json.loads(text) == {"out": str(out), "bytes": out.stat().st_size}
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
