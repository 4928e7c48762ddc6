"""The command fit: its options, its result, its text and its folder."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.cli.calls import CSBM, KNOWN, NAMES, SBM, answer, refused, tables

from otherhalf import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.estimate import Estimate
from otherhalf.report.stored import read_content


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("seconds", [20, 250, 700])
def test_a_long_fit_is_announced(run, monkeypatch, seconds):
    said = Estimate(seconds, 3 * seconds, 2_000_000_000, 120, 580)
    quick = Estimate(50, 60, 1_000_000_000, 120, 580)
    monkeypatch.setattr(
        "otherhalf.estimators.goal.estimate_fit",
        lambda graph, split, settings: said if settings.ensemble.trees else quick,
    )
    status, out, err = run("fit", CSBM, "--json")
    assert status == 0
    assert json.loads(out)["estimate"] == said.to_dict()
    lines = {20: 0, 250: 1, 700: 2}[seconds]
    assert (
        err.splitlines()
        == [
            f"otherhalf: {said}.",
            "otherhalf: With --fast it would be about 50 seconds (at worst 60 seconds), with fewer and "
            "simpler models.",
        ][:lines]
    )


@pytest.mark.usefixtures("brief")
def test_fit(run):
    result = answer(run("fit", CSBM, "--json", "--seed", 2, "--split", "quota", "--preset", "paper"))
    keys = "val_accuracy test_accuracy seconds epochs peak_memory_mb coefficients"
    assert set(keys.split()) <= set(result)
    assert set(result["seconds"]) == {"diagnose", "complement", "train", "total"}
    assert all(set(layer) == {"alpha", "beta", "gamma", "delta"} for layer in result["coefficients"])
    assert (result["seed"], result["split"], result["preset"]) == (2, "quota", "paper")
    assert result["epochs"] == 4
    assert set(result["metrics"]) == set(result["majority"]) == {"val", "test"}
    assert result["metrics"]["test"]["accuracy"] == result["test_accuracy"]
    assert result["metrics"]["val"]["accuracy"] == result["val_accuracy"]
    assert result["metrics"]["test"]["top_3"] is None
    assert result["simple"] == []  # the preset paper is the embedding


@pytest.mark.usefixtures("brief")
def test_the_profile_says_where_the_time_went(run):
    result = answer(run("fit", CSBM, "--json", "--profile", "--no-simple"))
    stages = {row["stage"]: row for row in result["profile"]}
    assert {"diagnosis", "choice of kernels", "regression", "member GOAL", "blend", "prediction"} <= set(
        stages
    )
    assert sum(row["share"] for row in stages.values()) == pytest.approx(1)
    assert all(row["seconds"] >= 0 and row["calls"] >= 1 for row in stages.values())
    status, out, _ = run("fit", CSBM, "--profile", "--preset", "paper")
    assert status == 0
    assert "  together " in out
    assert "profile" not in answer(run("fit", CSBM, "--json", "--preset", "paper"))


@pytest.mark.usefixtures("brief")
def test_fit_has_simple_models_beside_it(run):
    result = answer(run("fit", CSBM, "--json"))
    assert [row["model"] for row in result["simple"]][:2] == ["majority", "propagation"]
    assert answer(run("fit", CSBM, "--json", "--no-simple"))["simple"] == []
    assert answer(run("fit", CSBM, "--json", "--fast"))["simple"] == []
    assert (result["metric"], result["threshold"]) == ("accuracy", None)
    assert result["metric_reason"] == "The metric is accuracy, because there are 3 classes."
    test = result["evaluation"]["test"]
    assert [row["class"] for row in test["per_class"]] == [0, 1, 2]
    assert sum(map(sum, test["confusion"])) == test["nodes"]


@pytest.mark.usefixtures("brief")
def test_fit_by_another_metric(run):
    result = answer(run("fit", CSBM, "--json", "--metric", "macro_f1"))
    assert (result["metric"], result["metric_reason"]) == (
        "macro_f1",
        "The metric is macro F1, as asked for.",
    )


def test_from_tables_to_predictions_of_new_nodes(run, tmp_path):
    data = tables(tmp_path / "then")
    result = answer(run("fit", data, "--out", tmp_path / "model", "--json"))
    assert result["test_accuracy"] > 0.8  # chance would give 1/3
    found = pd.read_csv(tmp_path / "model" / "predictions.csv")
    assert found["id"].tolist() == [f"n-{index}" for index in range(KNOWN)]
    assert set(found["prediction"]) == set(NAMES)
    assert {"p_ant", "p_bee", "p_cat"} <= set(found.columns)
    unlabelled = np.arange(KNOWN) % 10 == 3
    assert np.mean(found["prediction"][unlabelled] == NAMES[SBM.y[:KNOWN]][unlabelled]) > 0.8

    order = np.random.default_rng(1).permutation(SBM.num_nodes)
    grown = tables(tmp_path / "now", nodes=SBM.num_nodes, order=order)
    result = answer(
        run(
            "predict",
            tmp_path / "model",
            grown,
            "--nodes",
            "all",
            "--out",
            tmp_path / "now.csv",
            "--json",
        )
    )
    assert (result["nodes"], result["new_nodes"]) == (180, 30)
    now = pd.read_csv(tmp_path / "now.csv")
    assert now["id"].tolist() == [f"n-{index}" for index in order]
    new = order >= KNOWN
    assert np.mean(now["prediction"][new] == NAMES[SBM.y[order]][new]) > 0.8


@pytest.mark.usefixtures("brief")
def test_tables_without_features_and_with_gaps_are_fitted(run, tmp_path):
    data = tables(tmp_path)
    nodes = pd.read_csv(tmp_path / "nodes.csv")
    nodes[["id", "label"]].to_csv(tmp_path / "nodes.csv", index=False)
    status, _, err = run("fit", data)
    assert status == 0
    assert "has no column for the features: edges, and labels of other nodes, decide alone" in err
    nodes.assign(x1=[np.nan, np.inf, *nodes["x1"][2:]]).to_csv(tmp_path / "nodes.csv", index=False)
    assert run("fit", data)[0] == 0


def test_number_of_the_fixed_split(run, tmp_path):
    graph = contextual_sbm(num_nodes=60, num_classes=2, homophily=0.2)
    replace(graph, fixed_splits=(split(graph), split(graph, seed=1))).to_npz(tmp_path / "g.npz")
    wrong = run("fit", tmp_path / "g.npz", "--split", "fixed", "--seed", "2")
    refused(wrong, "has 2 fixed split(s), so there is no number 2: give a seed from 0 to 1")


@pytest.mark.usefixtures("brief")
def test_resume_with_something_else(run, tmp_path):
    first = answer(run("fit", CSBM, "--out", tmp_path, "--json"))
    again = ("--out", tmp_path, "--resume", "--json")
    assert answer(run("fit", CSBM, *again)) == first
    refused(run("fit", CSBM, *again, "--seed", 1), "holds a finished fit of other data")
    refused(run("fit", f"{CSBM},seed=1", *again), "holds a finished fit of other data")


def test_fit_cora(data_dir, run, tmp_path):
    status, out, err = run("fit", "cora", "--json", "--out", tmp_path)
    assert err.startswith("otherhalf: About ")  # it is announced, and nothing else is said
    result = answer((status, out, "".join(err.splitlines(keepends=True)[1:])))
    # The paper's GOAL reaches 88.75; a plain MLP stays at about 75.
    assert 0.84 < result["test_accuracy"] < 0.95
    assert result["missing_half"] == "heterophily"
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 2708 + 1


@pytest.mark.usefixtures("brief")
def test_text(run, tmp_path):
    status, out, err = run("fit", CSBM, "--out", tmp_path)
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    assert f"{tmp_path} has the model, result.json, predictions.csv, report.json and half.csv (" in text
    result = json.loads((tmp_path / "result.json").read_text())
    assert read_content(tmp_path)["made"]["run"] == result["run"]
    assert out.startswith("Test accuracy is ")
    assert "(95 % interval " in out
    assert "The metric is accuracy, because there are 3 classes." in text
    assert "on 24 test nodes" in out
    assert out.endswith(
        f"Next:\n  otherhalf report {tmp_path} --open\n"
        f"  otherhalf predict {tmp_path} {CSBM} --out predictions.csv\n"
    )
    assert run("fit", CSBM, "--out", tmp_path, "--resume")[:2] == (0, out)


@pytest.mark.usefixtures("brief")
def test_a_fit_that_was_not_kept_can_be_kept_next(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = tables(tmp_path / "my data").replace(f"{tmp_path}/", "")
    status, out, _ = run("fit", data, "--seed", 3, "--no-simple")
    assert status == 0
    assert "(95 % interval " in out
    assert out.endswith(f"Next:\n  otherhalf fit '{data}' --seed 3 --no-simple --out model\n")
    words = shlex.split(out.splitlines()[-1])
    assert run(*words[1:])[0] == 0
    predict = shlex.split(run("fit", data, "--out", "model", "--directed")[1].splitlines()[-1])
    assert run(*predict[1:])[0] == 0
    assert (tmp_path / "predictions.csv").is_file()


@pytest.mark.usefixtures("brief")
def test_a_damaged_result_is_not_shown(run, tmp_path):
    answer(run("fit", CSBM, "--out", tmp_path, "--json"))
    result = json.loads((tmp_path / "result.json").read_text())
    for change in ({"leaderboard": "none"}, {"ks": None}, {"evaluation": {}}, {"seconds": []}):
        (tmp_path / "result.json").write_text(json.dumps({**result, **change}))
        refused(run("fit", CSBM, "--out", tmp_path, "--resume"), "result.json is damaged")
