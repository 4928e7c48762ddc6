"""Experiments as a shell calls them: output, exit status, and records that are kept."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pandas as pd
import pytest
from tests.cli.runs import CSBM, FEW, answer, in_this_process, lines_in, made_up

from otherhalf.cli.signals import STOPPED_RUNS
from otherhalf.data.catalog import load
from otherhalf.data.entries import DATASETS
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.paper.table1 import PublishedSplits, Table1
from otherhalf.experiments.runner.executor import EXECUTORS
from otherhalf.experiments.runner.job import Outcome
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning import search as settings_search
from otherhalf.experiments.tuning.search import Tuned
from otherhalf.experiments.tuning.tuned import packaged_settings, read_tuned, write_tuned


@pytest.fixture
def run(run, monkeypatch, tmp_path):
    """Call the program in an empty folder; models are trained for a few epochs only."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(settings_search, "COMMON", FEW)
    return run


def rejected(outcome, *fragments):
    """Check that there is one sentence about the error, status 2, and nothing else."""
    status, out, err = outcome
    assert (status, out) == (2, ""), err
    assert err.startswith("otherhalf: ")
    assert err.count("\n") == 1
    for fragment in fragments:
        assert fragment in err


def last_line(err):
    """Return the error message, which must be the last line after those about progress."""
    assert "Traceback" not in err
    (line,) = (line for line in err.splitlines() if line.startswith("otherhalf: "))
    assert err.splitlines()[-1] == line
    return line


def scores(rows):
    return [{key: row[key] for key in ("model", "mean", "std", "runs", "validation_mean")} for row in rows]


# ---------------------------------------------------------------------- compare, with real runs


def test_tables_with_other_column_names_in_processes(run, tmp_path):
    graph = contextual_sbm(60, 2, 4, homophily=0.2, signal=4.0, seed=3)
    nodes = pd.DataFrame(graph.x[:, :3], columns=["a", "b", "not this"])
    nodes.insert(0, "who", [f"n{i}" for i in range(60)])
    nodes["what"] = ["cat" if label else "dog" for label in graph.y]
    nodes.to_csv(tmp_path / "animals.csv", index=False)
    edges = pd.DataFrame(graph.edges.T, columns=["from", "to"]).map(lambda i: f"n{i}")
    edges.to_csv(tmp_path / "ties.csv", index=False)
    columns = ["--id", "who", "--label", "what", "--features", "a,b", "--source", "from", "--target", "to"]
    data = f"{tmp_path}/animals.csv,{tmp_path}/ties.csv"
    command = ("compare", data, *columns, "--models", "mlp,gcn", "--runs", 2, "--json", "--workers", 2)
    first = answer(run(*command))
    assert (first["name"], first["split"], first["failed"]) == ("animals", "uniform", [])
    assert [row["model"] for row in first["rows"]] == ["mlp", "gcn"]
    for row in first["rows"]:
        assert {"model", "mean", "std", "runs"} <= set(row)
        assert row["runs"] == 2
        assert 0 <= row["mean"] <= 1
    store = tmp_path / "here" / "results" / "runs"
    assert lines_in(store) == 4
    assert {record.job.data for record in Store(store).records()} == {"animals"}

    status, out, err = run(*command)
    assert (status, err) == (0, "")  # nothing was run
    assert json.loads(out) == first
    assert lines_in(store) == 4

    more = answer(run(*command, "--runs", 3))
    assert lines_in(store) == 6
    assert more["rows"][0]["runs"] == 3

    # Other labels: the same names, but another graph.
    nodes.assign(what=nodes["what"].iloc[::-1].to_numpy()).to_csv(tmp_path / "animals.csv", index=False)
    answer(run(*command))
    assert lines_in(store) == 10


SHELL = """
from otherhalf.experiments.tuning import search as settings_search
settings_search.COMMON = {"epochs": 60, "patience": 60}
from otherhalf.cli.commands import main
main()
"""


def test_killed_and_started_again_the_results_are_the_same(run, tmp_path, monkeypatch):
    command = ["compare", CSBM, "--models", "mlp,gcn,sage", "--runs", "3", "--json", "--workers", "1"]
    (tmp_path / "disturbed").mkdir()

    def start():
        return subprocess.Popen(
            [sys.executable, "-c", SHELL, *command],
            cwd=tmp_path / "disturbed",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    process = start()
    limit = time.monotonic() + 120
    while process.poll() is None and not lines_in(tmp_path / "disturbed") and time.monotonic() < limit:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    _, err = process.communicate()
    assert process.returncode == -signal.SIGKILL, err
    assert 0 < lines_in(tmp_path / "disturbed") < 9
    process = start()
    monkeypatch.setattr(settings_search, "COMMON", {"epochs": 60, "patience": 60})
    undisturbed = answer(run(*command))  # meanwhile
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = json.loads(out)
    assert len(found["rows"]) == 3
    assert scores(found["rows"]) == scores(undisturbed["rows"])
    assert lines_in(tmp_path / "disturbed") == lines_in(tmp_path / "here") == 9


# ---------------------------------------------------------------------- output


def test_the_widest_table_in_a_pipe(run, work, tmp_path, monkeypatch):
    monkeypatch.setenv("OTHERHALF_DATA", str(tmp_path / "none"))  # a table needs only its records
    monkeypatch.setattr("otherhalf.experiments.paper.comparison_table.read_tuned", lambda data, folder: {})
    store = Store(tmp_path / "runs")
    about = Table1()
    lookup = {"accuracy": 0.3, "answerable_share": 0.2}
    for job in about.jobs(about.request(models=["gcn", "goal"], runs=2)):
        result = {"kinds": {"features": lookup}, "best": "features"} if job.task == "audit" else made_up(job)
        store.add(job, Outcome(result, 1.0, 1.0, 1))
    work(lambda job: pytest.fail("nothing is to be run"))
    command = ("reproduce", "table1", "--models", "gcn,goal", "--runs", 2, "--store", tmp_path / "runs")
    status, out, err = run(*command)
    assert (status, err) == (0, "")
    rows = [line for line in out.splitlines() if "│ GCN" in line or "│ GOAL" in line]
    assert [len(re.findall(r"\d\d\.\d\d ± \d\.\d\d", row)) for row in rows] == [8, 8]
    assert len(re.findall(r"\d\d\.\d\d \([+-]\d+\.\d\d\)", out)) == 16
    assert "…" not in out
    assert "Node classification (tab:node classification)" in out

    found = answer(run(*command, "--json"))
    assert (found["experiment"], found["figures"], found["failed"]) == ("table1", [], [])
    assert len(found["datasets"]) == 8


def test_a_file_with_a_graph_of_the_catalogue_needs_no_other(run, here, tmp_path, monkeypatch):
    graph = replace(contextual_sbm(60, 2, 4, homophily=0.2), name="texas")
    graph.to_npz(tmp_path / "somewhere.npz")
    sizes = {"nodes": 60, "edges": graph.num_edges, "classes": 2, "features": 4}
    entry = replace(DATASETS["texas"], fingerprint=graph.fingerprint, **sizes)
    monkeypatch.setitem(DATASETS, "texas", entry)
    monkeypatch.setenv("OTHERHALF_DATA", str(tmp_path / "none"))
    monkeypatch.setattr("otherhalf.data.catalog.download", lambda entry: pytest.fail("not to be downloaded"))
    monkeypatch.setattr("otherhalf.experiments.compare.read_tuned", lambda data, folder: {})
    command = ("compare", tmp_path / "somewhere.npz", "--models", "mlp", "--runs", 1, "--json")
    assert answer(run(*command))["name"] == "texas"


def test_search(run, work, tmp_path):
    def better_later(job):
        return {"val": 0.5 + job.options["params"].get("hidden", 0) / 1000, "epochs": 1}

    work(better_later)
    command = ("search", "--datasets", "Texas,cora", "--models", "gcn,goal", "--trials", 3)
    command += ("--out", tmp_path / "new" / "settings")
    found = answer(run(*command, "--json"))
    assert found["trials"] == 3
    assert list(found["datasets"]) == ["texas", "cora"]
    assert found["datasets"]["cora"]["models"]["gcn"]["params"]["hidden"] == 128
    for data in ("texas", "cora"):
        settings = read_tuned(data, tmp_path / "new" / "settings")
        assert set(settings) == {"gcn", "goal"}
        assert settings["gcn"].params["hidden"] == settings["goal"].params["hidden"] == 128
    before = lines_in(tmp_path / "here")
    status, out, err = run(*command)
    assert (status, err) == (0, "")
    assert "hidden 128" in out
    assert lines_in(tmp_path / "here") == before


def test_a_search_for_goals_embedding_is_one_for_goal(run, work, tmp_path):
    work(lambda job: {"val": 0.5, "epochs": 1})
    command = ("search", "--datasets", "texas", "--models", "goal-embedding,goal", "--trials", 1)
    found = answer(run(*command, "--out", tmp_path / "settings", "--json"))
    assert list(found["datasets"]["texas"]["models"]) == ["goal"]
    assert set(read_tuned("texas", tmp_path / "settings")) == {"goal"}


def test_a_part_of_what_the_parts_are_worth(run, work):
    jobs = []
    work(lambda job: jobs.append(job) or made_up(job))
    command = ("reproduce", "worth", "--models", "half-none,half-random", "--datasets", "cora", "--runs", 2)
    found = answer(run(*command, "--json"))
    assert set(found["datasets"]["cora"]["parts"]) == {"half-none", "half-random"}
    assert len(jobs) == 6  # the default and two variants on two splits


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (("reproduce", "table9"), ["there is no experiment 'table9': choose one of table1, "]),
        (("reproduce", "table1", "--datasets", "texas"), ["table1 is not about texas: choose among cora, "]),
        (("reproduce", "table1", "--datasets", "coraa"), ["there is no data set 'coraa'"]),
        (("reproduce", "table1", "--models", "gcnn"), ["there is no model 'gcnn': choose among goal"]),
        (("reproduce", "table1", "--models", ","), ["',' names nothing"]),
        (("reproduce", "table1", "--runs", "0"), ["invalid value for '--runs'", "reproduce --help"]),
        (("reproduce", "fixed", "--runs", "11"), ["give 10 runs or less"]),
        (("reproduce", "worth", "--models", "gcn"), ["worth has no part 'gcn': choose among half-none, "]),
        (("reproduce", "table1", "--workers", "0"), ["invalid value for '--workers'"]),
        (("reproduce",), ["missing argument 'NAME'"]),
        (("compare", "coraa"), ["there is no data set called 'coraa': did you mean cora"]),
        (("compare", CSBM, "--models", "gcn,gcnn"), ["there is no model 'gcnn'"]),
        (("compare", CSBM, "--runs", "0"), ["invalid value for '--runs'"]),
        (("compare", CSBM, "--budget", "-1"), ["invalid value for '--budget'"]),
        (("compare", CSBM, "--budget", "100000"), ["100000 trials cannot be made", "give 1 to"]),
        (("compare", CSBM, "--ensemble", "1"), ["invalid value for '--ensemble'"]),
        (("compare", CSBM, "--margin", "0"), ["invalid value for '--margin'"]),
        (("compare", CSBM, "--margin", "nan"), ["'--margin'"]),
        (("compare", CSBM, "--split", "random"), ["there is no split 'random'"]),
        (("compare", CSBM, "--split", "fixed"), ["comes without fixed splits"]),
        (("compare", CSBM, "--metric", "f1"), ["metric must be one of accuracy, roc_auc, "]),
        (("compare", CSBM, "--device", "tpu"), ["the device 'tpu' cannot be used here"]),
        (("reproduce", "table1", "--device", "tpu"), ["the device 'tpu' cannot be used here"]),
        (
            ("compare", CSBM, "--executor", "threads"),
            ["there is no executor 'threads': choose one of processes"],
        ),
        (("reproduce", "table1", "--executor", "threads"), ["there is no executor 'threads'"]),
        (("search", "--executor", "threads"), ["there is no executor 'threads'"]),
        (("search", "--datasets", "coraa"), ["there is no data set 'coraa'"]),
        (("search", "--models", "gcnn"), ["there is no model 'gcnn'"]),
        (("search", "--trials", "0"), ["invalid value for '--trials'"]),
        (("search", "--split", "random", "--out", "new"), ["there is no split 'random'"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_one_sentence(run, work, arguments, fragments, tmp_path):
    work(lambda job: pytest.fail("nothing is to be run"))
    rejected(run(*arguments), *fragments)
    rejected(run(*arguments, "--json"), *fragments)
    assert list((tmp_path / "here").iterdir()) == []


def test_more_runs_than_published_splits(run, work, tmp_path):
    work(made_up)
    graph = contextual_sbm(60, 2, 4, homophily=0.2)
    splits = tuple(replace(split(graph, seed=i), kind="fixed", seed=i) for i in range(2))
    replace(graph, fixed_splits=splits, name="mine").to_npz(tmp_path / "mine.npz")
    command = ("compare", tmp_path / "mine.npz", "--split", "fixed", "--models", "mlp")
    rejected(run(*command), "mine has 2 fixed split(s), which is too few for 10 runs: give 2 runs or less")
    assert answer(run(*command, "--runs", 2, "--json"))["rows"][0]["runs"] == 2


COMPARE = ("compare", CSBM, "--models", "mlp", "--runs", "2")


@pytest.mark.parametrize("command", [COMPARE, ("reproduce", "table1"), ("search", "--out", "new")])
def test_a_store_that_is_a_file(run, work, tmp_path, command):
    work(made_up)
    (tmp_path / "file").write_text("precious")
    rejected(run(*command, "--store", tmp_path / "file"), "file is a file: give a folder for the results")
    inside = run(*command, "--store", tmp_path / "file" / "x")
    rejected(inside, "is no folder that can be written to")
    assert (tmp_path / "file").read_text() == "precious"


def record_file(folder):
    (path,) = folder.rglob("mlp.jsonl")
    return path


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        (lambda line: line.replace(b'"format": 2', b'"format": 99'), ["newer otherhalf: upgrade otherhalf"]),
        (lambda line: line[:40] + b"\n", ["line 2 is no record of a run", "remove that line"]),
        (lambda line: b"{}\n", ["line 2 is no record of a run (it has no 'format')"]),
        (lambda line: b"<<<<<<< HEAD\n", ["line 2 is no record of a run", "restore the file from version"]),
        (lambda line: line.replace(b'"seed": 1', b'"seed": 7'), ["it has been changed since it was written"]),
        (lambda line: line.replace(b'"val": 0.75', b'"val": 0.85'), ["it has been changed since it was"]),
    ],
)
def test_damaged_records(run, work, tmp_path, change, fragments):
    work(made_up)
    answer(run(*COMPARE, "--json"))
    path = record_file(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + change(lines[1]))
    before = path.read_bytes()
    rejected(run(*COMPARE), "mlp.jsonl, line 2", *fragments)
    assert path.read_bytes() == before


def test_a_record_cut_short_by_a_kill_is_run_again(run, work, tmp_path):
    work(made_up)
    first = answer(run(*COMPARE, "--json"))
    path = record_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    assert answer(run(*COMPARE, "--json")) == first
    assert lines_in(tmp_path) == 2


def test_a_full_disk(run, work, tmp_path, monkeypatch):
    work(made_up)
    write, written = os.pwrite, []

    def full(handle, content, offset):
        if len(written) == 1:  # a part of the second record
            write(handle, content[: len(content) // 2], offset)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(len(content))
        return write(handle, content, offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        status, out, err = run(*COMPARE, "--json")
    assert (status, out) == (2, "")
    message = last_line(err)
    assert "mlp.jsonl cannot be written (No space left on device): free some space and start again" in message
    assert "every run finished before is kept" in message
    assert lines_in(tmp_path) == 1
    assert answer(run(*COMPARE, "--json"))["rows"][0]["runs"] == 2
    assert lines_in(tmp_path) == 2


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (InputError("too few labels: label more nodes"), 2, "too few labels: label more nodes"),
        (ZeroDivisionError("division by zero"), 1, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_run_that_fails_does_not_affect_the_others(run, work, error, status, message):
    def one_fails(job):
        if (job.model, job.seed) == ("gcn", 1):
            raise error
        return made_up(job)

    work(one_fails)
    command = ("compare", CSBM, "--models", "mlp,gcn", "--runs", 3)
    code, out, err = run(*command, "--json")
    assert code == status
    assert out.count("\n") == 1
    values = json.loads(out)
    assert [row["model"] for row in values["rows"]] == ["mlp"]
    assert values["missing"] == ["gcn"]
    assert message in values["failed"][0]
    line = last_line(err)
    assert "1 run(s) failed, the first being gcn on csbm" in line
    assert f"seed 1: {message}; the others are kept" in line
    assert lines_in(Store("results/runs").folder) == 5

    code, out, err = run(*command)
    assert code == status
    assert "Left out, because there is not a score for every split: GCN." in " ".join(out.split())
    work(made_up)
    assert len(answer(run(*command, "--json"))["rows"]) == 2
    assert lines_in(Store("results/runs").folder) == 6


def test_a_search_with_failed_trials_writes_no_settings(run, work, tmp_path):
    def one_fails(job):
        if job.data == "texas" and job.options["params"].get("hidden") == 128:
            raise MemoryError
        return {"val": 0.5, "epochs": 1}

    work(one_fails)
    command = (
        "search",
        "--datasets",
        "cora,texas",
        "--models",
        "gcn",
        "--trials",
        3,
        "--out",
        tmp_path / "s",
    )
    status, _, err = run(*command)
    assert status == 1
    assert "failed, the first being gcn on texas, seed 50: there was not enough memory (" in last_line(err)
    assert [path.name for path in (tmp_path / "s").iterdir()] == ["cora.toml"]


def test_a_folder_that_cannot_hold_settings_is_an_error_before_the_search(run, work, tmp_path):
    work(lambda job: pytest.fail("nothing is to be run"))
    (tmp_path / "file").touch()
    command = ("search", "--datasets", "cora", "--out")
    rejected(run(*command, tmp_path / "file"), "is no folder that can be written to")
    write_tuned("cora", {"mlp": Tuned({}, 0.5, 4)}, (50,), tmp_path)
    unequal = run(*command, tmp_path, "--models", "gcn", "--trials", 8)
    rejected(unequal, "cora.toml has mlp as the best of 4 trials", "search with 4 trials, or for mlp too")
    (tmp_path / "cora.toml").write_text("[gcn")
    rejected(run(*command, tmp_path), "cora.toml cannot be read")
    assert (tmp_path / "cora.toml").read_text() == "[gcn"


def test_a_search_uses_the_published_splits_that_there_are(run, work, monkeypatch, tmp_path):
    one = replace(contextual_sbm(60, 2, 4), name="cora")
    one = replace(one, fixed_splits=(replace(split(one, "uniform"), kind="fixed", seed=0),))
    none = replace(one, fixed_splits=())
    graphs = {"cora": one, "actor": none}
    monkeypatch.setattr("otherhalf.data.catalog.load", lambda name: graphs.get(name, one))
    seen = set()
    work(lambda job: seen.add((job.data, job.seed)) or {"val": 0.5, "epochs": 1})
    command = ("search", "--split", "fixed", "--models", "mlp", "--trials", 2, "--out", tmp_path)
    answer(run(*command, "--datasets", "cora", "--json"))
    assert seen == {("cora", 0)}
    rejected(run(*command, "--datasets", "actor"), "actor comes without fixed splits")
    found = answer(run(*command, "--json"))
    assert list(found["datasets"]) == list(PublishedSplits.datasets)


def test_figures_that_cannot_be_drawn_are_an_error_before_the_runs(run, work, tmp_path, monkeypatch):
    work(lambda job: pytest.fail("nothing is to be run"))
    (tmp_path / "file").touch()
    command = ("reproduce", "discrimination", "--datasets", "cora", "--figures")
    rejected(run(*command, tmp_path / "file"), "is no folder that can be written to")
    monkeypatch.setattr("otherhalf.report.charts.find_spec", lambda name: None)
    rejected(run(*command, tmp_path), "figures need matplotlib", "otherhalf[report]")


def test_a_part_of_an_experiment_does_not_replace_its_figures(run, work, tmp_path):
    edges = [0.0, 0.5, 1.0]
    shapes = {"bin_edges": edges, "connected": [0.5, 1.5], "random": [1.5, 0.5]}
    verdict = {"ks": 0.5, "ks_std": 0.01, "threshold": 0.2, "tendency": "homophily", "edge_homophily": 0.8}
    work(lambda job: {**verdict, **shapes})
    part = answer(run("reproduce", "discrimination", "--datasets", "cora", "--json"))
    assert part["figures"] == [f"results/figures-of-a-part/cosine.{ending}" for ending in ("png", "svg")]
    elsewhere = answer(run("reproduce", "discrimination", "--store", tmp_path / "other", "--json"))
    assert elsewhere["figures"] == part["figures"]
    entire = answer(run("reproduce", "discrimination", "--json"))
    assert entire["figures"] == [f"results/figures/cosine.{ending}" for ending in ("png", "svg")]


def test_no_space_for_temporary_files(run, work, monkeypatch):
    def full(*words, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    work(made_up)
    monkeypatch.setattr("tempfile.mkdtemp", full)
    rejected(run(*COMPARE), "No space left on device", "TMPDIR")


def test_the_splits_of_the_search_are_not_reported(run, work):
    work(lambda job: pytest.fail("nothing is to be run"))
    for command in (("reproduce", "table1"), ("compare", CSBM)):
        rejected(run(*command, "--runs", 51), "51 runs are too many", "give 50 or less")


def test_ctrl_c(run, work, tmp_path):
    def interrupted(job):
        if job.seed == 1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)  # is cut short
        return made_up(job)

    work(interrupted)
    status, out, err = run(*COMPARE, "--json")
    assert (status, out) == (130, "")
    assert last_line(err) == f"otherhalf: {STOPPED_RUNS}"
    assert lines_in(tmp_path) == 1
    work(made_up)
    assert answer(run(*COMPARE, "--json"))["rows"][0]["runs"] == 2


def test_the_help_names_every_experiment(run):
    from otherhalf.experiments.paper.registry import EXPERIMENTS

    status, out, _ = run("reproduce", "--help")
    assert status == 0
    words = set(re.findall(r"\w+", out))
    assert set(EXPERIMENTS) <= words


# ---------------------------------------------------------------------- executors and settings


@pytest.mark.parametrize(
    "command",
    [
        ("compare", CSBM, "--models", "mlp", "--runs", 1),
        ("search", "--datasets", "texas", "--models", "mlp", "--trials", 1),
        ("reproduce", "table1", "--datasets", "cora", "--models", "mlp", "--runs", 1),
    ],
    ids=lambda command: command[0],
)
def test_another_executor_can_be_registered(run, work, monkeypatch, command):
    """As a package for a cluster would."""
    given = []

    def executor(jobs, work, workers, threads, on_start=None):
        given.append((workers, threads))
        return in_this_process(jobs, work, workers, threads, on_start)

    work(lambda job: {**made_up(job), "kinds": {}})
    monkeypatch.setitem(EXECUTORS, "cluster", executor)
    answer(run(*command, "--executor", "cluster", "--workers", 64, "--threads", 2, "--json"))
    assert set(given) == {(64, 2)}


def test_a_search_writes_into_the_current_folder(run, work, tmp_path):
    before = {path: path.read_bytes() for path in packaged_settings("uniform").iterdir()}
    work(lambda job: {"val": 0.5, "epochs": 1})
    found = answer(run("search", "--datasets", "texas", "--models", "mlp", "--trials", 2, "--json"))
    assert found["datasets"]["texas"]["file"] == "results/settings/uniform/texas.toml"
    assert set(read_tuned("texas", tmp_path / "here" / "results" / "settings" / "uniform")) == {"mlp"}
    assert {path: path.read_bytes() for path in packaged_settings("uniform").iterdir()} == before


def test_temporary_graphs_are_removed(run, work, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    seen = []
    work(lambda job: seen.extend((tmp_path / "temporary").glob("otherhalf-*/*.npz")) or made_up(job))
    answer(run(*COMPARE, "--json"))
    assert len({path.stem for path in seen}) == 1
    assert not list((tmp_path / "temporary").iterdir())


def test_an_own_graph_is_kept_where_all_runs_can_read_it(run, here, tmp_path):
    folder = tmp_path / "graphs"
    answer(run("compare", CSBM, "--models", "mlp", "--runs", 1, "--graphs", folder, "--json"))
    (file,) = folder.iterdir()
    assert file.name == f"{load(CSBM).fingerprint}.npz"


def test_what_a_search_wrote_can_be_compared_with(run, work, data_dir, monkeypatch):
    monkeypatch.setenv("OTHERHALF_DATA", str(data_dir))
    work(made_up)
    run("search", "--datasets", "texas", "--models", "gcn", "--trials", 2)
    words = ("compare", "texas", "--models", "gcn", "--runs", 1, "--settings", "results/settings/uniform")
    (row,) = answer(run(*words, "--json"))["rows"]
    assert row["settings_from"] == "tuned before"
    (row,) = answer(run(*words[:6], "--json"))["rows"]
    assert row["settings_from"] == "defaults"  # the package has none of Texas under this protocol
