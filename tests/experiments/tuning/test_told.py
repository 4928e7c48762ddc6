"""What is said of a search: the choice, the doubts, and how the values of settings did."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.tuning.ready import Ready
from otherhalf.experiments.tuning.space import ways_of
from otherhalf.experiments.tuning.told import Told
from otherhalf.experiments.tuning.trial import Trial
from otherhalf.experiments.tuning.tune import Search
from otherhalf.training.metric_choice import MetricChoice

GOAL, EMBEDDING, GCN = ways_of(["goal", "gcn"])
READY = Ready(SimpleNamespace(), None, 40, 0.8, 0.7, 0.1, 0.02)


def trial(number, way, point, *scores, error=""):
    one = Trial(number, way, point)
    for fit, score in enumerate(scores):
        one.add(fit, score, 1.0)
    if error:
        one.add(0, None, 1.0, error)
    return one


def told(*trials, ready=READY, split="uniform", ended="trials", ways=(GCN,)):
    bench = BenchmarkData("toy", "hash", split)
    metric = MetricChoice("accuracy", "The metric is accuracy, as asked for.")
    return Told(Search(bench, 0, list(ways), metric, list(trials), 9, ended=ended), ready)


FIRST = trial(0, GCN, {}, 0.5, 0.5)
BETTER = trial(1, GCN, {"hidden": 128}, 0.7, 0.6)
WORSE = trial(2, GCN, {"hidden": 128, "lr": 0.1}, 0.1)


def doubts(one):
    return " ".join(one.doubts())


def test_a_better_trial():
    one = told(FIRST, BETTER, WORSE)
    assert one.choice() == (
        "gcn: hidden=128: 0.6500 on validation (mean of 2 fits), +0.1500 against the defaults of GCN."
    )
    assert one.on_test() == (
        "On 40 test nodes its accuracy is 0.8000, that of the defaults 0.7000 "
        "(paired: a lead of +0.1000 ± 0.0200)."
    )
    assert [each.number for each in one.ordered()] == [1, 0, 2]
    assert "the best of 3, so it is too good" in doubts(one)
    assert "chance" not in doubts(one)
    values = one.values()
    assert json.loads(json.dumps(values)) == values
    assert values["chosen"] == {
        "trial": 1,
        "model": "gcn",
        "settings": {"hidden": 128},
        "params": {"hidden": 128},
    }
    scores = values["validation"], values["default_validation"]
    assert (scores, values["fits"]) == (pytest.approx((0.65, 0.5)), 2)
    assert [row["state"] for row in values["trials"]] == ["pruned"] * 3
    assert "test" in values
    assert not any("test" in key for row in values["trials"] for key in row)


def test_the_defaults():
    one = told(FIRST, trial(1, GCN, {"hidden": 128}, 0.4, 0.5), ready=replace(READY, test=0.7, lead=0.0))
    assert one.choice() == (
        "No settings were better on validation than the defaults of GCN, which have 0.5000 (mean of 2 fits): "
        "they are kept."
    )
    assert one.on_test() == "On 40 test nodes its accuracy is 0.7000."


@pytest.mark.parametrize(
    ("lead", "sentence"),
    [(-0.01, "On the test nodes the defaults are better"), (0.03, "within two standard errors")],
)
def test_a_lead_that_may_be_luck(lead, sentence):
    assert sentence in doubts(told(FIRST, BETTER, ready=replace(READY, lead=lead)))


def test_other_doubts():
    failed, stopped = trial(3, GCN, {"lr": 0.1}, error="out of luck"), trial(4, GCN, {"lr": 0.03})
    one = told(trial(0, GCN, {}, 0.5), trial(1, GCN, {"hidden": 16}, 0.6), failed, stopped, ended="time")
    assert "one fit of each" in doubts(one)
    assert "1 trial(s) failed and cannot be chosen, the first with: out of luck" in doubts(one)
    assert "The time was up; 1 trial(s) have fits that were stopped" in doubts(one)
    assert "same validation nodes" in doubts(told(FIRST, BETTER, split="given"))
    assert "another seed" in told(FIRST, split="given").how()
    assert "Every setting" in doubts(told(FIRST, BETTER, ended="space"))
    several = told(trial(0, GOAL, {}, 0.5), trial(1, GCN, {}, 0.6), ways=(GOAL, GCN))
    assert "GOAL also weighs its members by the validation nodes" in doubts(several)
    assert list(told(FIRST, ready=replace(READY, lead=0.0)).doubts()) == []


def test_failed_defaults():
    one = told(trial(0, GCN, {}, error="too large"), BETTER, ready=replace(READY, default_test=0.8, lead=0.0))
    assert one.choice().endswith("The defaults failed: too large.")
    assert one.on_test() == "On 40 test nodes its accuracy is 0.8000."
    assert one.values()["default_validation"] is None


def test_no_test_labels():
    ready = replace(READY, test_nodes=0, test=None, default_test=None, lead=None, lead_error=None)
    assert told(FIRST, BETTER, ready=ready).on_test() == "No accuracy on test nodes: 0 of them have a label."


def test_importance_is_the_spread_of_means_of_first_fits():
    trials = [
        trial(0, GCN, {}, 0.5, 0.9),
        trial(1, GCN, {"lr": 0.1}, 0.7),
        trial(2, GCN, {"lr": 0.1, "layers": 1}, 0.3),
        trial(3, GCN, {"layers": 1}, 0.1),
        trial(4, GCN, {"lr": 0.001}, 1.0),
    ]
    rows = {row["setting"]: row for row in told(*trials).importance()}
    assert list(rows) == ["layers", "lr"]  # no other setting has two values with two trials
    assert rows["lr"]["spread"] == pytest.approx(0.5 - 0.3)  # the value of one trial does not count
    assert rows["layers"]["spread"] == pytest.approx((0.5 + 0.7 + 1.0) / 3 - 0.2)
    assert rows["lr"]["values"] == [
        {"value": "0.001", "trials": 1, "mean": 1.0},
        {"value": "0.01", "trials": 2, "mean": pytest.approx(0.3)},
        {"value": "0.1", "trials": 2, "mean": pytest.approx(0.5)},
    ]


def test_the_model_is_a_setting_too():
    trials = [trial(number, GCN if number % 2 else GOAL, {}, 0.1 * number) for number in range(4)]
    (row,) = [row for row in told(*trials, ways=(GOAL, GCN)).importance() if row["setting"] == "model"]
    assert [value["value"] for value in row["values"]] == ["goal", "gcn"]
    assert row["spread"] == pytest.approx(0.1)


def test_settings_that_decided_nothing_do_not_count():
    off = {"ensemble.classifier": False}
    trials = [trial(i, GOAL, off if i > 1 else {}, 0.5 + 0.1 * i) for i in range(4)]
    settings = {row["setting"] for row in told(*trials, ways=(GOAL, EMBEDDING)).importance()}
    assert settings == {"ensemble.classifier"}


def test_the_page_has_everything():
    page = told(FIRST, BETTER, WORSE).page("otherhalf tune toy")
    for text in ("otherhalf tune toy", "gcn: hidden=128", "What to doubt", "0.6500", "too good"):
        assert text in page
