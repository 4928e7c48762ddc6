"""The command line: one JSON object or one sentence, and the status that says which."""

import json
import os

import numpy as np
import pandas as pd
import pytest
import torch
from tests.cli.calls import CSBM, KNOWN, answer, refused, tables

from otherhalf.system.version import VERSION


class TestJson:
    @pytest.mark.usefixtures("brief")
    def test_complement(self, run, tmp_path):
        result = answer(run("complement", CSBM, "--json", "--out", tmp_path / "new" / "half.npz"))
        keys = "kind edges k homophily train_homophily test_homophily seconds"
        assert set(keys.split()) <= set(result)
        with np.load(tmp_path / "new" / "half.npz") as half:
            assert half["edge_index"].shape == (2, result["edges"])
            assert str(half["kind"]) == result["kind"]

    @pytest.mark.usefixtures("brief")
    @pytest.mark.parametrize("name", ["half.csv", "half.parquet", "half.graphml"])
    def test_complement_with_ids(self, run, tmp_path, name):
        result = answer(run("complement", CSBM, "--json", "--out", tmp_path / name))
        status, out, err = run("complement", CSBM, "--out", tmp_path / name)
        assert (status, err) == (0, "")
        assert f"{result['rows']:,} rows written to {tmp_path / name}." in " ".join(out.split())
        assert result["rows"] >= result["edges"] > 0

    @pytest.mark.usefixtures("brief")
    def test_predict(self, run, tmp_path):
        answer(run("fit", CSBM, "--json", "--out", tmp_path / "model"))
        result = answer(run("predict", tmp_path / "model", CSBM, "--out", tmp_path / "p.csv", "--json"))
        assert (result["nodes"], result["new_nodes"]) == (120, 0)
        now, then = (
            pd.read_csv(path) for path in (tmp_path / "p.csv", tmp_path / "model" / "predictions.csv")
        )
        assert set(then["part"]) == {"train", "val", "test"}  # which only the fit knows
        assert now.equals(then.drop(columns="part"))

    def test_threads(self, run):
        before = torch.get_num_threads()
        try:
            answer(run("diagnose", CSBM, "--json", "--threads", before + 1))
            assert torch.get_num_threads() == before + 1
        finally:
            torch.set_num_threads(before)


class TestText:
    @pytest.mark.usefixtures("brief")
    def test_complement(self, run):
        result = answer(run("complement", CSBM, "--seed", 3, "--json"))
        status, out, err = run("complement", CSBM, "--seed", 3)
        assert (status, err) == (0, "")
        assert "give --out half.csv to keep it" in out
        text = " ".join(out.split())
        assert text.startswith(
            f"The missing homophilic half has {result['edges']:,} edges: each node is joined"
        )
        for name, key in (("all", "homophily"), ("training", "train_homophily"), ("test", "test_homophily")):
            assert f" {name} {result[key]:.1%} █" in text
        assert out.splitlines()[-2:] == ["Next:", f"  otherhalf fit {CSBM} --seed 3 --out model"]

    def test_version(self, run):
        assert run("--version") == (0, f"otherhalf {VERSION}\n", "")

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_completion(self, run, shell, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
        status, out, _ = run("--install-completion", shell)
        assert status == 0
        assert "completion installed" in out
        assert any(path.is_file() for path in tmp_path.rglob("*otherhalf*"))
        monkeypatch.setenv("_OTHERHALF_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "otherhalf diag")
        monkeypatch.setenv("COMP_CWORD", "1")
        assert run()[:2] == (0, "diagnose\n")

    def test_no_command_shows_the_help(self, run):
        status, out, err = run()
        assert status == 2
        assert "Usage: otherhalf" in out + err
        assert "Traceback" not in err


class TestOwnTables:
    @pytest.mark.usefixtures("brief")
    def test_predict_reads_columns_of_every_kind_as_the_fit_did(self, run, tmp_path):
        """No column needs to be named again; other gaps, values and orders of columns are no hindrance."""
        data, rng = tables(tmp_path), np.random.default_rng(0)
        nodes = pd.read_csv(tmp_path / "nodes.csv").rename(columns={"id": "paper", "label": "field"})
        nodes["city"] = rng.choice(["Bonn", "Rome", "Oslo"], KNOWN)
        nodes["born"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, KNOWN), "D")
        nodes["tags"] = rng.choice(["red|blue", "red", "blue|green"], KNOWN)
        nodes["x1"] = nodes["x1"].astype(object)
        nodes.loc[[4, 5], "x1"] = ["hello", None]
        nodes.to_csv(tmp_path / "nodes.csv", index=False)
        status, _, err = run("fit", data, "--id", "paper", "--label", "field", "--out", tmp_path / "model")
        assert status == 0, err
        assert "column 'x1': 1 cell is no number and counts as a gap: 'hello'" in err
        fitted = pd.read_csv(tmp_path / "model" / "predictions.csv")
        assert fitted.columns[0] == "paper"

        predict, out = ("predict", tmp_path / "model", data, "--nodes", "all"), tmp_path / "p.csv"
        nodes[nodes.columns[::-1]].drop(columns="field").to_csv(tmp_path / "nodes.csv", index=False)
        status, _, err = run(*predict, "--out", out, "--json")
        assert (status, err.count("\n")) == (0, 1)
        assert "column 'x1': 1 cell is no number and counts as a gap: 'hello'" in err
        again = pd.read_csv(out)
        assert again["paper"].tolist() == fitted["paper"].tolist()
        assert again["confidence"].tolist() == fitted["confidence"].tolist()

        changed = nodes.assign(city="Lima", born=None, x2=None)
        changed.to_csv(tmp_path / "nodes.csv", index=False)
        status, _, err = run(*predict, "--out", out, "--json")
        assert status == 0
        assert f"column 'city': {KNOWN} cells are new and count as no value" in err
        assert f"columns 'x2', 'born': there are {KNOWN} gaps, and the fit had none" in err
        nodes.drop(columns="city").to_csv(tmp_path / "nodes.csv", index=False)
        refused(
            run(*predict, "--out", out), "the table has no column 'city', which the model was fitted with"
        )
        nodes.to_csv(tmp_path / "nodes.csv", index=False)
        refused(run(*predict, "--out", out, "--exclude", "city"), "exclude cannot be said anew")

    @pytest.mark.usefixtures("brief")
    def test_predict_refuses_graphs_that_are_not_the_fitted_one_grown(self, run, tmp_path):
        answer(run("fit", tables(tmp_path), "--out", tmp_path / "model", "--json"))
        predict = ("predict", tmp_path / "model")
        out = ("--out", tmp_path / "p.csv")
        nodes, edges = pd.read_csv(tmp_path / "nodes.csv"), tmp_path / "edges.csv"
        more = nodes.assign(x9=1.0)
        more.to_csv(tmp_path / "more.csv", index=False)
        new = "the table has the column 'x9', which the model was not fitted with"
        refused(run(*predict, f"{tmp_path}/more.csv,{edges}", *out), new)
        small = tables(tmp_path / "small", nodes=100)
        refused(run(*predict, small, *out), "the graph has 100 nodes and the model was fitted on 150")
        (tmp_path / "e.csv").write_text("source,target\nn-1,n-2\n")
        nodes.replace({"id": {"n-0": "new"}}).to_csv(tmp_path / "lost.csv", index=False)
        refused(run(*predict, f"{tmp_path}/lost.csv,{tmp_path}/e.csv", *out), "lacks 1 of the 150", "'n-0'")
        assert not (tmp_path / "p.csv").exists()

    def test_predict_refuses_folders_without_a_model(self, run, tmp_path):
        out = ("--out", tmp_path / "p.csv")
        refused(run("predict", tmp_path, CSBM, *out), f"{tmp_path} holds no model.json")
        refused(run("predict", tmp_path / "model.pkl", CSBM, *out), "is a pickle")


class TestWrongInput:
    @pytest.mark.parametrize(
        ("arguments", "fragment"),
        [
            (("fit", "coraa"), "there is no data set called 'coraa': did you mean cora"),
            (("fit", "gone.npz"), "gone.npz does not exist"),
            (("fit", "gone.csv,edges.csv"), "gone.csv does not exist"),
            (("fit", "nodes.csv"), "a graph needs two"),
            (("fit", CSBM, "--label", "x"), "columns can be named for tables only"),
            (("fit", "csbm:nodes=x"), "'nodes=x' in 'csbm:nodes=x' is not a whole number"),
            (("fit", CSBM, "--split", "random"), "there is no split 'random'"),
            (("fit", CSBM, "--split", "fixed"), "comes without fixed splits"),
            (("fit", CSBM, "--preset", "worst"), "preset must be one of best, paper, not 'worst'"),
            (
                ("fit", CSBM, "--follow", "me"),
                "follow must be one of ks, labels, homophily, heterophily, not 'me'",
            ),
            (("fit", CSBM, "--device", "tpu"), "the device 'tpu' cannot be used here"),
            (
                ("fit", CSBM, "--class-weight", "even"),
                "class_weight must be None, 'balanced' or a dictionary",
            ),
            (("fit", CSBM, "--class-weight", "9=2"), "names the class '9', which no node has"),
            (("fit", CSBM, "--metric", "f1"), "metric must be one of accuracy, roc_auc, "),
            (("fit", CSBM, "--metric", "top_3"), "top-3 accuracy needs at least 4 classes"),
            (("complement", CSBM, "--device", "tpu"), "the device 'tpu' cannot be used here"),
            (
                ("complement", CSBM, "--follow", "me"),
                "follow must be one of ks, labels, homophily, heterophily, not 'me'",
            ),
            (("complement", CSBM, "--preset", "worst"), "preset must be one of best, paper, not 'worst'"),
            (("diagnose", CSBM, "--device", "tpu"), "the device 'tpu' cannot be used here"),
            (("fit", CSBM, "--resume"), "--resume continues a fit in a folder: give the folder with --out"),
            (
                ("complement", CSBM, "--out", "half.txt"),
                "half.txt does not say by its ending what to write: use .csv",
            ),
            (("complement", CSBM, "--out", "."), "does not say by its ending what to write"),
            # What typer itself finds wrong.
            (("fti", CSBM), "no such command 'fti'"),
            (("fit",), "missing argument 'DATA'"),
            (("fit", CSBM, "--sede", "1"), "no such option: --sede"),
            (("fit", CSBM, "--seed", "-1"), "invalid value for '--seed'"),
            (("fit", CSBM, "--seed", "one"), "invalid value for '--seed'"),
            (("fit", CSBM, "--threads", "0"), "invalid value for '--threads'"),
            (("diagnose", "nodes.csv", "edges.csv"), "extra argument"),
            (("predict", "model", CSBM), "missing option '--out'"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
    )
    def test_one_sentence(self, run, arguments, fragment, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        refused(run(*arguments), fragment)
        refused(run(*arguments, "--json"), fragment)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("change", "options", "fragments"),
        [
            (lambda n, e: n.assign(id=n.id.replace("n-4", "n-5")), (), ("'n-5'", "more than once")),
            (lambda n, e: n.assign(label="ant"), (), ("has the class 'ant'", "at least two classes")),
            (lambda n, e: n.assign(label=""), (), ("no node has a label",)),
            (lambda n, e: n.drop(columns="label"), (), ("no node has a label", "name the label column")),
            (lambda n, e: n[:0], (), ("has column names but no rows",)),
            (lambda n, e: n, ("--label", "kind"), ("no column 'kind' for the label", "x0, x1")),
            (lambda n, e: n, ("--id", "name"), ("no column 'name' for the node id",)),
            (lambda n, e: n, ("--features", "x0,x77"), ("no column 'x77' for the features",)),
            (lambda n, e: n, ("--source", "from"), ("no column 'from' for the source",)),
            (lambda n, e: n, ("--target", "source", "--source", "source"), ("both ends of an edge",)),
        ],
        ids=lambda value: (
            "" if callable(value) else str(value)
        ),  # a function's address differs from run to run
    )
    def test_tables(self, run, tmp_path, change, options, fragments):
        data = tables(tmp_path)
        nodes, edges = (pd.read_csv(tmp_path / name) for name in ("nodes.csv", "edges.csv"))
        change(nodes, edges).to_csv(tmp_path / "nodes.csv", index=False)
        refused(run("fit", data, *options, "--json"), *fragments)

    def test_edges_to_ids_that_no_node_has_are_dropped_with_a_note(self, run, tmp_path):
        data = tables(tmp_path)
        nodes = pd.read_csv(tmp_path / "nodes.csv")
        nodes[nodes.id != "n-4"].to_csv(tmp_path / "nodes.csv", index=False)
        status, out, err = run("diagnose", data, "--json")
        assert (status, json.loads(out)["nodes"]) == (0, KNOWN - 1)
        assert "'n-4'" in err
        assert "is not among the node ids" in err

    def test_empty_files(self, run, tmp_path):
        (tmp_path / "nodes.csv").write_text("")
        (tmp_path / "edges.csv").write_text("")
        refused(run("diagnose", f"{tmp_path}/nodes.csv,{tmp_path}/edges.csv"), "nodes.csv is empty")

    @pytest.mark.usefixtures("brief")
    def test_places_that_cannot_be_written(self, run, tmp_path):
        file = tmp_path / "file"
        file.write_text("precious")
        refused(run("fit", CSBM, "--out", file), "file is no folder that can be written to")
        refused(run("complement", CSBM, "--out", file / "half.npz"), "file is no folder that can be written")
        answer(run("fit", CSBM, "--out", tmp_path / "model", "--json"))
        refused(run("predict", tmp_path / "model", CSBM, "--out", file / "p.csv"), "file is no folder")
        refused(run("predict", tmp_path / "model", CSBM, "--out", tmp_path / "p.xlsx"), "neither CSV nor")
        assert file.read_text() == "precious"

    def test_a_damaged_model(self, run, tmp_path, brief):
        answer(run("fit", CSBM, "--out", tmp_path, "--json"))
        (weights,) = tmp_path.glob("*.safetensors")
        weights.write_bytes(weights.read_bytes()[:100])
        refused(run("predict", tmp_path, CSBM, "--out", tmp_path / "p.csv"), weights.name, "cut short")


class TestAnythingElse:
    @pytest.mark.usefixtures("brief")
    def test_a_warning_is_one_line_on_standard_error(self, run, tmp_path):
        answer(run("fit", CSBM, "--out", tmp_path, "--json"))
        other = f"{CSBM},seed=1"
        status, out, err = run("predict", tmp_path, other, "--out", tmp_path / "p.csv", "--json")
        assert status == 0
        assert json.loads(out)["nodes"] == 120
        assert err.startswith(
            "otherhalf: note: the graph has as many nodes as the fitted one but other edges"
        )
        assert err.count("\n") == 1

    @pytest.mark.parametrize(
        ("out", "sentence"),
        [
            ("predictions.txt", "is neither CSV nor Parquet by its ending"),
            (".", "ending"),
            ("", "empty path"),
        ],
    )
    def test_where_predictions_go_is_checked_before_the_computation(self, run, monkeypatch, out, sentence):
        monkeypatch.setattr(
            "otherhalf.estimators.goal.GOALClassifier.load", lambda path: pytest.fail("too late")
        )
        status, _, err = run("predict", "model", CSBM, "--out", out)
        assert status == 2
        assert sentence in err
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fit", "csbm", "--out", ""], "an empty path names nothing"),
        (["fit", "csbm", "--out", "~nouser/run"], "there is no home folder ~nouser"),
        (["predict", "", "csbm", "--out", "p.csv"], "an empty path names nothing"),
        (["compare", "csbm", "--store", ""], "an empty path names nothing"),
        (["fit", "csbm", "--seed", str(2**64)], "less than or equal to 18446744073709551615"),
        (["fit", "csbm", "--seed", "-1"], "greater than or equal to 0"),
        (["fit", "csbm", "--seed", "9" * 5000], "as an integer"),
        (["fit", "csbm", "--threads", str(2**31)], "less than or equal to 1024"),
        (["compare", "csbm", "--threads", str(2**31)], "less than or equal to 1024"),
    ],
)
def test_values_that_no_option_can_have(run, words, sentence):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="a folder in use cannot be removed")
def test_a_present_folder_that_was_removed(run, tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    status, out, err = run("fit", "csbm:nodes=30", "--out", str(tmp_path / "run"))
    assert (status, out) == (2, "")
    assert err == "otherhalf: the present folder was removed: change to another one, as with `cd ~`\n"
