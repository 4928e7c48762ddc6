"""The command diagnose: its JSON, and a summary with a histogram, tables and the next command."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.cli.calls import CSBM, SBM, answer, refused, tables

from otherhalf import diagnose
from otherhalf.cli.diagnose import summarize
from otherhalf.graph import Graph

if os.name == "posix":
    import termios


def test_json(run):
    result = answer(run("diagnose", CSBM, "--json"))
    keys = "name nodes edges classes features ks ks_std threshold tendency"
    assert set(keys.split()) <= set(result)
    assert {"edge_homophily", "adjusted_homophily", "label_informativeness"} <= set(result)
    assert (result["nodes"], result["edges"], result["classes"]) == (120, 600, 3)
    assert result["edge_homophily"] == pytest.approx(0.1)
    assert (result["scaling"], result["doubt"]) == ("standard", "")
    assert 0 < result["separation"] < 1
    assert {way: score["nodes"] for way, score in result["simple"].items()} == {
        "majority": 120,
        "neighbours": 120,
        "features": 120,
    }
    audit = result["duplicates"]
    assert (audit["split"], audit["seed"], audit["test_nodes"]) == ("uniform", 0, 24)
    assert set(audit["kinds"]) == {"neighbours", "features", "neighbours_and_features"}
    assert audit["kinds"]["features"]["accuracy"] == audit["majority_accuracy"]  # no two are equal


def test_diagnose_on_another_split(run):
    audit = answer(run("diagnose", CSBM, "--json", "--split", "quota", "--seed", 3))["duplicates"]
    assert (audit["split"], audit["seed"]) == ("quota", 3)


def test_diagnose_without_labels(run, tmp_path):
    graph = replace(SBM, y=np.full(SBM.num_nodes, -1))
    graph.to_npz(tmp_path / "plain.npz")
    audit = answer(run("diagnose", tmp_path / "plain.npz", "--json"))["duplicates"]
    assert audit["split"] is None
    assert audit["kinds"]["features"] == {"groups": 0, "nodes": 0}
    refused(run("diagnose", tmp_path / "plain.npz", "--split", "uniform"), "a split needs some")


def test_text(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    status, out, err = run("diagnose", CSBM)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    verdict = " mostly joins unlike with unlike: 10% of the edges with known labels are within a class."
    assert verdict in " ".join(lines[:2])
    assert lines[2] == "The graph has 120 nodes, 600 undirected edges, 6 features and 3 classes."
    assert "measure value ± or 95 % threshold means" in [" ".join(line.split()) for line in lines]
    (measured,) = (line for line in lines if "edge homophily" in line)
    assert measured.split()[:3] == ["edge", "homophily", "0.100"]
    assert "By default fit follows the labels: the homophilic half is missing." in lines
    assert lines[-2:] == ["Next:", f"  otherhalf fit {CSBM} --out model"]
    assert "\x1b" not in out
    assert "warn" not in out


def test_the_next_command_has_the_options_of_this_one(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    tables(tmp_path / "my data")
    data = "my data/nodes.csv,my data/edges.csv"
    options = ("--features", "x*", "--directed", "--seed", 3, "--no-weight", "--json")
    answer(run("diagnose", data, *options))
    status, out, _ = run("diagnose", data, *options[:-1])
    assert status == 0
    assert out.splitlines()[-1] == (
        f"  otherhalf fit '{data}' --features 'x*' --directed --no-weight --seed 3 --out model-2"
    )


def test_a_graph_that_cannot_be_fitted_has_no_next_command(run, tmp_path):
    replace(SBM, y=np.full(SBM.num_nodes, -1)).to_npz(tmp_path / "plain.npz")
    status, out, _ = run("diagnose", tmp_path / "plain.npz")
    assert status == 0
    assert out.startswith("By its features,")
    assert "Next:" not in out


def test_the_histogram_has_the_numbers_of_the_diagnosis(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    found = diagnose(SBM, simple=False)
    heights = np.zeros_like(found.connected)
    heights[10], heights[20] = 1.0, 0.5
    lines = str(summarize(replace(found, connected=heights, random=heights[::-1]))).splitlines()
    place = next(n for n, line in enumerate(lines) if "cosine of the features" in line)
    bar, half = "\u2588", "\u2584"
    # The bins 10 to 39 of 50 are drawn; the bins of both ends are numbered from the left.
    assert lines[place + 1].startswith(f"  connected pairs  {bar}         {half}{' ' * 19}  mean")
    assert lines[place + 2].startswith(f"  random pairs     {' ' * 19}{half}         {bar}  mean")
    low, high = lines[place + 3].split()
    assert (float(low), float(high)) == (-0.6, 0.6)


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("no_colour", ["", "1"])
def test_in_a_terminal_of_60_columns(no_colour):
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 60))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": no_colour}
    environment.pop("COLUMNS", None)
    command = [sys.executable, "-m", "otherhalf", "diagnose", CSBM]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b"")).decode()
    os.close(ours)
    assert shown.startswith("csbm" if no_colour else "\x1b[1mcsbm")
    assert ("\x1b" in shown) != bool(no_colour)
    *lines, _ = re.sub(r"\x1b\[\d+m", "", shown).splitlines()
    assert max(len(line) for line in lines if not line.startswith("csbm")) <= 60


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the end of what a terminal on Linux has
        return b""


def test_in_a_pipe_that_takes_only_ascii():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    command = [sys.executable, "-m", "otherhalf", "diagnose", CSBM]
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert done.stdout.isascii()
    assert b"\\u" not in done.stdout
    assert b"\x1b" not in done.stdout
    assert re.search(rb"connected pairs +[.:]", done.stdout)


def test_diagnose_warns_where_identical_nodes_give_the_labels_away(run, tmp_path):
    hub = np.arange(60) % 2  # two hubs, and leaves that have the class of theirs
    x = np.random.default_rng(0).normal(size=(62, 3))
    Graph(edges=[hub, np.arange(2, 62)], x=x, y=[0, 1, *hub]).to_npz(tmp_path / "leaves.npz")
    status, out, err = run("diagnose", tmp_path / "leaves.npz")
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    assert "60 of 62 nodes have the same neighbours as another node; " in text
    assert "(uniform split, seed 0) can be answered" in text


PAPER = {  # Section 4.1 of the paper
    "cora": "homophily",
    "citeseer": "homophily",
    "pubmed": "homophily",
    "amazon_computers": "homophily",
    "amazon_photo": "homophily",
    "chameleon": "heterophily",
    "squirrel": "heterophily",
    "actor": "heterophily",
}


@pytest.mark.parametrize("name", PAPER)
def test_the_verdicts_of_the_paper(data_dir, run, name):
    result = answer(run("diagnose", name, "--json"))
    assert result["name"] == name
    assert result["tendency"] == PAPER[name]
