"""Fits kept in a folder: what they write, and that a killed one ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from otherhalf import GOALClassifier, Graph, InputError, Split, load, split
from otherhalf.data.reading import Columns, Reading
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.run_folder import fit_into
from otherhalf.training import loop
from otherhalf.training.metrics import all_metrics

SBM = contextual_sbm(num_nodes=150, num_classes=3, num_features=6, homophily=0.1, signal=2.0, seed=4)
GRAPH = Graph(edges=SBM.edges, x=SBM.x, y=SBM.y, ids=[f"n{i}" for i in range(150)], name="small")
SPLIT = split(GRAPH)
FILES = {"half.csv", "model.json", "predictions.csv", "result.json"}


def quick(**options):
    return GOALClassifier(**{"encoder": "mlp", "epochs": 20, "patience": 20, "hidden": 8, **options})


def weights(folder):
    (path,) = folder.glob("weights-*.safetensors")
    return path.name, path.read_bytes()


def same_outcome(one, two):
    assert weights(one) == weights(two)
    for name in ("predictions.csv", "half.csv"):
        assert (one / name).read_bytes() == (two / name).read_bytes()
    results = [json.loads((folder / "result.json").read_text()) for folder in (one, two)]
    for result in results:
        for row in result["leaderboard"]:
            del row["seconds"]
        for of_this_run in ("seconds", "peak_memory_mb", "out"):
            del result[of_this_run]
        result.pop("report", None)  # only the command line writes one
    assert results[0] == results[1]


def contents(folder):
    """The files of a folder, without those of a fit that runs."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


class Killed(BaseException):
    """Stands for a kill: nothing may catch it."""


def killer(at_stage, at_step):
    def on_step(stage, done, most):
        if (stage, done) == (at_stage, at_step):
            raise Killed

    return on_step


def killed_fit(model, folder, *place, resume=False):
    """A fit that keeps its state at every step, and is killed after a certain one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        with pytest.raises(Killed):
            fit_into(model, GRAPH, SPLIT, folder, resume=resume, on_step=killer(*place))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return folder, fit_into(quick(), GRAPH, SPLIT, folder)


def test_what_a_finished_fit_could_not_remove_is_removed_by_the_next(tmp_path):
    result = fit_into(quick(epochs=2), GRAPH, SPLIT, tmp_path)
    left = tmp_path / "checkpoints" / f"run-{result['run'][:16]}" / "outcome"
    left.mkdir(parents=True)  # killed while it removed its state
    fit_into(quick(epochs=2), GRAPH, SPLIT, tmp_path, resume=True)
    assert not (tmp_path / "checkpoints").exists()

    other = tmp_path / "checkpoints" / "run-0123456789abcdef"
    other.mkdir(parents=True)  # of another fit, which was stopped
    left.mkdir(parents=True)
    fit_into(quick(epochs=2), GRAPH, SPLIT, tmp_path, resume=True)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == [other.name]


def test_test_nodes_without_a_label_are_left_out_of_the_score():
    """They counted as wrong."""
    hidden = SPLIT.test[:10]
    y = np.where(np.isin(np.arange(150), hidden), -1, GRAPH.y)
    graph = Graph(edges=GRAPH.edges, x=GRAPH.x, y=y, classes=GRAPH.classes, ids=GRAPH.ids)
    model = quick(epochs=5)
    result = fit_into(model, graph, SPLIT, None)
    right = model.predict(graph)[SPLIT.test[10:]] == GRAPH.y[SPLIT.test[10:]]
    assert result["test_accuracy"] == pytest.approx(right.mean())
    assert 0 < result["test_accuracy"] < 1 or right.all()


def test_wrong_input_is_noticed_before_the_old_result_is_removed(tmp_path):
    before = fit_into(quick(epochs=1), GRAPH, SPLIT, tmp_path)
    for wrong in ({"metric": "f1"}, {"norm": "group"}, {"device": "tpu"}):
        with pytest.raises(InputError):
            fit_into(quick(**wrong), GRAPH, SPLIT, tmp_path)
    sparse = Graph(edges=GRAPH.edges, x=sp.csr_matrix(GRAPH.x), y=GRAPH.y, ids=GRAPH.ids)
    with pytest.raises(InputError, match="would make the sparse features dense"):
        fit_into(quick(scaling="standard"), sparse, SPLIT, tmp_path)
    assert json.loads((tmp_path / "result.json").read_text()) == before


class TestFinished:
    def test_what_it_writes(self, finished):
        folder, result = finished
        assert {path.name for path in folder.iterdir()} == FILES | {weights(folder)[0]}
        assert json.loads((folder / "result.json").read_text()) == result
        model = GOALClassifier.load(folder)
        assert result["test_accuracy"] == pytest.approx(model.score(GRAPH, SPLIT.test))
        assert result["val_accuracy"] == pytest.approx(model.score(GRAPH, SPLIT.val))
        rows = (folder / "predictions.csv").read_text().splitlines()
        assert [row.split(",")[:2] for row in rows[1:]] == [
            [str(name), str(label)] for name, label in zip(GRAPH.ids, model.predict(GRAPH), strict=True)
        ]
        assert result["epochs"] == len(model.history_["classifier"].losses)
        parts = result["seconds"]
        assert parts["total"] == pytest.approx(
            sum(parts[k] for k in ("diagnose", "complement", "train")), rel=0.1
        )

    def test_the_missing_half_has_the_ids(self, finished):
        folder, result = finished
        half = GOALClassifier.load(folder).missing_half_
        table = pd.read_csv(folder / "half.csv")
        pd.testing.assert_frame_equal(table, half.to_frame(GRAPH), check_dtype=False)
        assert result["half_rows"] == len(table) == half.num_edges

    def test_a_very_large_half_is_not_written_and_an_old_one_removed(self, tmp_path, monkeypatch):
        fit_into(quick(epochs=1), GRAPH, SPLIT, tmp_path)
        assert (tmp_path / "half.csv").exists()
        monkeypatch.setattr("otherhalf.estimators.run_folder.MOST_HALF_ROWS", 10)
        result = fit_into(quick(epochs=1), GRAPH, SPLIT, tmp_path)
        assert result["half_rows"] is None
        assert not (tmp_path / "half.csv").exists()

    def test_a_fit_without_a_half(self, tmp_path):
        result = fit_into(GOALClassifier(fast=True, ensemble={"half": "none"}), GRAPH, SPLIT, tmp_path)
        assert not (tmp_path / "half.csv").exists()
        assert (result["missing_half"], result["half_rows"]) == (None, None)

    def test_without_a_folder_the_result_is_the_same(self, finished):
        alone = fit_into(quick(), GRAPH, SPLIT, None)
        assert set(finished[1]) - set(alone) == {"out", "half_rows", "weights", "run", "threads"}
        for key in ("test_accuracy", "val_accuracy", "coefficients", "fingerprint", "ks"):
            assert alone[key] == finished[1][key]

    def test_resuming_it_returns_at_once(self, finished, monkeypatch):
        monkeypatch.setattr(GOALClassifier, "fit", None)
        before = {path.name: path.read_bytes() for path in finished[0].iterdir()}
        assert fit_into(quick(), GRAPH, SPLIT, finished[0], resume=True) == finished[1]
        assert {path.name: path.read_bytes() for path in finished[0].iterdir()} == before

    def test_no_test_nodes(self):
        everyone = Split(SPLIT.train, SPLIT.val, [])
        result = fit_into(quick(epochs=1), GRAPH, everyone, None)
        assert result["test_accuracy"] is None
        assert all(value is None for value in result["metrics"]["test"].values())

    def test_the_columns_of_the_predictions(self, finished, tmp_path):
        header = (finished[0] / "predictions.csv").read_text().splitlines()[0]
        assert header == "id,prediction,confidence,label,part,p_0,p_1,p_2"
        read = replace(GRAPH, reading=Reading(Columns(id="paper", encode=False), None))
        fit_into(quick(epochs=1), read, SPLIT, tmp_path)
        assert (
            (tmp_path / "predictions.csv").read_text().startswith("paper,prediction,confidence,label,part,")
        )

    def test_no_id_is_a_formula(self, tmp_path):
        ids = [f"=n{i}" for i in range(150)]
        fit_into(quick(epochs=1), replace(GRAPH, ids=ids), SPLIT, tmp_path, spreadsheet_safe=True)
        assert pd.read_csv(tmp_path / "predictions.csv")["id"].tolist() == [f"'{name}" for name in ids]
        half = pd.read_csv(tmp_path / "half.csv")
        assert half["source"].str.startswith("'=n").all()
        assert half["target"].str.startswith("'=n").all()

    def test_every_metric_beside_the_majority(self, finished):
        result, probabilities = finished[1], GOALClassifier.load(finished[0]).predict_proba(GRAPH)
        train = np.bincount(GRAPH.y[SPLIT.train])
        for name, part in (("val", SPLIT.val), ("test", SPLIT.test)):
            expected = all_metrics(probabilities[part], GRAPH.y[part], GRAPH.classes)
            assert result["metrics"][name] == pytest.approx(expected)
            assert result["majority"][name]["accuracy"] == np.mean(GRAPH.y[part] == train.argmax())

    def test_a_result_that_cannot_be_shown_is_damaged(self, finished):
        def show(result):
            return result["something new"]

        with pytest.raises(InputError, match=r"result\.json is damaged .*something new"):
            fit_into(quick(), GRAPH, SPLIT, finished[0], resume=True, show=show)

    def test_a_rare_class(self):
        rng = np.random.default_rng(0)
        y = (np.arange(200) % 20 == 0).astype(int)
        x = rng.normal(size=(200, 4)) + y[:, None]
        graph = Graph(edges=rng.integers(0, 200, (2, 400)), x=x, y=y)
        result = fit_into(quick(epochs=5, metric="auto"), graph, split(graph, "stratified"), None)
        assert result["metric"] == "average_precision"
        assert result["majority"]["test"]["average_precision"] == pytest.approx(0.05)
        assert 0 <= result["threshold"] <= 1
        reason = "The metric is average precision, because the rarer of the two classes has only 5.0%"
        assert result["metric_reason"].startswith(reason)

    @pytest.mark.parametrize(
        ("model", "graph", "parts"),
        [
            (quick(seed=1), GRAPH, SPLIT),
            (quick(k=3), GRAPH, SPLIT),
            (quick(follow="labels"), GRAPH, SPLIT),
            (quick(), replace(GRAPH, x=GRAPH.x + 1), SPLIT),
            (quick(), replace(GRAPH, edges=GRAPH.edges[:, 1:]), SPLIT),
            (quick(), replace(GRAPH, y=(GRAPH.y + 1) % 3), SPLIT),
            (quick(), replace(GRAPH, ids=None), SPLIT),
            (quick(), replace(GRAPH, classes=["a", "b", "c"]), SPLIT),
            (quick(), GRAPH, split(GRAPH, seed=1)),
            (quick(), GRAPH, Split(SPLIT.train, SPLIT.val, SPLIT.test[1:], kind="uniform", seed=0)),
        ],
        ids=["seed", "k", "follow", "x", "edges", "y", "ids", "classes", "split", "test nodes"],
    )
    def test_resuming_it_with_anything_else_is_refused(self, finished, model, graph, parts):
        before = {path.name: path.read_bytes() for path in finished[0].iterdir()}
        with pytest.raises(InputError, match="holds a finished fit of other data, settings, seed or version"):
            fit_into(model, graph, parts, finished[0], resume=True)
        assert {path.name: path.read_bytes() for path in finished[0].iterdir()} == before

    def test_resuming_it_with_a_renamed_column_is_refused(self, tmp_path):
        """The features are the same numbers, but predict would look for the old name."""
        first, other = (
            replace(GRAPH, reading=Reading(Columns(id=id, encode=False), None)) for id in ("paper", "article")
        )
        fit_into(quick(epochs=1), first, SPLIT, tmp_path)
        assert fit_into(quick(epochs=1), first, SPLIT, tmp_path, resume=True)["epochs"]
        with pytest.raises(InputError, match="holds a finished fit of other data"):
            fit_into(quick(epochs=1), other, SPLIT, tmp_path, resume=True)

    def test_damaged_result(self, tmp_path):
        (tmp_path / "result.json").write_text('{"run": ')
        with pytest.raises(InputError, match=r"result.json is damaged .* delete it"):
            fit_into(quick(), GRAPH, SPLIT, tmp_path, resume=True)


class TestKilled:
    @pytest.mark.parametrize(
        "kills",
        [
            [("encoder-mlp", 30)],
            [("head", 7)],
            [("search", 150)],
            [("classifier", 11)],
            [("classifier", 20)],
            [("encoder-mlp", 1), ("head", 2), ("classifier", 3), ("classifier", 4)],
        ],
        ids=str,
    )
    def test_it_ends_as_if_nothing_had_happened(self, finished, tmp_path, kills):
        for place in kills:
            killed_fit(quick(), tmp_path, *place, resume=True)
            assert not (tmp_path / "result.json").exists()
        steps = []
        fit_into(quick(), GRAPH, SPLIT, tmp_path, resume=True, on_step=lambda *step: steps.append(step))
        same_outcome(tmp_path, finished[0])
        stage, step = kills[-1]
        if stage != "search":  # the search keeps no state: it is short, and done again
            further = [done for name, done, _ in steps if name == stage]
            assert further[:1] == ([] if kills == [("classifier", 20)] else [step + 1])  # 20: it was over
        assert {path.name for path in tmp_path.iterdir()} == FILES | {weights(tmp_path)[0]}

    def test_killed_while_the_outcome_is_written(self, finished, tmp_path, monkeypatch):
        def kill(*_, **__):
            raise Killed

        monkeypatch.setattr("otherhalf.estimators.run_folder.write_predictions", kill)
        with pytest.raises(Killed):
            fit_into(quick(), GRAPH, SPLIT, tmp_path)
        monkeypatch.undo()
        fit_into(quick(), GRAPH, SPLIT, tmp_path, resume=True)
        same_outcome(tmp_path, finished[0])

    def test_other_data_or_seed_is_refused(self, tmp_path):
        killed_fit(quick(), tmp_path, "encoder-mlp", 3)
        for model, graph in ((quick(seed=1), GRAPH), (quick(), replace(GRAPH, x=GRAPH.x + 1))):
            with pytest.raises(InputError, match="a stopped fit with other data, settings or seed"):
                fit_into(model, graph, SPLIT, tmp_path, resume=True)

    def test_without_resume_it_starts_anew(self, finished, tmp_path):
        killed_fit(quick(seed=1), tmp_path, "head", 3)
        steps = []
        fit_into(quick(), GRAPH, SPLIT, tmp_path, on_step=lambda *step: steps.append(step))
        assert steps[0][:2] == ("encoder-mlp", 1)
        same_outcome(tmp_path, finished[0])

    def test_the_old_fit_stays_whole_until_the_new_one_is(self, finished, tmp_path):
        fit_into(quick(seed=1, epochs=1), GRAPH, SPLIT, tmp_path)
        old = contents(tmp_path)
        killed_fit(quick(), tmp_path, "encoder-mlp", 3)
        assert contents(tmp_path) == old
        killed_fit(quick(), tmp_path, "classifier", 5, resume=True)
        assert contents(tmp_path) == old
        fit_into(quick(), GRAPH, SPLIT, tmp_path, resume=True)
        same_outcome(tmp_path, finished[0])
        assert {path.name for path in tmp_path.iterdir()} == FILES | {weights(tmp_path)[0]}

    def test_what_is_refused_late_leaves_the_old_fit(self, tmp_path, monkeypatch):
        monkeypatch.setattr("otherhalf.estimators.base.check_range", lambda *arguments: None)
        fit_into(quick(epochs=1), GRAPH, SPLIT, tmp_path)
        old = contents(tmp_path)
        huge = replace(GRAPH, x=GRAPH.x * np.float32(3e37))
        with pytest.raises(InputError, match="loss is not finite"):
            fit_into(quick(scaling="none"), huge, SPLIT, tmp_path)
        with pytest.raises(InputError, match="less than 2⁶⁴"):
            fit_into(quick(seed=2**64), GRAPH, SPLIT, tmp_path)
        assert contents(tmp_path) == old

    def test_another_number_of_threads_is_refused(self, tmp_path):
        killed_fit(quick(), tmp_path, "encoder-mlp", 3)
        before = torch.get_num_threads()
        torch.set_num_threads(before + 1)
        try:
            with pytest.raises(InputError, match=f"continue it with --threads {before}, or start without"):
                fit_into(quick(), GRAPH, SPLIT, tmp_path, resume=True)
        finally:
            torch.set_num_threads(before)
        fit_into(quick(), GRAPH, SPLIT, tmp_path, resume=True)
        torch.set_num_threads(before + 1)
        try:
            with pytest.raises(InputError, match=f"result.json is of a fit with {before} thread"):
                fit_into(quick(), GRAPH, SPLIT, tmp_path, resume=True)
        finally:
            torch.set_num_threads(before)


class TestTheUsersFolder:
    def test_what_is_not_ours_stays(self, tmp_path):
        own = tmp_path / "checkpoints" / "my-other-model.safetensors"
        own.parent.mkdir()
        own.write_text("precious")
        fit_into(quick(epochs=1), GRAPH, SPLIT, tmp_path)
        assert own.read_text() == "precious"
        assert [path.name for path in own.parent.iterdir()] == [own.name]

    @pytest.mark.parametrize("wrong", [{"follow": "me"}, {"device": "tpu"}, {"encoder": "cnn"}])
    def test_a_refused_fit_touches_nothing(self, finished, wrong):
        before = {path.name: path.read_bytes() for path in finished[0].iterdir()}
        with pytest.raises(InputError):
            fit_into(quick(**wrong), GRAPH, SPLIT, finished[0])
        assert {path.name: path.read_bytes() for path in finished[0].iterdir()} == before

    def test_a_file_where_the_folder_should_be(self, tmp_path):
        (tmp_path / "file").write_text("precious")
        for place in (tmp_path / "file", tmp_path / "file" / "below"):
            with pytest.raises(InputError, match=r"is no folder that can be written to .* choose another"):
                fit_into(quick(), GRAPH, SPLIT, place, on_step=killer("encoder-mlp", 1))  # not so far
        assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.filterwarnings("ignore:The edges have 2 relations")
def test_a_killed_fit_with_everything_a_table_may_have(tmp_path):
    """Encoded columns, weights, relations and class weights: it ends as if nothing had happened."""
    rng = np.random.default_rng(0)
    ids = GRAPH.ids
    nodes = pd.DataFrame({"id": ids, "label": GRAPH.y, "size": GRAPH.x[:, 0]})
    nodes["colour"] = rng.choice(["red", "green", "blue"], len(nodes))
    ends = {"source": ids[GRAPH.edges[0]], "target": ids[GRAPH.edges[1]]}
    edges = pd.DataFrame(ends | {"weight": rng.exponential(size=GRAPH.num_edges) + 0.1})
    edges["by"] = rng.choice(["cites", "likes"], len(edges))
    graph = Graph.from_frames(nodes, edges, weight="weight", relation="by")
    assert graph.weights is not None
    assert graph.relations.names == ("cites", "likes")
    few = {"plain": 1, "folds": 2, "candidates": ("GCN",)}
    parts, whole, killed = split(graph), tmp_path / "whole", tmp_path / "killed"

    def model():
        return GOALClassifier(ensemble=few, epochs=8, class_weight="balanced")

    fit_into(model(), graph, parts, whole)
    for place in (("member-goal-0", 3), ("member-goal-1", 2), ("race-gcn-0", 4)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
            with pytest.raises(Killed):
                fit_into(model(), graph, parts, killed, resume=True, on_step=killer(*place))
    fit_into(model(), graph, parts, killed, resume=True)
    same_outcome(whole, killed)


def command(*arguments):
    # As many threads as here: sums are taken in another order with another number of them.
    environment = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}
    return subprocess.Popen(
        [sys.executable, "-c", "from otherhalf.cli.commands import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )


def test_sigkill(tmp_path):
    """The real thing: a process killed at each stage, one after the other, and taken up again each time."""
    data = "csbm:nodes=150,classes=3,features=8,homophily=0.1,seed=3"
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for stage in ("race-appnp-0", "race-gcn-0"):
        process = command("fit", data, "--fast", "--out", str(killed), "--resume", "--json")
        awaited = f"checkpoints/run-*/{stage}.safetensors"
        deadline = time.monotonic() + 120
        while process.poll() is None and not any(killed.glob(awaited)):
            assert time.monotonic() < deadline, f"no checkpoint of the stage {stage}"
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not (killed / "result.json").exists()
    last = command("fit", data, "--fast", "--out", str(killed), "--resume", "--json")
    graph = load(data)
    undisturbed = fit_into(GOALClassifier(fast=True, metric="auto"), graph, split(graph), whole)
    out, err = last.communicate(timeout=120)
    assert (last.returncode, err) == (0, b"")
    assert out.count(b"\n") == 1  # the object alone, whatever libraries print when they are loaded
    assert json.loads(out)["coefficients"] == undisturbed["coefficients"]
    same_outcome(whole, killed)
    assert not (killed / "checkpoints").exists()
