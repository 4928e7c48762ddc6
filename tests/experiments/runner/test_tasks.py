import json
from dataclasses import replace

import numpy as np
import pytest

from otherhalf.data.npz import write_npz
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.tasks import TASKS, Worker
from otherhalf.training.metrics import score

GRAPH = replace(contextual_sbm(90, 3, 5, homophily=0.9, signal=4.0, seed=2), name="mine")
SUBJECT = BenchmarkData.of(GRAPH, "uniform")
QUICK = {"epochs": 5, "patience": 5, "hidden": 8}


@pytest.fixture
def worker(tmp_path):
    write_npz(GRAPH, tmp_path / "elsewhere.npz")
    return Worker({"mine": str(tmp_path / "elsewhere.npz")})


def test_fit(worker):
    result = worker(SUBJECT.job("fit", "gcn", QUICK, 3))
    assert json.loads(json.dumps(result)) == result
    assert result["nodes"] == {"train": 54, "val": 18, "test": 18}
    assert result["epochs"] <= 5
    assert result["stages"]["total"] > 0
    # The same by hand.
    from otherhalf.estimators.baseline import BaselineClassifier

    parts = split(GRAPH, "uniform", 3)
    probabilities = BaselineClassifier("gcn", seed=3, **QUICK).fit(GRAPH, parts).predict_proba(GRAPH)
    assert result["test"] == score("accuracy", probabilities[parts.test], GRAPH.y[parts.test])
    assert result["val"] == score("accuracy", probabilities[parts.val], GRAPH.y[parts.val])


def test_fit_of_goal_tells_about_the_half(worker):
    result = worker(SUBJECT.job("fit", "goal", {**QUICK, "encoder": "mlp", "k": 3}, 0))
    assert json.loads(json.dumps(result)) == result
    assert {"test", "val", "coefficients", "ks", "tendency", "encoder_share"} <= set(result)
    assert (result["encoder"], result["half"]) in [("mlp", "homophily"), ("mlp", "heterophily")]
    assert result["half_edges"] >= 90
    assert 0 <= result["half_test_homophily"] <= 1


@pytest.mark.parametrize("model", ["mlp", "goal"])
def test_a_trial_does_not_look_at_the_test_nodes(worker, monkeypatch, model):
    parts = split(GRAPH, "uniform", 50)
    looked_at = []

    def watched(metric, scores, y):
        looked_at.append(y)
        return score(metric, scores, y)

    monkeypatch.setattr("otherhalf.experiments.runner.tasks.score", watched)
    params = {**QUICK, "encoder": "mlp"} if model == "goal" else QUICK
    result = worker(SUBJECT.job("trial", model, params, 50))
    assert "test" not in result
    assert set(result) == {"val", "epochs"}
    (labels,) = looked_at
    assert np.array_equal(labels, GRAPH.y[parts.val])


def test_other_test_labels_give_the_same_trial(worker, tmp_path):
    parts = split(GRAPH, "uniform", 50)
    y = GRAPH.y.copy()
    y[parts.test] = np.roll(y[parts.test], 1)
    changed = replace(GRAPH, y=y)
    write_npz(changed, tmp_path / "changed.npz")
    other = Worker({"mine": str(tmp_path / "changed.npz")})
    job = BenchmarkData.of(changed, "uniform").job("trial", "gcn", QUICK, 50)
    assert other(job) == worker(SUBJECT.job("trial", "gcn", QUICK, 50))


def test_audit(worker):
    result = worker(SUBJECT.plain_job("audit", {}, 1))
    assert json.loads(json.dumps(result)) == result
    assert result["test"] == max(kind["accuracy"] for kind in result["kinds"].values())
    assert result["kinds"][result["best"]]["accuracy"] == result["test"]


def test_a_score_that_is_not_defined_is_none(worker, monkeypatch):
    monkeypatch.setattr("otherhalf.experiments.runner.tasks.score", lambda *_: float("nan"))
    result = worker(SUBJECT.job("fit", "mlp", QUICK, 0))
    assert (result["val"], result["test"]) == (None, None)


def test_data_that_has_changed_since_the_plan_is_refused(worker):
    job = replace(SUBJECT.job("fit", "mlp", QUICK, 0), data_hash="another")
    with pytest.raises(InputError, match="mine has changed since the experiment was planned"):
        worker(job)


def test_a_named_data_set_is_opened_by_its_name(data_dir):
    job = BenchmarkData.named("texas", "fixed").job("fit", "mlp", QUICK, 0)
    assert Worker()(job)["nodes"]["train"] == 87  # of the published split, not 60 %


def test_every_task_has_a_function():
    assert {"fit", "trial", "audit", "ablation", "half", "diagnose", "filter", "restart"} <= set(TASKS)
