from dataclasses import replace

import pytest

from otherhalf.complement.settings import KernelSettings
from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.settings import EnsembleSettings
from otherhalf.estimators.simple_rows import SIMPLE
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.experiments.paper.published import TABLE1
from otherhalf.experiments.paper.table1 import Table1
from otherhalf.experiments.runner import models as module
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.models import (
    GOAL_DEFAULT,
    compared_models,
    configuration,
    make_model,
    model_name,
    model_of,
    title_of,
)
from otherhalf.nn.models.registry import MODELS, Option
from otherhalf.system.fields import number, to_dict

BENCHMARK = BenchmarkData("toy", "hash")
NAMES = ("goal", *MODELS)


def test_a_full_comparison_has_the_papers_models_then_later_ones():
    names = compared_models()
    assert names[: len(TABLE1)] == tuple(TABLE1)
    assert set(names) == {"goal", "trees", *(name for name, spec in MODELS.items() if spec.compared)}
    assert names[-1] == "trees"
    assert "structure" not in names


def test_titles():
    assert [title_of(name) for name in ("goal", "gcn", "acmgcn")] == ["GOAL", "GCN", "ACM-GCN+"]
    assert title_of("trees") == "Trees on the graph as a table"
    assert title_of("goal-embedding") == "GOAL, embedding"


def test_a_second_name_is_the_same_model():
    assert [model_name(name) for name in ("goal", "goal-embedding", "gcn")] == ["goal", "goal", "gcn"]
    assert type(make_model("goal-embedding", {}, 0, "accuracy")) is GOALClassifier
    assert "goal-embedding" not in compared_models()


@pytest.mark.parametrize("name", ["gcnn", "", "GCN"])
def test_an_unknown_model(name):
    with pytest.raises(InputError, match=r"there is no model .*: choose among goal, mlp, gcn.* trees"):
        make_model(name, {}, 0, "accuracy")


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_has_the_arguments_and_the_settings(name):
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

    for name in (*NAMES, "trees"):
        assert None not in list(parts(configuration(name, {}, "accuracy", "cora")))


def test_a_preset_depends_on_the_data():
    of_cora = configuration("goal", {"preset": "paper"}, "accuracy", "cora")
    assert of_cora != configuration("goal", {"preset": "paper"}, "accuracy", "actor")
    assert configuration("goal", {}, "accuracy", "cora") == configuration("goal", {}, "accuracy", "actor")


def test_every_setting_that_decides_a_fit_of_the_ensemble_is_listed():
    """A run with other defaults of the ensemble had the same key."""
    full = configuration("goal", GOAL_DEFAULT, "accuracy", "cora")["settings"]
    assert full["ensemble"] == to_dict(EnsembleSettings()) | {"candidates": []}
    assert full["kernel"] == to_dict(KernelSettings())
    other = configuration("goal", {**GOAL_DEFAULT, "ensemble": {"folds": 1}}, "accuracy", "cora")["settings"]
    assert other == {**full, "ensemble": {**full["ensemble"], "folds": 1}}
    assert not {"kernel", "ensemble", "method"} & set(configuration("goal", {}, "accuracy")["settings"])


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("gcn", {"teleports": 0.1}, "gcn does not take these settings .*teleports"),
        ("gcn", {"k": 3}, "gcn does not take these settings"),
        ("gcn", {"seed": 3}, "gcn does not take these settings"),
        ("gcn", {"teleport": 0.1}, "gcn has no option 'teleport'"),
        ("gcn", {"dropout": 1.0}, "dropout must be a number .* not 1.0"),
        ("goal", {"steps": 3}, "goal does not take these settings"),
        ("trees", {"hidden": 3}, "trees does not take these settings .*hidden"),
        ("trees", {"leaf": 0}, "leaf must be an integer ≥ 1, not 0"),
        ("goal", {"preset": "worst"}, "preset must be one of best, paper"),
    ],
)
def test_wrong_settings(name, params, message):
    with pytest.raises(InputError, match=message):
        configuration(name, params, "accuracy", "cora")


@pytest.mark.parametrize("name", ["goal", "appnp"])
def test_the_model_of_a_job(name):
    job = BENCHMARK.job("fit", name, {"hidden": 16, "lr": 0.02}, 7)
    model = model_of(job)
    assert (model.hidden, model.lr, model.seed, model.metric) == (16, 0.02, 7, "accuracy")


def test_the_trees():
    full = configuration("trees", {"leaf": 5}, "roc_auc", "cora")
    settings = {"kind": "extra", "scaling": "auto", "trees": 300, "leaf": 5}
    assert full == {"params": {"leaf": 5}, "settings": settings, "metric": "roc_auc"}
    model = model_of(BENCHMARK.job("fit", "trees", {"kind": "boosted"}, 7))
    assert isinstance(model, TreesClassifier)
    assert (model.kind, model.leaf, model.seed, model.metric) == ("boosted", 2, 7, "accuracy")


def test_a_job_of_a_version_with_other_defaults_is_not_run():
    job = BENCHMARK.job("fit", "gcn", {}, 0)
    settings = {**job.options["settings"], "scaling": "standard"}
    with pytest.raises(InputError, match="gcn on toy: this version resolves its settings differently"):
        model_of(replace(job, options={**job.options, "settings": settings}))


def test_options_of_the_task_do_not_concern_the_model():
    job = BENCHMARK.job("restart", "gcn", {}, 0)
    assert model_of(replace(job, options={**job.options, "model_seed": 4})).kind == "gcn"


def test_a_table_resolves_settings_once_per_cell(monkeypatch, records):
    """Table 1 has 104 cells, each of 10 splits."""
    calls = []
    for kind in NodeClassifier.__subclasses__():
        resolve = kind.resolved_settings

        def counted(self, data_set="", resolve=resolve):
            calls.append(data_set)
            return resolve(self, data_set)

        monkeypatch.setattr(kind, "resolved_settings", counted)
    module._configuration.cache_clear()
    table = Table1()
    request = table.request()
    table.table(request, records)
    assert 0 < len(calls) <= len(request.models) * len(request.datasets) == 104


def test_another_entry_of_the_same_name_is_resolved_again(monkeypatch):
    assert configuration("appnp", {}, "accuracy")["settings"]["walks"]["teleport"] == 0.1
    options = {**MODELS["appnp"].own_options, "teleport": Option(0.9, number(0, 1))}
    monkeypatch.setitem(MODELS, "appnp", replace(MODELS["appnp"], own_options=options))
    assert configuration("appnp", {}, "accuracy")["settings"]["walks"]["teleport"] == 0.9


@pytest.mark.parametrize("name", SIMPLE)
def test_the_simple_models_are_made_and_have_a_title(name):
    model = make_model(name, {}, 3, "accuracy")
    assert model.seed == 3
    assert title_of(name) == SIMPLE[name][0]
    assert configuration(name, {}, "accuracy")["settings"]
    assert name not in compared_models()  # tables of the paper
