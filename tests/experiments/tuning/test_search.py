import hashlib
from collections import Counter
from dataclasses import asdict

import pytest

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.experiments.compare import compare
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.executor import run_jobs
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.experiments.runner.job import Outcome, canonical
from otherhalf.experiments.runner.models import compared_models, configuration, make_model
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning import search as search_module
from otherhalf.experiments.tuning.search import (
    ARCHITECTURES,
    FINALISTS,
    GOAL,
    MOST_TRIALS,
    SEEDS,
    TRIALS,
    candidates,
    check_runs,
    search,
    search_seeds,
)
from otherhalf.experiments.workbench import Workbench
from otherhalf.nn.models.registry import MODELS

BENCHMARK = BenchmarkData("toy", "hash")
NAMES = ("goal", *MODELS)
ALL = (*NAMES, "trees")


# ---------------------------------------------------------------------- trials


@pytest.mark.parametrize("count", [1, 5, TRIALS, 30])
@pytest.mark.parametrize("model", ALL)
def test_every_model_has_this_many_different_trials(model, count):
    found = candidates(model, count)
    assert len(found) == count
    assert candidates(model, count) == found
    settings = [make_model(model, params, 0, "accuracy").resolved_settings("cora") for params in found]
    assert all(one not in settings[:i] for i, one in enumerate(settings))


@pytest.mark.parametrize("model", ALL)
def test_more_trials_begin_with_the_same_ones(model):
    assert candidates(model, 20)[:TRIALS] == candidates(model, TRIALS)
    assert candidates(model, TRIALS)[:3] == candidates(model, 3)


def test_the_list_does_not_change():
    """There are records of its trials: if it changed, every search would run again."""
    listed = canonical({model: candidates(model, TRIALS) for model in sorted(NAMES)})
    assert hashlib.sha256(listed.encode()).hexdigest() == (
        "1c69920b9dac60202e996b456a4877ed9c848c08fbb9991a2c2c1c2b270ebaaf"
    )


@pytest.mark.parametrize("model", NAMES)
def test_the_first_trial_is_the_defaults(model):
    (first,) = candidates(model, 1)
    if model == "goal":
        assert first == {}
        return
    ours = asdict(BaselineClassifier(model, **first).resolved_settings())
    usual = asdict(BaselineClassifier(model).resolved_settings())
    for name in ("epochs", "patience"):
        del ours["training"][name], usual["training"][name]
    assert ours == usual


@pytest.mark.parametrize("data", ["cora", "somebody's own"])
@pytest.mark.parametrize("model", ALL)
def test_every_trial_is_accepted(model, data):
    for params in candidates(model, 30):
        assert configuration(model, params, "accuracy", data)["params"] == params


def test_the_largest_number_of_trials():
    for model in ("goal", "mlp", "trees"):
        assert len(candidates(model, MOST_TRIALS)) == MOST_TRIALS


@pytest.mark.parametrize("count", [0, -1, MOST_TRIALS + 1, 10**9])
def test_a_wrong_number_of_trials(count, tmp_path):
    with pytest.raises(InputError, match=f"give 1 to {MOST_TRIALS}"):
        candidates("goal", count)
    with pytest.raises(InputError, match=f"give 1 to {MOST_TRIALS}"):
        search([("goal", BENCHMARK)], Store(tmp_path), lambda jobs: pytest.fail("ran"), trials=count)


def test_drawn_trials_of_goal_leave_some_settings_at_their_defaults():
    drawn = candidates("goal", 40)[TRIALS:]
    for name in ("encoder", "k", "lr", "weight_decay", "norm"):
        assert any(name in params for params in drawn)
        assert any(name not in params for params in drawn)


def test_the_architectures_are_the_same_for_every_baseline():
    assert len(ARCHITECTURES) == len(GOAL) == TRIALS
    usual = candidates("mlp", TRIALS)
    for model in set(compared_models()) - {"goal", "trees"}:
        own = MODELS[model].own_options
        shared = [{k: v for k, v in params.items() if k not in own} for params in candidates(model, TRIALS)]
        different = [i for i, params in enumerate(shared) if params != usual[i]]
        assert different == ([5, 6] if model == "gprgnn" else [])


def test_the_trials_of_the_trees():
    listed = candidates("trees", TRIALS)
    assert {(params["kind"], params["leaf"]) for params in listed} == {
        (kind, leaf) for kind in ("extra", "boosted") for leaf in (1, 2, 5, 10)
    }
    assert TreesClassifier(**listed[0]).resolved_settings() == TreesClassifier().resolved_settings()


def test_listed_trials_are_not_resolved(monkeypatch):
    """Only drawn trials are compared with the others."""
    monkeypatch.setattr(search_module, "make_model", lambda *_: pytest.fail("a model was made"))
    for model in ALL:
        assert len(candidates(model, TRIALS)) == TRIALS


@pytest.mark.parametrize(("runs", "message"), [(0, "0 runs are too few"), (51, "51 runs are too many")])
def test_a_wrong_number_of_runs(runs, message):
    check_runs(50)
    with pytest.raises(InputError, match=message):
        check_runs(runs)


def test_the_splits_of_the_search_are_not_those_of_the_results():
    for split in ("uniform", "stratified", "quota"):
        assert search_seeds(split) == SEEDS
        assert min(SEEDS) >= 10  # reported runs are numbered from 0
    assert search_seeds("fixed") == (0, 1, 2)
    assert search_seeds("public") == (0,)
    assert search_seeds("fixed", 2) == (0, 1)
    assert search_seeds("fixed", 0) == ()


# ---------------------------------------------------------------------- the search


class Fake:
    """Runs nothing: ``validation(job)`` is the score of a trial, None if it fails."""

    def __init__(self, folder, validation):
        self.store = Store(folder)
        self.validation = validation
        self.rounds = []

    def __call__(self, jobs):
        self.rounds.append(list(jobs))
        for job in jobs:
            score = self.validation(job)
            if score is not None and not self.store.has(job):
                # A trial must have no test score; if it had one, nothing may read it.
                result = {"val": score, "epochs": 3, "test": "not to be read"}
                self.store.add(job, Outcome(result, 1.0, 1.0, 1))

    def search(self, *models, **options):
        return search([(model, BENCHMARK) for model in models], self.store, self, **options)

    @property
    def ran(self):
        return {job.key: job for jobs in self.rounds for job in jobs}.values()


def place(job):
    """Position of the job in the list of trials."""
    return candidates(job.model, TRIALS).index(job.options["params"])


def test_the_finalist_with_the_best_mean_is_chosen(tmp_path):
    # On the first split 4 and 6 are the best; over all splits, 6. Trial 2 would be even better on the others.
    first = [0.1, 0.2, 0.3, 0.2, 0.9, 0.1, 0.8, 0.1]
    others = [0.1, 0.1, 1.0, 0.1, 0.3, 0.1, 0.5, 0.1]
    fake = Fake(tmp_path, lambda job: (first if job.seed == 50 else others)[place(job)])
    (choice,) = fake.search("gcn")
    assert choice.params == candidates("gcn", TRIALS)[6]
    assert choice.validation == pytest.approx((0.8 + 0.5 + 0.5) / 3)
    assert choice.trials == TRIALS


def test_every_model_has_the_same_number_of_trials(tmp_path):
    fake = Fake(tmp_path, lambda job: 0.5 + place(job) / 100)
    fake.search("gcn", "appnp", "goal", trials=5)
    tried = Counter((job.model, job.seed) for job in fake.ran)
    for model in ("gcn", "appnp", "goal"):
        assert [tried[model, seed] for seed in SEEDS] == [5, FINALISTS, FINALISTS]
    assert {job.task for job in fake.ran} == {"trial"}


def test_a_trial_that_failed_is_not_chosen(tmp_path):
    fake = Fake(tmp_path, lambda job: 0.05 if place(job) == 3 else None)
    (choice,) = fake.search("gcn")
    assert choice.params == candidates("gcn", TRIALS)[3]
    assert choice.validation == pytest.approx(0.05)


def test_a_finalist_that_fails_later_is_not_chosen(tmp_path):
    scores = [0.1, 0.2, 0.9, 0.8, 0.1, 0.1, 0.1, 0.1]
    fake = Fake(tmp_path, lambda job: None if place(job) == 2 and job.seed == 52 else scores[place(job)])
    assert fake.search("gcn")[0].params == candidates("gcn", TRIALS)[3]


def test_of_equal_trials_the_first_is_chosen(tmp_path):
    assert Fake(tmp_path, lambda job: 0.5).search("sage")[0].params == candidates("sage", 1)[0]


def test_one_trial_is_the_defaults(tmp_path):
    fake = Fake(tmp_path, lambda job: 0.5)
    assert [choice.params for choice in fake.search("goal", "gat", trials=1)] == [{}, candidates("gat", 1)[0]]


def test_a_single_split_is_enough(tmp_path):
    fake = Fake(tmp_path, lambda job: place(job) / 10)
    (choice,) = fake.search("gcn", seeds=(0,))
    assert (choice.params, choice.validation) == (candidates("gcn", TRIALS)[7], 0.7)
    assert {job.seed for job in fake.ran} == {0}


def test_goal_is_searched_even_if_its_defaults_fail(tmp_path):
    fake = Fake(tmp_path, lambda job: 0.7 if place(job) == 6 else None)
    (choice,) = fake.search("goal")
    assert choice.params == GOAL[6]


def test_all_models_are_searched_in_the_same_rounds(tmp_path):
    fake = Fake(tmp_path, lambda job: 0.5)
    fake.search("gcn", "goal")
    assert [{job.model for job in jobs} for jobs in fake.rounds] == [{"gcn", "goal"}] * 2


def test_trees_are_compared_and_tuned(tmp_path):
    def here(jobs, work, workers, threads, on_start=None):
        return run_jobs(jobs, work, 0, threads, on_start)

    graph = contextual_sbm(90, 2, 4, homophily=0.8, signal=3.0, seed=0)
    workbench = Workbench(Store(tmp_path), executor=here, graphs=GraphFolder(tmp_path / "graphs"))
    found = compare(graph, ["trees"], workbench, runs=2, budget=3)
    assert workbench.failed == []
    (row,) = found.values()["rows"]
    assert (row["model"], row["runs"], row["settings_from"]) == ("trees", 2, "best of 3")
    assert row["settings"] in candidates("trees", 3)
    assert row["mean"] > 0.8
    assert found.table().rows[0][0] == "Trees on the graph as a table"


def test_nothing_is_tried_twice(tmp_path):
    fake = Fake(tmp_path, lambda job: place(job) / 10)
    first = fake.search("gcn", "mlp")
    records = len(fake.store.records())
    assert records == len(fake.ran)
    assert fake.search("gcn", "mlp") == first
    assert len(fake.store.records()) == records
