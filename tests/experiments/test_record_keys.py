"""Every record is found by today's code: a changed key would make finished runs count for nothing."""

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from otherhalf.diagnosis.verdict import KS_THRESHOLD
from otherhalf.experiments.paper.registry import EXPERIMENTS
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.models import configuration
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning.search import FINALISTS, candidates, search_seeds
from otherhalf.experiments.tuning.tuned import PACKAGED_SETTINGS, read_tuned
from otherhalf.nn.backbone import Architecture
from otherhalf.training.loop import TrainingSettings

STORE = Store(Path(__file__).parents[2] / "results" / "runs")
COUNTS = {
    "trial": 2041,
    "fit": 1650,
    "filter": 220,
    "audit": 150,
    "half": 80,
    "ablation": 40,
    "autotune": 25,
    "restart": 18,
    "diagnose": 8,
}
"""Least numbers of records by task."""

pytestmark = pytest.mark.usefixtures("no_data")


@pytest.fixture(scope="module")
def records():
    return STORE.records()


def options_today(job):
    """The options that this version gives the job."""
    options = job.options
    if "params" in options:  # a model; the task may have options of its own beside it
        return {**options, **configuration(job.model, options["params"], options["metric"], job.data_set)}
    if job.task == "filter":
        today = {"shape": asdict(Architecture()), "training": asdict(TrainingSettings())}
        return {"homophily": options["homophily"], "filter": options["filter"], **today}
    return {"diagnose": {"draws": 10, "threshold": KS_THRESHOLD}, "audit": {}}[job.task]


def test_no_record_is_lost(records):
    counts = Counter(record.job.task for record in records)
    assert {task: min(counts[task], least) for task, least in COUNTS.items()} == COUNTS
    assert len(records) == len({record.key for record in records})


def test_every_record_has_the_key_of_today(records):
    wrong = [
        (record.job.task, record.job.data, record.job.model, record.job.seed)
        for record in records
        if replace(record.job, options=options_today(record.job)).key != record.key
    ]
    assert wrong == []


def test_every_record_is_of_the_data_set_of_today(records):
    for benchmark in {(r.job.data, r.job.split, r.job.data_hash) for r in records}:
        data, split, data_hash = benchmark
        assert BenchmarkData.named(data, split).data_hash == data_hash, benchmark


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_job_of_an_experiment_has_its_record(name):
    experiment = EXPERIMENTS[name]
    request = experiment.request()
    jobs = experiment.reported(request, STORE)
    assert jobs or all(map(experiment.may_be_missing, experiment.jobs(request)))
    assert [(job.data, job.model, job.seed) for job in jobs if not STORE.has(job)] == []


def test_every_record_belongs_to_an_experiment_or_a_search(records):
    planned = {
        job.key
        for experiment in EXPERIMENTS.values()
        for job in experiment.reported(experiment.request(), STORE)
    }
    trials = 0
    for path in PACKAGED_SETTINGS.glob("*/*.toml"):
        benchmark = BenchmarkData.named(path.stem, path.parent.name)
        first, *others = search_seeds(benchmark.split)
        for model, tuned in read_tuned(path.stem, path.parent).items():
            tries = [benchmark.job("trial", model, p, first) for p in candidates(model, tuned.trials)]
            final = [benchmark.job("trial", model, tuned.params, seed) for seed in others]
            assert all(STORE.has(job) for job in (*tries, *final)), (path, model)
            trials += len(tries) + FINALISTS * len(others)
    assert sum(record.job.task == "trial" for record in records) >= trials
    assert {record.job.task for record in records if record.key not in planned} == {"trial"}
