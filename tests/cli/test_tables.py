"""Pages of tables: what compare and reproduce show is on them."""

import json
import re

from otherhalf.cli.tables import write_tables
from otherhalf.experiments.runner.executor import EXECUTORS, run_jobs
from otherhalf.experiments.table import Table

CSBM = "csbm:nodes=60,classes=2,features=4,homophily=0.2,signal=3"


def in_this_process(jobs, work, workers, threads, on_start=None):
    return run_jobs(jobs, work, 0, threads, on_start)


def test_a_comparison_is_on_its_page(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(EXECUTORS, "processes", in_this_process)
    page = tmp_path / "page.html"
    command = ("compare", CSBM, "--models", "majority,logistic", "--runs", "2", "--workers", "1")
    status, out, _ = run(*command, "--report", page, "--json")
    assert status == 0
    text = page.read_text(encoding="utf-8")
    for row in json.loads(out)["rows"]:
        assert f"{100 * row['mean']:.2f}" in text
        assert f">{row['mean']:.4f}</text>" in text
    assert "seed=0: accuracy, 2 uniform split(s)" in re.search("<h1[^>]*>(.*)</h1>", text).group(1)
    assert f"--report {page}" in text


def test_a_page_that_cannot_be_written_is_noticed_before_the_runs(run, tmp_path):
    for command in (("compare", CSBM), ("reproduce", "filters")):
        status, out, err = run(*command, "--store", tmp_path / "store", "--report", tmp_path / "page.pdf")
        assert (status, out) == (2, "")
        assert "page.pdf does not end in .html" in err
    assert not (tmp_path / "store").exists()


def test_figures_are_on_the_page(tmp_path):
    (tmp_path / "a.png").write_bytes(b"PNG")
    (tmp_path / "a.svg").write_bytes(b"SVG")
    table = Table(["", "test"], [["GCN", "**1**"]], ["A note."])
    page = tmp_path / "page.html"
    write_tables(page, [("t", table)], "c", figures=[tmp_path / "a.png", tmp_path / "a.svg"])
    text = page.read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,UE5H") == 1
    assert "<b>1</b>" in text
    assert "A note." in text
    assert 'class="chart"' not in text


def test_no_page_is_written_unless_it_is_wanted():
    write_tables(None, [], "")
