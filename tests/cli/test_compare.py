"""The command compare: its JSON, and a summary with bars, what the tests show, and the next command."""

import re
import shlex
from dataclasses import replace

import pytest
from tests.cli.runs import CSBM, FEW, answer, lines_in, made_up

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning import search as settings_search


@pytest.fixture
def run(run, monkeypatch, tmp_path):
    """Call the program in an empty folder; models are trained for a few epochs only."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(settings_search, "COMMON", FEW)
    return run


def test_compare_with_a_budget(run, work):
    work(made_up)
    found = answer(run("compare", CSBM, "--models", "mlp,goal", "--runs", 3, "--budget", 3, "--json"))
    assert {row["model"]: row["settings_from"] for row in found["rows"]} == {
        "mlp": "best of 3",
        "goal": "defaults",  # it chooses its members by itself
    }
    trials = Store("results/runs").records("trial")
    assert [record.job.model for record in trials] == ["mlp"] * (3 + 2 * 2)


def test_compare_tells_what_the_tests_show(run, work):
    def unlike(job):
        less = {"mlp": 0.1, "gcn": 0.001}.get(job.model, 0.0)
        return {**made_up(job), "test": 0.8 - less * (1 + 0.1 * (-1) ** job.seed) + 0.01 * job.seed}

    work(unlike)
    command = ("compare", CSBM, "--models", "goal,mlp,gcn", "--runs", 5)
    found = answer(run(*command, "--json"))
    rows = {row["model"]: row for row in found["rows"]}
    assert {model: row["verdict"] for model, row in rows.items()} == {
        "goal": None,
        "mlp": "worse",
        "gcn": "worse",
    }
    assert {"model", "mean", "std", "runs", "goal_minus_model", "settings"} <= set(rows["mlp"])
    assert 0 < rows["mlp"]["goal_minus_model"]["p"] <= rows["mlp"]["p_value_adjusted"] < 0.001
    assert 0 < rows["mlp"]["detectable"] < 0.1
    status, out, _ = run(*command)
    text = " ".join(out.split())
    assert status == 0
    assert "adjusted for 2 comparison(s) by Holm's method" in text
    assert "Worse than GOAL: MLP, GCN. Settings of all models: defaults." in text
    lines = out.splitlines()[1:]  # the title has two
    assert lines[2].split() == ["model", "test", "GOAL's", "lead", "p", "against", "GOAL"]
    assert [line.split()[0] for line in lines[3:6]] == ["GOAL", "GCN", "MLP"]
    assert lines[5].split()[-3:] == ["<", "0.001", "worse"]
    assert lines[-2:] == ["Next:", f"  otherhalf fit {CSBM} --out model"]


def test_a_margin_in_percentage_points(run, work):
    work(lambda job: {**made_up(job), "test": 0.5 + 0.02 * (-1) ** job.seed * (job.model == "mlp")})
    command = ("compare", CSBM, "--models", "goal,mlp", "--runs", 10, "--json")
    usual, wide = answer(run(*command)), answer(run(*command, "--margin", 6))
    assert (usual["margin"], usual["rows"][1]["verdict"]) == (0.01, "too few splits to tell")
    assert (wide["margin"], wide["rows"][1]["verdict"]) == (0.06, "tied")


def test_compare_with_ensembles(run, here, tmp_path):
    command = ("compare", CSBM, "--models", "gcn,mlp", "--runs", 2)
    single = answer(run(*command, "--json"))
    found = answer(run(*command, "--ensemble", 3, "--json"))
    assert (single["ensemble"], found["ensemble"]) == (None, 3)
    assert [row["model"] for row in found["rows"]] == ["gcn", "mlp"]
    records = Store("results/runs").records("averaged")
    assert [record.job.options["members"] for record in records] == [3] * 4
    assert lines_in(tmp_path) == 8
    status, out, err = run(*command, "--ensemble", 3)
    assert (status, err) == (0, "")  # nothing was run
    assert "GCN ×3" in out
    assert "MLP ×3" in out
    assert answer(run(*command, "--json")) == single
    assert lines_in(tmp_path) == 8


def test_a_table_in_a_pipe_has_unbroken_numbers(run, work, monkeypatch):
    work(made_up)
    monkeypatch.setenv("COLUMNS", "30")
    status, out, _ = run("compare", CSBM, "--models", "mlp,goal,acmgcn", "--runs", 3)
    assert status == 0
    assert len(re.findall(r"\d\d\.\d\d ± \d\.\d\d", out)) == 3
    title = (
        "csbm:nodes=60,classes=2,features=4,degree=10.0,homophily=0.2,signal=3.0,seed=0: accuracy, 3 uniform"
    )
    assert " ".join(out.split()).startswith(title)
    assert "\x1b" not in out


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_no_line_is_wider_than_the_terminal(run, work, monkeypatch, columns):
    work(made_up)
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = run("compare", CSBM, "--runs", 3)
    *lines, _, more, fit = out.splitlines()
    assert max(map(len, lines)) <= columns
    assert sum("█" in line for line in lines) == 18
    assert more == f"  otherhalf compare {CSBM} --runs 10"
    assert fit == f"  otherhalf fit {CSBM} --out model"


def test_bars_are_shares_of_one(run, work, monkeypatch):
    work(lambda job: {**made_up(job), "test": 0.5 if job.model == "mlp" else 1.0})
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = run("compare", CSBM, "--models", "mlp,gcn", "--runs", 2)
    assert [line.count("█") for line in out.splitlines() if "±" in line and "█" in line] == [24, 12]
    assert "Nothing is tested: GOAL," in out


def test_the_next_command_has_more_splits_and_the_same_options(run, work):
    work(made_up)
    options = ("--models", "goal,mlp", "--split", "stratified", "--margin", "2.0", "--store", "my runs")
    _, out, _ = run("compare", CSBM, *options, "--runs", 12)
    more, fit = (shlex.split(line) for line in out.splitlines()[-2:])
    assert more == ["otherhalf", "compare", CSBM, *options, "--runs", "24"]
    assert fit == ["otherhalf", "fit", CSBM, "--split", "stratified", "--out", "model"]
    assert run(*more[1:], "--json")[0] == 0


def test_a_better_model_is_said_and_no_fit_is_next(run, work):
    def better(job):
        return {**made_up(job), "test": 0.7 + 0.001 * job.seed if job.model == "mlp" else 0.5}

    work(better)
    _, out, _ = run("compare", CSBM, "--models", "goal,mlp", "--runs", 5)
    assert "Better than GOAL: MLP." in out
    assert "Nothing is tested" not in out
    assert out.splitlines()[-1] == f"  otherhalf diagnose {CSBM}"


def test_programs_get_no_lines_about_the_progress(run, work):
    work(made_up)
    command = ("compare", CSBM, "--models", "mlp", "--runs", 2)
    assert run(*command, "--json", "--store", "one")[2] == ""
    assert run(*command, "--store", "two")[2].startswith("[1/2] ")


def test_brackets_in_a_name(run, work, tmp_path):
    work(made_up)
    graph = contextual_sbm(60, 2, 4, homophily=0.2)
    replace(graph, name="").to_npz(tmp_path / "odd [red] name.npz")
    status, out, _ = run("compare", tmp_path / "odd [red] name.npz", "--models", "mlp", "--runs", 1)
    assert status == 0
    assert "[red]" in out
