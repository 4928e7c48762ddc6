import pytest

from otherhalf.experiments.comparison import Comparison, row_values
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.statistics import paired_difference

BENCHMARK = BenchmarkData("toy", "hash")
SETTINGS = {"gcn": {"hidden": 8}, "goal": {}, "mlp": {}}
NODES = {"train": 60, "val": 20, "test": 20}


def put(records, comparison, model, tests, val=0.5, nodes=NODES):
    for job, test in zip(comparison.jobs_by_model[model], tests, strict=False):
        records.put(job, test=test, val=val, nodes=nodes)


def test_the_jobs():
    jobs = Comparison(BENCHMARK, SETTINGS, 3).jobs()
    assert [(job.model, job.seed) for job in jobs] == [(m, s) for m in SETTINGS for s in range(3)]
    assert {job.task for job in jobs} == {"fit"}
    assert jobs[0].options["params"] == {"hidden": 8}


def test_rows(records):
    comparison = Comparison(BENCHMARK, SETTINGS, 3)
    scores = {"gcn": [0.7, 0.8, 0.75], "goal": [0.8, 0.8, 0.9], "mlp": [0.1, 0.2, 0.3]}
    for model, tests in scores.items():
        put(records, comparison, model, tests)
    rows = {row.model: row for row in comparison.rows(records)}
    assert list(rows) == list(SETTINGS)
    assert rows["goal"].difference is None
    assert rows["gcn"].difference == paired_difference(scores["goal"], scores["gcn"], 1 / 3)
    assert rows["gcn"].difference.mean > 0  # GOAL minus the model
    values = row_values(rows["gcn"])
    assert {"model", "mean", "std", "runs", "validation_mean", "goal_minus_model"} == set(values)
    assert values["mean"] == pytest.approx(0.75)
    assert values["std"] == pytest.approx(0.05)
    assert (values["runs"], values["validation_mean"]) == (3, 0.5)
    assert set(values["goal_minus_model"]) == {"mean", "std", "p"}


def test_a_model_with_missing_runs_has_no_row(records):
    comparison = Comparison(BENCHMARK, SETTINGS, 3)
    put(records, comparison, "gcn", [0.5, 0.5])
    put(records, comparison, "mlp", [0.5, 0.5, 0.5])
    (row,) = comparison.rows(records)
    assert (row.model, row.difference) == ("mlp", None)  # nothing to compare with


@pytest.mark.parametrize("undefined", [{"tests": [0.5, None]}, {"tests": [0.5, 0.5], "val": None}])
def test_a_model_with_an_undefined_score_has_no_row(records, undefined):
    comparison = Comparison(BENCHMARK, {"gcn": {}}, 2)
    put(records, comparison, "gcn", **undefined)
    assert comparison.rows(records) == []


def test_one_run(records):
    comparison = Comparison(BENCHMARK, {"gcn": {}, "goal": {}}, 1)
    put(records, comparison, "gcn", [0.5])
    put(records, comparison, "goal", [0.75])
    values = row_values(comparison.rows(records)[0])
    assert (values["std"], values["runs"]) == (None, 1)
    assert values["goal_minus_model"] == {"mean": 0.25, "std": None, "p": None}


def test_jobs_are_made_once(records, monkeypatch):
    made = []
    job = BenchmarkData.job
    monkeypatch.setattr(BenchmarkData, "job", lambda self, *values: made.append(values) or job(self, *values))
    comparison = Comparison(BENCHMARK, SETTINGS, 3)
    comparison.rows(records)
    comparison.rows(records)
    assert len(comparison.jobs()) == len(made) == 9
