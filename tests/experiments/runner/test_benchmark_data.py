from dataclasses import replace

import numpy as np
import pytest

from otherhalf.data.catalog import load
from otherhalf.data.entries import DATASETS, catalogue_name
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.tuning.search import candidates

GRAPH = contextual_sbm(60, 3, 4, homophily=0.2, seed=1)


@pytest.mark.usefixtures("no_data")
@pytest.mark.parametrize("name", [name for name, entry in DATASETS.items() if entry.fingerprint])
@pytest.mark.parametrize("protocol", ["uniform", "fixed"])
def test_a_named_data_set_needs_no_file(name, protocol):
    benchmark = BenchmarkData.named(name, protocol)
    assert (benchmark.data, benchmark.split, benchmark.metric) == (name, protocol, DATASETS[name].metric)
    assert benchmark.data_hash.startswith(DATASETS[name].fingerprint)


@pytest.mark.usefixtures("no_data")
def test_other_spellings():
    assert (
        BenchmarkData.named("Amazon-Computers")
        == BenchmarkData.named("computers")
        == BenchmarkData.named("amazon_computers")
    )


def test_the_catalogue_agrees_with_the_files(data_dir):
    for name in ("texas", "cora"):
        for protocol in ("uniform", "fixed"):
            assert BenchmarkData.of(load(name), protocol) == BenchmarkData.named(name, protocol)


@pytest.mark.parametrize("name", ["coraa", "", "csbm:nodes=50", "cora@0.3"])
def test_unknown_names(name):
    with pytest.raises(InputError, match=r"there is no data set .*`otherhalf datasets` lists the names"):
        BenchmarkData.named(name)


def test_unknown_protocols():
    with pytest.raises(InputError, match="there is no split 'random': choose one of uniform"):
        BenchmarkData.named("cora", "random")


def test_graphs_outside_the_catalogue():
    benchmark = BenchmarkData.of(GRAPH, "uniform", "roc_auc")
    assert (benchmark.data, benchmark.metric) == (GRAPH.name, "roc_auc")
    assert benchmark.data_hash == GRAPH.fingerprint
    assert BenchmarkData.of(replace(GRAPH, name=""), "uniform").data == "graph"


def test_a_graph_that_only_has_the_name_of_a_data_set():
    own = replace(GRAPH, name="tolokers")
    assert catalogue_name(own) == ""
    benchmark = BenchmarkData.of(own, "uniform")
    assert benchmark.metric == "accuracy"  # the metric of the real one is ROC-AUC
    assert benchmark.data_hash != BenchmarkData.named("tolokers").data_hash


def test_a_graph_of_the_catalogue_has_the_metric_of_the_catalogue(monkeypatch):
    sizes = {"nodes": 60, "edges": GRAPH.num_edges, "classes": 3, "features": 4}
    entry = replace(DATASETS["tolokers"], fingerprint=GRAPH.fingerprint, **sizes)
    monkeypatch.setitem(DATASETS, "tolokers", entry)
    known = replace(GRAPH, name="tolokers")
    assert BenchmarkData.of(known, "uniform", "accuracy").metric == "roc_auc"


def test_other_content_is_other_data():
    changed = replace(GRAPH, y=np.roll(GRAPH.y, 1))
    assert BenchmarkData.of(changed, "uniform") != BenchmarkData.of(GRAPH, "uniform")


@pytest.mark.usefixtures("no_data")
def test_keys_stay_what_they_are():
    """Records are found by them: if one changed, every experiment would run again."""
    cora = BenchmarkData.named("cora")
    baseline = cora.job("trial", "gcn", candidates("gcn", 1)[0], 50)
    assert baseline.key == "59f58cbe462e48e71a9e6f9d026a3a3f8164a91a80f4f30b5d00795de6b1e730"
    assert cora.job("trial", "goal", {}, 50).key == (
        "cb603835771088dcb7a39d01310b1fd57bb72b0e2d9845709fc60f0cc9620dc4"
    )
    assert cora.job("trial", "goal", candidates("goal", 3)[2], 50).key == (
        "f5df023350fcf9939f8705def79a55fca3f52784f5a19f5147fce70253de0934"
    )
    assert cora.job("fit", "goal", {}, 0).key == (
        "9fe8f9d2a5af332ad82cab3e3e5060233adf234a27f5d77144f55de4253d8afb"
    )


@pytest.mark.usefixtures("no_data")
def test_a_second_name_has_the_job_of_its_model():
    cora = BenchmarkData.named("cora")
    assert cora.job("fit", "goal-embedding", {}, 0) == cora.job("fit", "goal", {}, 0)


def test_a_job_without_a_model():
    job = BenchmarkData.of(GRAPH, "uniform").task_job("audit", {"a": 1}, 3)
    assert (job.task, job.model, job.options, job.split, job.seed) == ("audit", "", {"a": 1}, "uniform", 3)
