"""`predict`: thresholds and sets by the command line, and what an older model folder cannot give."""

import json

import numpy as np
import pandas as pd
import pytest

from otherhalf import GOALClassifier, load

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
    assert "The class '1' is predicted from the probability 0.25 on. A set has " in out


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (("--threshold", "half"), "--threshold is a number from 0 to 1 or auto, not 'half'"),
        (("--threshold", "1.5"), "threshold must be a number"),
        (("--threshold", "nan"), "threshold must be a number"),
        (("--coverage", "1"), "coverage must be a number"),
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
