import json
from dataclasses import replace

import numpy as np
import pytest

from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.estimators.averaged import member_seeds
from otherhalf.experiments.runner import graphs
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.executor import run_jobs
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.experiments.runner.models import make_model, model_of
from otherhalf.experiments.tasks import TASKS, Worker
from otherhalf.training.metrics import score

GRAPH = replace(contextual_sbm(90, 3, 5, homophily=0.9, signal=4.0, seed=2), name="mine")
BENCHMARK = BenchmarkData.of(GRAPH, "uniform")
QUICK = {"epochs": 5, "patience": 5, "hidden": 8}


@pytest.fixture
def worker(tmp_path):
    graphs = GraphFolder(tmp_path)
    graphs.put(GRAPH, BENCHMARK.data_hash)
    return Worker(graphs)


def test_fit(worker):
    result = worker(BENCHMARK.job("fit", "gcn", QUICK, 3))
    assert json.loads(json.dumps(result)) == result
    assert result["nodes"] == {"train": 54, "val": 18, "test": 18}
    assert result["epochs"] <= 5
    assert result["stages"]["total"] > 0
    from otherhalf.estimators.baseline import BaselineClassifier

    parts = split(GRAPH, "uniform", 3)
    probabilities = BaselineClassifier("gcn", seed=3, **QUICK).fit(GRAPH, parts).predict_proba(GRAPH)
    assert result["test"] == score("accuracy", probabilities[parts.test], GRAPH.y[parts.test])
    assert result["val"] == score("accuracy", probabilities[parts.val], GRAPH.y[parts.val])


def test_the_mean_of_several_fits(worker):
    job = BENCHMARK.job("averaged", "gcn", QUICK, 3, members=3)
    result = worker(job)
    assert json.loads(json.dumps(result)) == result
    assert set(result) == {"val", "test", "nodes", "epochs", "stages"}
    assert 3 <= result["epochs"] <= 15
    parts = split(GRAPH, "uniform", 3)
    fits = [make_model("gcn", QUICK, seed, "accuracy").fit(GRAPH, parts) for seed in member_seeds(3, 3)]
    mean = np.mean([model.predict_proba(GRAPH) for model in fits], axis=0)
    assert result["test"] == score("accuracy", mean, GRAPH.y, parts.test)
    assert result["val"] == score("accuracy", mean, GRAPH.y, parts.val)


def test_test_nodes_without_a_label_are_left_out_of_the_score():
    """They counted as wrong; a uniform split has none, so the task is called with another one."""
    parts = split(GRAPH, "uniform", 3)
    y = GRAPH.y.copy()
    y[parts.test[:6]] = -1
    graph = replace(GRAPH, y=y)
    job = BENCHMARK.job("fit", "gcn", QUICK, 3)
    result, whole = (TASKS["fit"](job, each, parts, "cpu") for each in (graph, GRAPH))
    probabilities = model_of(job).fit(graph, parts).predict_proba(graph)
    right = probabilities.argmax(axis=1)[parts.test[6:]] == GRAPH.y[parts.test[6:]]
    assert result["test"] == pytest.approx(right.mean())
    assert result["val"] == whole["val"]


def test_fit_of_goal_describes_the_half(worker):
    result = worker(BENCHMARK.job("fit", "goal", {**QUICK, "encoder": "mlp", "k": 3}, 0))
    assert json.loads(json.dumps(result)) == result
    assert {"test", "val", "coefficients", "ks", "tendency", "encoder_share"} <= set(result)
    assert (result["encoder"], result["half"]) in [("mlp", "homophily"), ("mlp", "heterophily")]
    assert result["half_edges"] >= 90
    assert 0 <= result["half_test_homophily"] <= 1


@pytest.mark.parametrize("model", ["mlp", "goal"])
def test_a_trial_does_not_use_the_test_nodes(worker, monkeypatch, model):
    parts = split(GRAPH, "uniform", 50)
    scored = []

    def watched(metric, probabilities, y, nodes):
        scored.append(nodes)
        return score(metric, probabilities, y, nodes)

    monkeypatch.setattr("otherhalf.experiments.tasks.score", watched)
    params = {**QUICK, "encoder": "mlp"} if model == "goal" else QUICK
    result = worker(BENCHMARK.job("trial", model, params, 50))
    assert "test" not in result
    assert set(result) == {"val", "epochs"}
    (nodes,) = scored
    assert np.array_equal(nodes, parts.val)


def test_other_test_labels_give_the_same_trial(worker):
    parts = split(GRAPH, "uniform", 50)
    y = GRAPH.y.copy()
    y[parts.test] = np.roll(y[parts.test], 1)
    changed = replace(GRAPH, y=y)
    other = BenchmarkData.of(changed, "uniform")
    worker.graphs.put(changed, other.data_hash)
    assert worker(other.job("trial", "gcn", QUICK, 50)) == worker(BENCHMARK.job("trial", "gcn", QUICK, 50))


def test_audit(worker):
    result = worker(BENCHMARK.task_job("audit", {}, 1))
    assert json.loads(json.dumps(result)) == result
    assert result["test"] == max(kind["accuracy"] for kind in result["kinds"].values())
    assert result["kinds"][result["best"]]["accuracy"] == result["test"]


def test_an_undefined_score_is_none(worker, monkeypatch):
    monkeypatch.setattr("otherhalf.experiments.tasks.score", lambda *_: float("nan"))
    result = worker(BENCHMARK.job("fit", "mlp", QUICK, 0))
    assert (result["val"], result["test"]) == (None, None)


def test_a_graph_that_is_not_there(worker):
    with pytest.raises(InputError, match="there is no data set called 'mine'"):
        worker(replace(BENCHMARK.job("fit", "mlp", QUICK, 0), data_hash="another"))


def test_several_jobs_of_a_process_open_a_graph_once(worker):
    graphs._open.cache_clear()
    jobs = [BENCHMARK.task_job("audit", {}, seed) for seed in range(4)]
    assert all(outcome.done for _, outcome in run_jobs(jobs, worker, 0, 1))
    assert graphs._open.cache_info().misses == 1


def test_jobs_in_one_process_do_not_affect_each_other(worker):
    """A worker process does many jobs; each result is that of a fresh process, bit for bit."""
    jobs = [BENCHMARK.job("fit", model, QUICK, seed) for seed in (0, 1) for model in ("mlp", "gcn")]

    def results(some):
        return {job.key: _without_times(outcome.result) for job, outcome in run_jobs(some, worker, 1, 1)}

    together = results([*jobs, jobs[0]])
    assert together == {**results(jobs[:1]), **results(jobs[1:2]), **results(jobs[2:3]), **results(jobs[3:])}


def _without_times(result):
    return {name: value for name, value in result.items() if name != "stages"}


def test_a_named_data_set_is_opened_by_its_name(data_dir):
    job = BenchmarkData.named("texas", "fixed").job("fit", "mlp", QUICK, 0)
    assert Worker()(job)["nodes"]["train"] == 87  # of the published split, not 60 %


def test_every_task_has_a_function():
    assert {"fit", "trial", "audit", "ablation", "half", "diagnose", "filter", "restart"} <= set(TASKS)
