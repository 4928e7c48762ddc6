import pytest

from otherhalf.experiments.comparison import Comparison, judge, row_values, scores_of, verdict_values
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.statistics import Verdict, paired_difference
from otherhalf.training.metrics import METRICS, Metric

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


def test_the_scores_of_jobs(records):
    comparison = Comparison(BENCHMARK, SETTINGS, 2)
    put(records, comparison, "gcn", [0.5, 0.75], val=0.25)
    assert scores_of(records, comparison.jobs_by_model["gcn"]) == ([0.5, 0.75], [0.25, 0.25], 1 / 3)
    assert scores_of(records, comparison.jobs_by_model["mlp"]) is None


def test_two_rows_of_goal(records):
    settings = {"goal": {"method": "kernel"}, "goal-embedding": {}}
    comparison = Comparison(BENCHMARK, settings, 3)
    assert {job.model for job in comparison.jobs()} == {"goal"}
    put(records, comparison, "goal", [0.8, 0.9, 0.7])
    put(records, comparison, "goal-embedding", [0.7, 0.9, 0.7])
    rows = {row.model: row for row in comparison.rows(records)}
    assert rows["goal-embedding"].test.mean == pytest.approx(0.7667, abs=1e-4)
    assert rows["goal-embedding"].difference.mean == pytest.approx(0.0333, abs=1e-4)


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


# ---------------------------------------------------------------------- verdicts

SCORES = {
    "goal": [0.80, 0.82, 0.78, 0.81, 0.79],
    "gcn": [0.70, 0.73, 0.67, 0.72, 0.68],
    "mlp": [0.80, 0.78, 0.81, 0.79, 0.83],
}


def judged(records, benchmark=BENCHMARK, scores=SCORES, **options):
    comparison = Comparison(benchmark, {model: {} for model in scores}, len(scores["goal"]))
    for model, tests in scores.items():
        put(records, comparison, model, tests)
    return judge(comparison.rows(records), benchmark.metric, **options)


def test_a_verdict_on_every_model_but_goal(records):
    found = judged(records)
    raw = {model: paired_difference(SCORES["goal"], SCORES[model], 1 / 3).p for model in ("gcn", "mlp")}
    assert {model: verdict.words for model, verdict in found.items()} == {
        "gcn": "worse",
        "mlp": "too few splits to tell",
    }
    assert found["gcn"].p == pytest.approx(2 * raw["gcn"])  # the smaller of two
    assert found["mlp"].p == pytest.approx(raw["mlp"])
    assert found["mlp"].detectable > 0.01


def test_the_margin(records):
    assert judged(records, margin=0.5)["mlp"].words == "tied"


def test_a_smaller_score_may_be_the_better_one(records, monkeypatch):
    loss = Metric("loss", "loss", lambda scores, y: 0.0, larger_is_better=False)
    monkeypatch.setitem(METRICS, "loss", loss)
    found = judged(records, BenchmarkData("toy", "hash", metric="loss"))
    assert found["gcn"].words == "better"


def test_runs_on_the_public_split_are_no_test(records):
    found = judged(records, BenchmarkData("toy", "hash", "public"))
    assert set(found.values()) == {Verdict("too few splits to tell", None, None)}


def test_without_goal_there_is_no_verdict(records):
    comparison = Comparison(BENCHMARK, {"gcn": {}, "mlp": {}}, 3)
    for model in ("gcn", "mlp"):
        put(records, comparison, model, [0.7, 0.8, 0.75])
    assert judge(comparison.rows(records), "accuracy") == {}


def test_verdicts_for_json():
    nothing = {"p_value_adjusted": None, "verdict": None, "detectable": None}
    assert verdict_values(None) == nothing
    assert verdict_values(Verdict("tied", 0.5, 0.02)) == {
        "p_value_adjusted": 0.5,
        "verdict": "tied",
        "detectable": 0.02,
    }


# ---------------------------------------------------------------------- ensembles


def test_without_an_ensemble_the_jobs_are_as_before():
    before = [BENCHMARK.job("fit", model, params, s) for model, params in SETTINGS.items() for s in range(2)]
    assert [job.key for job in Comparison(BENCHMARK, SETTINGS, 2).jobs()] == [job.key for job in before]
    assert not any("members" in job.options for job in before)


def test_every_model_but_goal_gets_members():
    single, comparison = Comparison(BENCHMARK, SETTINGS, 2), Comparison(BENCHMARK, SETTINGS, 2, 5)
    jobs = comparison.jobs_by_model
    assert {model: comparison.members(model) for model in SETTINGS} == {"gcn": 5, "goal": None, "mlp": 5}
    assert [job.key for job in jobs["goal"]] == [job.key for job in single.jobs_by_model["goal"]]
    for model in ("gcn", "mlp"):
        for job, alone in zip(jobs[model], single.jobs_by_model[model], strict=True):
            assert job.options == {**alone.options, "members": 5}
            assert (job.task, job.seed) == ("averaged", alone.seed)
    other = Comparison(BENCHMARK, SETTINGS, 2, 6).jobs_by_model["gcn"]
    assert not {job.key for job in other} & {job.key for job in jobs["gcn"]}


@pytest.mark.parametrize(("params", "ensemble"), [({"method": "kernel"}, True), ({"preset": "paper"}, False)])
def test_goal_is_an_ensemble_by_its_settings(params, ensemble):
    assert Comparison(BENCHMARK, {"gcn": {}, "goal": params}, 1).goal_is_ensemble == ensemble


def test_without_goal_there_is_no_ensemble():
    assert not Comparison(BENCHMARK, {"gcn": {}}, 1).goal_is_ensemble
