"""The end of a search: the chosen model in a folder, scored once beside the defaults."""

import json
from dataclasses import replace

import numpy as np
import pytest

from otherhalf.cli.stages import in_words
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.any_model import load_model
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning.ready import make_ready
from otherhalf.experiments.tuning.tune import tune
from otherhalf.experiments.workbench import Workbench
from otherhalf.system.arrays import UNKNOWN
from otherhalf.training.metrics import score

pytest.importorskip("optuna", reason="needs `pip install 'otherhalf[tune]'`")

GRAPH = replace(contextual_sbm(60, 2, 4, homophily=0.8, signal=1.0, seed=3), name="mine")


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A search of a few real fits, in which the second trial wins by a score that is put in its place."""
    folder = tmp_path_factory.mktemp("search")
    bench = Workbench(Store(folder), workers=0, graphs=GraphFolder(folder / "graphs"))
    return tune(GRAPH, ["mlp"], bench, trials=2)


def choose(search, number):
    """The search with the trial of this number as its best."""
    trials = [replace(trial, scores=dict(trial.scores)) for trial in search.trials]
    for trial in trials:
        trial.scores = {fit: float(trial.number == number) for fit in range(4)}
    return replace(search, trials=trials)


def test_the_first_fit_of_a_trial_is_the_ready_model(searched, tmp_path):
    for number in (0, 1):
        make_ready(choose(searched, number), GRAPH, tmp_path / str(number))
        result = json.loads((tmp_path / str(number) / "result.json").read_text())
        assert result["val_accuracy"] == searched.trials[number].scores[0]


def test_both_are_scored_once_on_the_same_nodes(searched, tmp_path):
    parts = split(GRAPH, "uniform", 0)
    chosen = make_ready(choose(searched, 1), GRAPH, tmp_path / "chosen")
    default = make_ready(choose(searched, 0), GRAPH)
    loaded = load_model(tmp_path / "chosen").predict_proba(GRAPH)
    assert chosen.test == score("accuracy", loaded, GRAPH.y, parts.test)
    assert chosen.test_nodes == len(parts.test) == 12
    assert (default.test, default.lead, default.out) == (default.default_test, 0, None)
    assert chosen.default_test == default.test
    assert chosen.lead == pytest.approx(chosen.test - default.test)
    assert chosen.lead_error >= 0


def test_the_folder_is_that_of_a_fit_and_an_earlier_model_is_replaced(searched, tmp_path):
    make_ready(choose(searched, 1), GRAPH, tmp_path)
    before = json.loads((tmp_path / "result.json").read_text())
    assert {"model.json", "predictions.csv", "report.json", "result.json"} <= {
        path.name for path in tmp_path.iterdir()
    }
    again = make_ready(choose(searched, 1), GRAPH, tmp_path)  # it is there already
    assert json.loads((tmp_path / "result.json").read_text()) == before
    other = make_ready(choose(searched, 0), GRAPH, tmp_path)
    assert json.loads((tmp_path / "result.json").read_text()) != before
    assert other.test == again.default_test


def test_progress_tells_the_two_fits_apart(searched):
    stages = []
    make_ready(choose(searched, 1), GRAPH, on_step=lambda stage, done, total: stages.append(stage))
    assert list(dict.fromkeys(stages)) == ["member 1 training", "member 2 training"]
    assert in_words(stages[0]) == "model 1: training"


def test_without_test_labels_there_is_no_score(searched):
    y = np.array(GRAPH.y)
    parts = split(GRAPH, "uniform", 0)
    y[parts.test] = UNKNOWN
    graph = replace(GRAPH, y=y, classes=GRAPH.classes, fixed_splits=(replace(parts, kind="column"),))
    search = choose(searched, 1)
    search = replace(search, benchmark=replace(search.benchmark, split="given"))
    ready = make_ready(search, graph)
    assert (ready.test_nodes, ready.test, ready.lead) == (0, None, None)
