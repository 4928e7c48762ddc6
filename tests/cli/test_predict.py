"""`predict`: thresholds and sets by the command line, and what an older model folder cannot give."""

import json

import numpy as np
import pandas as pd
import pytest

from otherhalf import GOALClassifier, load, read_tables

TWO = "csbm:nodes=150,classes=2,features=6,homophily=0.6,signal=0.6"
THREE = "csbm:nodes=120,classes=3,features=6,homophily=0.1,signal=1"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of two models, and the models."""
    made = {}
    for name in (TWO, THREE):
        folder, graph = tmp_path_factory.mktemp("model"), load(name)
        model = GOALClassifier(encoder="mlp", epochs=5, hidden=4).fit(graph)
        model.save(folder)
        made[name] = folder, model, graph
    return made


def predicted(run, folder, data, out, *options):
    status, text, err = run("predict", folder, data, "--out", out, *options, "--json")
    assert (status, err) == (0, "")
    return json.loads(text), pd.read_csv(out)


def refused(outcome, fragment):
    status, out, err = outcome
    assert (status, out) == (2, "")
    assert fragment in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("threshold", ["auto", "0.3", "1"])
def test_threshold(run, folders, tmp_path, threshold):
    folder, model, graph = folders[TWO]
    result, table = predicted(run, folder, TWO, tmp_path / "p.csv", "--threshold", threshold)
    used = model.decision_.threshold if threshold == "auto" else float(threshold)
    assert result["threshold"] == used
    given = threshold if threshold == "auto" else used
    assert table["prediction"].tolist() == model.predict(graph, threshold=given).tolist()
    own = table[["p_0", "p_1"]].to_numpy()[np.arange(150), table["prediction"]]
    assert table["confidence"].tolist() == own.tolist()


def test_without_options_nothing_is_added(run, folders, tmp_path):
    folder, model, graph = folders[TWO]
    result, table = predicted(run, folder, TWO, tmp_path / "p.csv")
    assert (result["threshold"], result["coverage"], result["mean_set_size"]) == (None, None, None)
    assert list(table) == ["id", "prediction", "confidence", "label", "p_0", "p_1"]
    assert table["prediction"].tolist() == model.predict(graph).tolist()


class TestNodes:
    """Unlabelled and new nodes are written by default, and the text says what is left out."""

    @pytest.fixture
    def tables(self, folders, tmp_path):
        """Tables of the fitted graph: nodes 3 and 5 have no label, and a labelled node 150 is new."""
        _, _, graph = folders[TWO]
        nodes = pd.DataFrame(graph.x, columns=[f"x{i}" for i in range(6)])
        nodes.insert(0, "who", np.arange(150))
        nodes["label"] = graph.y.astype(object)
        nodes.loc[[3, 5], "label"] = None
        new = pd.DataFrame([{**nodes.iloc[0].to_dict(), "who": 150}])
        nodes.to_csv(tmp_path / "nodes.csv", index=False)
        pd.concat([nodes, new]).to_csv(tmp_path / "grown.csv", index=False)
        ends = pd.DataFrame(graph.edges.T, columns=["source", "target"])
        ends.to_csv(tmp_path / "edges.csv", index=False)
        model = GOALClassifier(encoder="mlp", epochs=2, hidden=4)
        model.fit(read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv", id="who")).save(tmp_path / "m")
        return tmp_path

    def written(self, run, folder, nodes, *options):
        data = f"{folder}/{nodes}.csv,{folder}/edges.csv"
        return predicted(run, folder / "m", data, folder / "p.csv", "--id", "who", *options)

    def test_default(self, run, tables):
        result, table = self.written(run, tables, "nodes")
        assert (result["which"], result["rows"], result["nodes"], result["new_nodes"]) == (
            *("unlabelled", 2, 150),
            0,
        )
        assert table["who"].tolist() == [3, 5]
        assert table["label"].isna().all()
        everything, whole = self.written(run, tables, "nodes", "--nodes", "all")
        assert (everything["which"], everything["rows"]) == ("all", 150)
        assert whole["who"].tolist() == list(range(150))
        assert table["prediction"].tolist() == whole["prediction"][[3, 5]].tolist()

    def test_new_nodes_count_also_if_they_have_a_label(self, run, tables):
        result, table = self.written(run, tables, "grown")
        assert (result["rows"], result["new_nodes"]) == (3, 1)
        assert table["who"].tolist() == [3, 5, 150]

    def test_new_nodes_alone_have_the_rows_that_they_have_among_all(self, run, tables):
        result, table = self.written(run, tables, "grown", "--nodes", "new")
        assert (result["which"], result["rows"], table["who"].tolist()) == ("new", 1, [150])
        _, whole = self.written(run, tables, "grown", "--nodes", "all")
        assert np.allclose(table["confidence"], whole["confidence"][[150]], atol=1e-6)
        data = f"{tables}/nodes.csv,{tables}/edges.csv"
        command = ("predict", tables / "m", data, "--id", "who", "--out", tables / "p.csv", "--nodes", "new")
        refused(run(*command), "every node was in the fit, so none is new")

    def test_text_says_what_is_left_out(self, run, tables):
        data = f"{tables}/grown.csv,{tables}/edges.csv"
        command = ("predict", tables / "m", data, "--id", "who", "--out", tables / "p.csv")
        assert " ".join(run(*command)[1].split()) == (
            f"3 predictions (2 nodes without a label and 1 new node) written to {tables}/p.csv. "
            "Labelled nodes are left out (148): `--nodes all` writes them too."
        )
        text = " ".join(run(*command, "--nodes", "all")[1].split())
        assert text == f"151 predictions (all nodes, 1 of them new) written to {tables}/p.csv."

    def test_every_node_has_a_label(self, run, folders, tmp_path):
        result, table = predicted(run, folders[TWO][0], TWO, tmp_path / "p.csv")
        assert (result["which"], result["rows"], len(table)) == ("all", 150, 150)
        options = ("--out", tmp_path / "p.csv", "--nodes", "unlabelled")
        refused(run("predict", folders[TWO][0], TWO, *options), "every node was in the fit and has a label")


def test_coverage(run, folders, tmp_path):
    folder, model, graph = folders[THREE]
    result, table = predicted(run, folder, THREE, tmp_path / "p.csv", "--coverage", "0.8")
    sets = model.predict_sets(graph, 0.8)
    assert result["mean_set_size"] == pytest.approx(sets.sum(axis=1).mean())
    texts = ["|".join(str(c) for c in np.flatnonzero(row)) for row in sets]
    assert table["set"].astype(str).tolist() == texts


def test_text(run, folders, tmp_path):
    options = ("--out", tmp_path / "p.csv", "--threshold", "0.25", "--coverage", "0.9")
    status, out, _ = run("predict", folders[TWO][0], TWO, *options)
    assert status == 0
    assert "The class '1' is predicted from the probability 0.25 on. A set has " in " ".join(out.split())


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (("--threshold", "half"), "--threshold is a number from 0 to 1 or auto, not 'half'"),
        (("--threshold", "1.5"), "threshold must be a number"),
        (("--threshold", "nan"), "threshold must be a number"),
        (("--coverage", "1"), "coverage must be a number"),
        (("--nodes", "old"), "nodes must be one of all, unlabelled, new, not 'old'"),
        (("--coverage", "much"), "invalid value for '--coverage'"),
    ],
)
def test_wrong_options_are_noticed_before_the_model_is_read(run, tmp_path, monkeypatch, options, fragment):
    monkeypatch.setattr("otherhalf.estimators.goal.GOALClassifier.load", lambda path: pytest.fail("too late"))
    refused(run("predict", "model", TWO, "--out", tmp_path / "p.csv", *options), fragment)


def test_a_threshold_for_three_classes(run, folders, tmp_path):
    for threshold in ("auto", "0.3"):
        options = ("--out", tmp_path / "p.csv", "--threshold", threshold)
        refused(run("predict", folders[THREE][0], THREE, *options), "a threshold needs 2 classes")
    assert list(tmp_path.iterdir()) == []
