"""The command tune: a search, a ready model, a page; one sentence for what is wrong."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.calls import refused, tables
from tests.cli.runs import answer

from otherhalf.cli.tune import models_of, seconds_of
from otherhalf.errors import InputError
from otherhalf.estimators.estimate import Estimate
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.experiments.runner.models import compared_models

pytest.importorskip("optuna", reason="needs `pip install 'otherhalf[tune]'`")

CSBM = "csbm:nodes=60,classes=2,features=4,homophily=0.2,signal=3"
SRC = Path(__file__).parents[2] / "src"


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def made_up(job):
    """The second trial is the best."""
    if "fit" not in job.options:
        pytest.fail("only fits of the search are jobs")
    return {"val": 0.9 if job.options["trial"] == 1 else 0.5}


def test_a_search_ends_with_a_model_and_a_page(run, work):
    work(made_up)
    command = ("tune", CSBM, "--models", "mlp", "--trials", 4, "--time", "5m")
    found = answer(run(*command, "--json"))
    assert (found["chosen"]["trial"], found["is_default"], found["fits"]) == (1, False, 4)
    assert (found["validation"], found["default_validation"]) == (0.9, 0.5)
    assert {"test", "default_test", "lead", "test_nodes", "doubts", "importance"} <= set(found)
    assert found["page"] == "tuned/tune.html"
    assert json.loads(Path("tuned/tune.json").read_text()) == found
    assert "What to doubt" in Path("tuned/tune.html").read_text()
    status, out, err = run(*command)
    assert (status, err) == (0, "")  # nothing was run again
    text = " ".join(out.split())
    assert "+0.4000 against the defaults of MLP." in text
    assert "the best of 4, so it is too good" in text
    lines = out.splitlines()
    assert lines[-3:-1] == ["Next:", "  otherhalf report tuned --open"]
    assert max(map(len, lines[:-3])) <= 80
    predict = lines[-1].split()
    assert predict[:3] == ["otherhalf", "predict", "tuned"]
    assert run(*predict[1:])[0] == 0
    assert len(Path("predictions.csv").read_text().splitlines()) == 61
    assert run("report", "tuned")[0] == 0


def test_lines_about_the_fits_and_another_place_for_the_page(run, work):
    work(made_up)
    status, _, err = run(
        "tune", CSBM, "--models", "mlp", "--trials", 2, "--out", "here", "--report", "page.html"
    )
    assert status == 0
    assert err.splitlines()[0].startswith("[1/2] trial 0, fit 1: 0.5000 in ")
    assert err.splitlines()[0].endswith("mlp: defaults")
    assert Path("page.html").read_bytes() == Path("here/tune.html").read_bytes()


def test_how_long_a_fit_of_goal_takes(run, work, brief, monkeypatch):
    work(made_up)
    monkeypatch.setattr(GOALClassifier, "estimate", lambda *_: Estimate(600.0, 900.0, 10**9, 60, 300))
    status, _, err = run("tune", CSBM, "--models", "goal,mlp", "--trials", 1)
    assert status == 0, err
    assert "One fit of GOAL's defaults: About 10 minutes (at worst 15 minutes) and" in err.splitlines()[0]
    assert GOALClassifier.load("tuned").settings_.method == "kernel"
    _, _, err = run("tune", CSBM, "--models", "mlp", "--trials", 1)
    assert "GOAL" not in err


def test_own_tables_with_a_split_of_their_own(run, work, tmp_path):
    work(made_up)
    data = tables(tmp_path / "data")
    nodes = Path(data.split(",")[0])
    first, *rows = nodes.read_text().splitlines()
    parts = ["train", "train", "val", "test"]
    nodes.write_text(
        "\n".join([f"{first},part", *(f"{row},{parts[i % 4]}" for i, row in enumerate(rows))]) + "\n"
    )
    options = ("--models", "trees", "--trials", 2, "--split-column", "part", "--json")
    status, out, err = run("tune", data, *options)
    assert status == 0, err
    found = json.loads(out)
    assert found["split"] == "given"
    assert any("the same validation nodes" in doubt for doubt in found["doubts"])
    status, _, err = run("predict", "tuned", data, "--out", "new.csv")
    assert status == 0, err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ("--time", "soon"),
            "--time 'soon' is no duration: give a number and a unit, as in 90s, 30m or 1h30m",
        ),
        (("--models", "nothing"), "there is no model 'nothing'"),
        (("--models", "majority"), "chooses by itself and has nothing to search"),
        (("--metric", "beauty"), "metric must be"),
        (("--split", "fixed"), "comes without fixed splits"),
        (("--executor", "nobody"), "there is no executor 'nobody'"),
        (("--trials", "0"), "greater than or equal to 1"),
        (("--report", "page.pdf"), ".html"),
    ],
)
def test_wrong_options_are_one_sentence(run, work, options, sentence):
    work(made_up)
    refused(run("tune", CSBM, "--models", "mlp", *options), sentence)


def test_wrong_options_are_noticed_before_the_data_are_read(run):
    refused(run("tune", "nowhere.npz", "--models", "nothing"), "there is no model 'nothing'")
    refused(run("tune", "nowhere.npz", "--time", "5"), "is no duration")


def test_a_place_that_is_no_folder(run, work):
    work(made_up)
    Path("tuned").write_text("mine")
    refused(run("tune", CSBM, "--models", "mlp"), "tuned is no folder that can be written to")
    assert Path("tuned").read_text() == "mine"


def test_without_optuna(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    refused(run("tune", CSBM), "install it with `pip install 'otherhalf[tune]'`")


def test_if_all_fail(run, work):
    def failing(job):
        raise InputError("nothing grows here")

    work(failing)
    status, out, err = run("tune", CSBM, "--models", "mlp", "--trials", 2, "--json")
    assert (status, out) == (1, "")
    assert err == "otherhalf: all 2 trial(s) failed, the first with: nothing grows here\n"
    assert not Path("tuned/model.json").exists()


def test_durations():
    assert (seconds_of("90s"), seconds_of("30m"), seconds_of("1h30m"), seconds_of("1.5h")) == (
        90,
        1800,
        5400,
        5400,
    )
    assert seconds_of(None) is None
    for text in ("", "30", "m", "0s", "-5m", "1h 30m", "m30", "nan s"):
        with pytest.raises(InputError, match="is no duration"):
            seconds_of(text)


def test_all_models():
    assert models_of("all") == list(compared_models())
    assert models_of("gcn, trees") == ["gcn", "trees"]
    with pytest.raises(InputError, match="names nothing"):
        models_of(",")


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_signal_stops_it_and_the_same_command_continues(run, here):
    """A search of real fits in a worker; what has a record is not done again."""
    words = ["tune", CSBM, "--models", "trees", "--trials", "3", "--workers", "1"]
    environment = {**os.environ, "PYTHONPATH": str(SRC), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "otherhalf", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stderr.readline().startswith("[1/3] trial 0, fit 1")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (143, "")
    assert err.endswith("otherhalf: stopped; finished runs are kept: the same command continues\n")
    (record,) = Path("results/runs/tune").rglob("*.jsonl")
    kept = record.read_text().splitlines()
    found = answer(run(*words, "--json"))
    assert found["reused"] == len(kept) >= 1
    assert len(found["trials"]) == 3
    assert record.read_text().splitlines()[: len(kept)] == kept
