"""The search: the same for a seed, no fit twice, no test label, and defaults that are never lost."""

import hashlib
import json
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError, RunsFailed
from otherhalf.estimators import baseline
from otherhalf.experiments import tasks
from otherhalf.experiments.runner import models
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.experiments.runner.job import Outcome
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning.trial import COMPLETE, FAILED, PRUNED, STOPPED
from otherhalf.experiments.tuning.tune import TASK, as_record, tune
from otherhalf.experiments.workbench import Workbench
from otherhalf.training.metrics import score

pytest.importorskip("optuna", reason="needs `pip install 'otherhalf[tune]'`")

GRAPH = replace(contextual_sbm(60, 3, 4, homophily=0.8, signal=2.0, seed=3), name="mine")


def made_up(job):
    """A score that depends on the settings, and a little on the fit."""
    point = json.dumps(job.options["point"], sort_keys=True) + job.options["way"]
    level = int(hashlib.sha256(point.encode()).hexdigest()[:4], 16) / 0xFFFF
    return {"val": round(level + 0.01 * job.options["fit"], 6)}


@pytest.fixture
def work(monkeypatch):
    """Replace what a fit does, and keep a list of the fits that were done."""
    done = []

    def change(function):
        def call(self, job):
            result = function(job)
            done.append((job.options["trial"], job.options["fit"]))
            return result

        monkeypatch.setattr(tasks.Worker, "__call__", call)
        return done

    return change


@pytest.fixture
def bench(tmp_path):
    def make(name="store", **more):
        return Workbench(Store(tmp_path / name), workers=0, graphs=GraphFolder(tmp_path / "graphs"), **more)

    return make


def told(search):
    return [(t.number, t.way.name, t.point, t.scores, t.state) for t in search.trials]


def test_a_search(work, bench):
    done = work(made_up)
    search = tune(GRAPH, ["gcn", "trees"], bench(), trials=20)
    assert len(search.trials) == 20
    assert len(done) == len(set(done)) < 20 + 40
    assert search.ended == "trials"
    assert {trial.state for trial in search.trials} == {COMPLETE, PRUNED}
    best, rung = search.best()
    assert best.mean(rung) >= search.trials[0].mean(rung)
    assert best.mean(rung) == max(t.mean(rung) for t in search.trials if t.has(rung))


def test_one_worker_and_one_seed_give_one_search(work, bench):
    work(made_up)
    first = tune(GRAPH, ["gcn", "trees"], bench("a"), trials=15)
    assert told(first) == told(tune(GRAPH, ["gcn", "trees"], bench("b"), trials=15))
    assert told(first) != told(tune(GRAPH, ["gcn", "trees"], bench("c"), trials=15, seed=1))


@pytest.mark.parametrize("after", [1, 4, 11, 19])
def test_a_search_that_was_stopped_goes_on_as_if_it_had_not_been(work, bench, after):
    done = work(made_up)
    whole = tune(GRAPH, ["gcn", "trees"], bench("a"), trials=15)
    undisturbed = list(done)
    done.clear()

    def stop(search, trial, fit, outcome):
        if len(done) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(GRAPH, ["gcn", "trees"], bench("b"), trials=15, on_fit=stop)
    again = tune(GRAPH, ["gcn", "trees"], bench("b"), trials=15)
    assert again.reused == after
    assert done == undisturbed  # each fit once, in the same order
    assert told(again) == told(whole)


def test_more_trials_go_on_and_nothing_is_left_to_do_twice(work, bench):
    done = work(made_up)
    tune(GRAPH, ["gcn"], bench(), trials=6)
    before = len(done)
    search = tune(GRAPH, ["gcn"], bench(), trials=12)
    assert len(search.trials) == 12
    assert len(set(done)) == len(done) > before
    done.clear()
    again = tune(GRAPH, ["gcn"], bench(), trials=12)
    assert (done, told(again)) == ([], told(search))
    assert again.best()[0].number == search.best()[0].number


def test_a_small_space_ends_the_search(work, bench, monkeypatch):
    work(made_up)
    monkeypatch.setattr("otherhalf.experiments.tuning.tune.ways_for", _two_points)
    search = tune(GRAPH, ["gcn"], bench(), trials=9)
    assert (len(search.trials), search.ended) == (2, "space")
    assert search.best()[1] == 2  # both had all fits


def _two_points(graph, names):
    from otherhalf.experiments.tuning.space import Dimension, Way

    return [Way("gcn", {}, (Dimension("hidden", (8, 64), 64),))]


def test_the_defaults_win_a_tie(work, bench):
    work(lambda job: {"val": 0.5})
    assert tune(GRAPH, ["gcn", "trees"], bench(), trials=12).best()[0].number == 0


def test_smaller_may_be_better(work, bench):
    work(made_up)
    search = tune(GRAPH, ["gcn"], bench(), trials=12, metric="log_loss")
    best, rung = search.best()
    assert best.mean(rung) == min(t.mean(rung) for t in search.trials if t.has(rung))


# ---------------------------------------------------------------------- failures


def test_a_trial_that_fails_is_recorded_and_never_chosen(work, bench):
    def failing(job):
        if job.options["way"] == "trees":
            raise InputError("trees do not grow here")
        return made_up(job)

    done = work(failing)
    search = tune(GRAPH, ["gcn", "trees"], bench(), trials=12)
    failed = [trial for trial in search.trials if trial.state == FAILED]
    assert {trial.way.name for trial in failed} == {"trees"}
    assert {trial.error for trial in failed} == {"trees do not grow here"}
    assert search.best()[0].way.name == "gcn"
    done.clear()
    again = tune(GRAPH, ["gcn", "trees"], bench(), trials=12)
    assert (done, told(again)) == ([], told(search))


def test_if_all_fail_one_sentence_says_so(work, bench):
    def failing(job):
        raise ValueError("nothing works")

    work(failing)
    search = tune(GRAPH, ["gcn"], bench(), trials=3)
    with pytest.raises(
        RunsFailed, match=r"all 3 trial\(s\) failed, the first with: ValueError: nothing works"
    ):
        search.best()


def test_without_the_defaults_another_trial_is_chosen(work, bench):
    def failing(job):
        if not job.options["point"]:
            raise InputError("no defaults")
        return made_up(job)

    work(failing)
    search = tune(GRAPH, ["gcn"], bench(), trials=8)
    assert search.trials[0].state == FAILED
    assert search.best()[0].number > 0


def test_what_another_start_may_do_better_is_not_recorded():
    def outcome(kind, message):
        return Outcome(None, 1.0, 1.0, 1, kind, message)

    assert as_record(outcome("crash", "killed by signal 9, as the system does")) is None
    assert as_record(outcome("crash", "the memory does not suffice")) is None
    for kind, message in (("input", "wrong"), ("crash", "Traceback (most recent call last):\n\nKeyError: 3")):
        kept = as_record(outcome(kind, message))
        assert (kept.done, kept.result["val"]) == (True, None)
    assert kept.result["error"] == "KeyError: 3"
    done = Outcome({"val": 1.0}, 1.0, 1.0, 1)
    assert as_record(done) is done


def test_wrong_input_is_said_before_any_fit(work, bench):
    done = work(made_up)
    for options, sentence in (
        ({"trials": 0}, "trials must be an integer ≥ 1"),
        ({"seconds": 0}, "the time limit must be a number > 0"),
        ({"metric": "beauty"}, "beauty"),
        ({"split": "fixed"}, "comes without fixed splits"),
        ({"seed": -1}, "the seed must be an integer ≥ 0"),
    ):
        with pytest.raises(InputError, match=sentence):
            tune(GRAPH, ["gcn"], bench(), **options)
    with pytest.raises(InputError, match="majority chooses by itself"):
        tune(GRAPH, ["majority"], bench())
    assert done == []


# ---------------------------------------------------------------------- time, and other processes


def test_the_time_limit_stops_a_fit_that_runs(work, bench):
    def slow(job):
        if job.options["trial"] == 1:
            time.sleep(60)
        return made_up(job)

    work(slow)
    started = time.monotonic()
    search = tune(GRAPH, ["gcn"], bench(), trials=9, seconds=1)
    assert time.monotonic() - started < 20
    assert search.ended == "time"
    assert [trial.state for trial in search.trials] == [PRUNED, STOPPED]
    assert search.best() == (search.trials[0], 0)
    work(made_up)
    assert len(tune(GRAPH, ["gcn"], bench(), trials=9).trials) == 9


def test_too_little_time_for_the_defaults_is_one_sentence(work, bench):
    work(lambda job: time.sleep(60))
    search = tune(GRAPH, ["gcn"], bench(), trials=9, seconds=0.3)
    with pytest.raises(InputError, match="the time was up before the default settings had a score"):
        search.best()


def test_two_equal_searches_do_not_run_at_once(work, bench):
    refused = []

    def second(search, trial, fit, outcome):
        if not refused:
            with pytest.raises(InputError, match="another process does the same with the records"):
                tune(GRAPH, ["gcn"], bench(), trials=3)
            refused.append(True)

    work(made_up)
    tune(GRAPH, ["gcn"], bench(), trials=3, on_fit=second)
    assert refused


# ---------------------------------------------------------------------- other graphs, other versions


def test_records_of_another_graph_or_split_do_not_count(work, bench):
    done = work(made_up)
    tune(GRAPH, ["gcn"], bench(), trials=4)
    for graph, options in (
        (replace(GRAPH, x=GRAPH.x + 1), {}),
        (GRAPH, {"seed": 1}),
        (GRAPH, {"split": "stratified"}),
        (GRAPH, {"metric": "macro_f1"}),
    ):
        done.clear()
        assert tune(graph, ["gcn"], bench(), trials=4, **options).reused == 0
        assert len(done) >= 4


def test_records_of_a_version_with_other_defaults_do_not_count(work, bench, monkeypatch):
    done = work(made_up)
    before = tune(GRAPH, ["gcn"], bench(), trials=4)
    encoder = baseline.BEST.complement.encoder
    other = replace(encoder, training=replace(encoder.training, patience=7))
    complement = replace(baseline.BEST.complement, encoder=other)
    monkeypatch.setattr(baseline, "BEST", replace(baseline.BEST, complement=complement))
    models._configuration.cache_clear()
    done.clear()
    assert tune(GRAPH, ["gcn"], bench(), trials=4).reused == 0
    assert len(done) >= len(before.trials)
    models._configuration.cache_clear()


# ---------------------------------------------------------------------- test labels


def permuted(graph, seed):
    """The graph with the labels of its test nodes permuted."""
    test, y = split(graph, "uniform", 0).test, np.array(graph.y)
    y[test] = np.random.default_rng(seed).permutation(y[test])
    return replace(graph, y=y, classes=graph.classes)


def scores_on(graph, bench, name):
    search = tune(graph, ["mlp"], bench(name), trials=2)
    return [(t.way.name, t.point, t.scores) for t in search.trials], search.best()[0].number


def test_test_labels_decide_nothing(bench):
    found = scores_on(GRAPH, bench, "a")
    assert found == scores_on(permuted(GRAPH, 1), bench, "b")


def test_a_fit_that_reads_test_labels_would_be_noticed(bench, monkeypatch):
    def cheat(job, graph, parts, device="cpu"):
        model = models.model_of(job, device).fit(graph, parts)
        return {"val": score("accuracy", model.predict_proba(graph), graph.y, parts.test)}

    monkeypatch.setitem(tasks.TASKS, TASK, cheat)
    assert scores_on(GRAPH, bench, "a") != scores_on(permuted(GRAPH, 1), bench, "b")


def test_a_search_in_a_thread_keeps_to_its_time(work, bench):
    work(made_up)
    found = []
    thread = threading.Thread(
        target=lambda: found.append(tune(GRAPH, ["gcn"], bench(), trials=5, seconds=60))
    )
    thread.start()
    thread.join()
    assert len(found[0].trials) == 5
