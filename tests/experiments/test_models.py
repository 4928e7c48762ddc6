from dataclasses import replace

import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.models import (
    PAPERS,
    RIVALS,
    TITLES,
    check_model,
    configuration,
    make_model,
    model_of,
)
from otherhalf.experiments.paper.published import TABLE1
from otherhalf.experiments.runner.benchmark_data import BenchmarkData

SUBJECT = BenchmarkData("toy", "hash")


def test_the_names():
    assert set(PAPERS) == set(TABLE1)
    assert {*PAPERS, *RIVALS} < set(TITLES)
    for name in TITLES:
        check_model(name)


@pytest.mark.parametrize("name", ["gcnn", "", "GCN"])
def test_an_unknown_model(name):
    with pytest.raises(InputError, match=r"there is no model .*: choose among goal, mlp, gcn"):
        make_model(name, {}, 0, "accuracy")


@pytest.mark.parametrize("name", TITLES)
def test_what_came_of_the_settings_stands_beside_what_was_said(name):
    full = configuration(name, {"hidden": 32}, "roc_auc", "cora")
    assert (full["params"], full["metric"]) == ({"hidden": 32}, "roc_auc")
    shape = full["settings"]["goal" if name == "goal" else "shape"]
    assert (shape["shape"] if name == "goal" else shape)["hidden"] == 32
    model = make_model(name, {"hidden": 32}, 5, "roc_auc")
    assert (model.seed, model.metric) == (5, "roc_auc")


def test_a_setting_that_is_none_is_left_out():
    def parts(values):
        for value in values.values():
            yield value
            if isinstance(value, dict):
                yield from parts(value)

    for name in TITLES:
        assert None not in list(parts(configuration(name, {}, "accuracy", "cora")))


def test_a_preset_depends_on_the_data():
    of_cora = configuration("goal", {"preset": "paper"}, "accuracy", "cora")
    assert of_cora != configuration("goal", {"preset": "paper"}, "accuracy", "actor")
    assert configuration("goal", {}, "accuracy", "cora") == configuration("goal", {}, "accuracy", "actor")


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("gcn", {"teleports": 0.1}, "gcn does not take these settings .*teleports"),
        ("gcn", {"k": 3}, "gcn does not take these settings"),
        ("gcn", {"seed": 3}, "gcn does not take these settings"),
        ("gcn", {"teleport": 0.1}, "gcn has no teleport"),
        ("gcn", {"dropout": 1.0}, "the dropout 1.0"),
        ("goal", {"steps": 3}, "goal does not take these settings"),
        ("goal", {"preset": "worst"}, "there is no preset 'worst'"),
    ],
)
def test_settings_that_a_model_does_not_take(name, params, message):
    with pytest.raises(InputError, match=message):
        configuration(name, params, "accuracy", "cora")


@pytest.mark.parametrize("name", ["goal", "appnp"])
def test_the_model_of_a_job(name):
    job = SUBJECT.job("fit", name, {"hidden": 16, "lr": 0.02}, 7)
    model = model_of(job)
    assert (model.hidden, model.lr, model.seed, model.metric) == (16, 0.02, 7, "accuracy")


def test_a_job_of_a_version_with_other_defaults_is_not_run():
    job = SUBJECT.job("fit", "gcn", {}, 0)
    settings = {**job.options["settings"], "scaling": "standard"}
    with pytest.raises(InputError, match="gcn on toy: this version resolves its settings differently"):
        model_of(replace(job, options={**job.options, "settings": settings}))


def test_options_of_the_task_itself_are_no_matter_of_the_model():
    job = SUBJECT.job("restart", "gcn", {}, 0)
    assert model_of(replace(job, options={**job.options, "model_seed": 4})).kind == "gcn"
