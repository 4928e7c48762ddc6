"""The command line: one JSON object or one sentence, and the status that says which."""

import importlib
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.estimate import Estimate
from otherhalf.estimators.presets import preset_settings
from otherhalf.graph import Graph
from otherhalf.report.stored import read_content
from otherhalf.system.version import VERSION
from otherhalf.training.loop import TrainingSettings

CSBM = "csbm:nodes=120,classes=3,features=6,homophily=0.1,signal=3"
SBM = contextual_sbm(num_nodes=180, num_classes=3, num_features=6, homophily=0.1, signal=5.0, seed=7)
KNOWN = 150
NAMES = np.array(["ant", "bee", "cat"])


@pytest.fixture
def brief(monkeypatch):
    """Train for a few epochs only, where what is learned does not matter."""

    def few_epochs(preset, name, **options):
        settings = preset_settings(preset, name, **options)
        few = TrainingSettings(epochs=4)
        encoder = replace(settings.complement.encoder, training=few)
        head = replace(settings.complement.head, training=few)
        return replace(
            settings,
            complement=replace(settings.complement, encoder=encoder, head=head),
            goal=replace(settings.goal, training=few),
            kernel=replace(settings.kernel, nodes=60, steps=2),
            ensemble=replace(settings.ensemble, folds=1, plain=1, candidates=("GCN",)),
        )

    for module in ("otherhalf.estimators.goal", "otherhalf.estimators.find"):
        monkeypatch.setattr(importlib.import_module(module), "preset_settings", few_epochs)


def answer(outcome):
    """The one JSON object, which has to be all of standard output."""
    status, out, err = outcome
    assert status == 0, err
    assert err == ""
    assert out.count("\n") == 1
    result = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert isinstance(result, dict)
    return result


def refused(outcome, *fragments):
    """The one sentence, which has to be all that is printed."""
    status, out, err = outcome
    assert status == 2, err
    assert out == ""
    assert err.startswith("otherhalf: ")
    assert err.count("\n") == 1
    for fragment in fragments:
        assert fragment in err


def tables(folder, graph=SBM, nodes=KNOWN, order=None):
    """The first nodes of a graph as two tables with text for ids and classes; some labels are left out."""
    folder.mkdir(exist_ok=True)
    ids = np.array([f"n-{index}" for index in range(graph.num_nodes)])
    frame = pd.DataFrame(graph.x, columns=[f"x{c}" for c in range(graph.num_features)])
    frame.insert(0, "id", ids)
    frame["label"] = NAMES[graph.y]
    frame.loc[frame.index % 10 == 3, "label"] = ""
    frame = frame[:nodes]
    edges = graph.edges[:, (graph.edges < nodes).all(axis=0)]
    (frame if order is None else frame.iloc[order]).to_csv(folder / "nodes.csv", index=False)
    pd.DataFrame(ids[edges.T], columns=["source", "target"]).to_csv(folder / "edges.csv", index=False)
    return f"{folder}/nodes.csv,{folder}/edges.csv"


class TestJson:
    def test_diagnose(self, run):
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

    def test_diagnose_on_another_split(self, run):
        audit = answer(run("diagnose", CSBM, "--json", "--split", "quota", "--seed", 3))["duplicates"]
        assert (audit["split"], audit["seed"]) == ("quota", 3)

    def test_diagnose_without_labels(self, run, tmp_path):
        graph = replace(SBM, y=np.full(SBM.num_nodes, -1))
        graph.to_npz(tmp_path / "plain.npz")
        audit = answer(run("diagnose", tmp_path / "plain.npz", "--json"))["duplicates"]
        assert audit["split"] is None
        assert audit["kinds"]["features"] == {"groups": 0, "nodes": 0}
        refused(run("diagnose", tmp_path / "plain.npz", "--split", "uniform"), "a split needs some")

    @pytest.mark.usefixtures("brief")
    def test_complement(self, run, tmp_path):
        result = answer(run("complement", CSBM, "--json", "--out", tmp_path / "new" / "half.npz"))
        keys = "kind edges k homophily train_homophily test_homophily seconds"
        assert set(keys.split()) <= set(result)
        with np.load(tmp_path / "new" / "half.npz") as half:
            assert half["edge_index"].shape == (2, result["edges"])
            assert str(half["kind"]) == result["kind"]

    @pytest.mark.usefixtures("brief")
    @pytest.mark.parametrize("seconds", [20, 250, 700])
    def test_a_long_fit_is_announced(self, run, monkeypatch, seconds):
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
    @pytest.mark.parametrize("name", ["half.csv", "half.parquet", "half.graphml"])
    def test_complement_with_ids(self, run, tmp_path, name):
        result = answer(run("complement", CSBM, "--json", "--out", tmp_path / name))
        status, out, err = run("complement", CSBM, "--out", tmp_path / name)
        assert (status, err) == (0, "")
        assert f"{result['rows']:,} rows written to {tmp_path / name}." in out
        assert result["rows"] >= result["edges"] > 0

    @pytest.mark.usefixtures("brief")
    def test_fit(self, run):
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
    def test_fit_has_simple_models_beside_it(self, run):
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
    def test_fit_by_another_metric(self, run):
        result = answer(run("fit", CSBM, "--json", "--metric", "macro_f1"))
        assert (result["metric"], result["metric_reason"]) == (
            "macro_f1",
            "The metric is macro F1, as asked for.",
        )

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
    def test_diagnose(self, run):
        status, out, err = run("diagnose", CSBM)
        assert (status, err) == (0, "")
        assert "120 nodes, 600 undirected edges, 6 features and 3 classes" in out
        assert "By default fit follows the labels: the homophilic half is missing." in out
        assert out.count("\n") == 4  # nothing to warn of

    def test_diagnose_warns_where_identical_nodes_give_the_labels_away(self, run, tmp_path):
        hub = np.arange(60) % 2  # two hubs, and leaves that have the class of theirs
        x = np.random.default_rng(0).normal(size=(62, 3))
        Graph(edges=[hub, np.arange(2, 62)], x=x, y=[0, 1, *hub]).to_npz(tmp_path / "leaves.npz")
        status, out, err = run("diagnose", tmp_path / "leaves.npz")
        assert (status, err) == (0, "")
        warning = out.splitlines()[-1]
        assert warning.startswith("60 of 62 nodes have the same neighbours as another node; ")
        assert "(uniform split, seed 0) can be answered" in warning

    @pytest.mark.usefixtures("brief")
    def test_complement_and_fit(self, run, tmp_path):
        status, out, err = run("complement", CSBM)
        assert (status, err) == (0, "")
        assert "give --out half.csv to keep it" in out
        status, out, err = run("fit", CSBM, "--out", tmp_path)
        assert (status, err) == (0, "")
        assert f"{tmp_path} has the model, result.json, predictions.csv, report.json and half.csv (" in out
        result = json.loads((tmp_path / "result.json").read_text())
        assert read_content(tmp_path)["made"]["run"] == result["run"]
        assert "The metric is accuracy, because there are 3 classes.\n" in out
        assert "On 24 test nodes:\n" in out
        assert "majority class" in out
        assert "true \\ predicted" in out

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
    def test_from_tables_to_predictions_of_new_nodes(self, run, tmp_path):
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
    def test_tables_without_features_and_with_gaps_are_fitted(self, run, tmp_path):
        data = tables(tmp_path)
        nodes = pd.read_csv(tmp_path / "nodes.csv")
        nodes[["id", "label"]].to_csv(tmp_path / "nodes.csv", index=False)
        status, _, err = run("fit", data)
        assert status == 0
        assert "has no column for the features: edges, and labels of other nodes, decide alone" in err
        nodes.assign(x1=[np.nan, np.inf, *nodes["x1"][2:]]).to_csv(tmp_path / "nodes.csv", index=False)
        assert run("fit", data)[0] == 0

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
        ids=str,
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

    def test_number_of_the_fixed_split(self, run, tmp_path):
        graph = contextual_sbm(num_nodes=60, num_classes=2, homophily=0.2)
        from otherhalf import split

        replace(graph, fixed_splits=(split(graph), split(graph, seed=1))).to_npz(tmp_path / "g.npz")
        wrong = run("fit", tmp_path / "g.npz", "--split", "fixed", "--seed", "2")
        refused(wrong, "has 2 fixed split(s), so there is no number 2: give a seed from 0 to 1")

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

    @pytest.mark.usefixtures("brief")
    def test_resume_with_something_else(self, run, tmp_path):
        first = answer(run("fit", CSBM, "--out", tmp_path, "--json"))
        again = ("--out", tmp_path, "--resume", "--json")
        assert answer(run("fit", CSBM, *again)) == first
        refused(run("fit", CSBM, *again, "--seed", 1), "holds a finished fit of other data")
        refused(run("fit", f"{CSBM},seed=1", *again), "holds a finished fit of other data")

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


class TestRealData:
    @pytest.mark.parametrize("name", PAPER)
    def test_the_verdicts_of_the_paper(self, data_dir, run, name):
        result = answer(run("diagnose", name, "--json"))
        assert result["name"] == name
        assert result["tendency"] == PAPER[name]

    def test_fit_cora(self, data_dir, run, tmp_path):
        status, out, err = run("fit", "cora", "--json", "--out", tmp_path)
        assert err.startswith("otherhalf: About ")  # it is announced, and nothing else is said
        result = answer((status, out, "".join(err.splitlines(keepends=True)[1:])))
        # The paper's GOAL reaches 88.75; a plain MLP stays at about 75.
        assert 0.84 < result["test_accuracy"] < 0.95
        assert result["missing_half"] == "heterophily"
        assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 2708 + 1


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
