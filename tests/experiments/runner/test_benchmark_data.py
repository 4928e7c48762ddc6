from dataclasses import replace

import numpy as np
import pytest

from otherhalf.data.catalog import load
from otherhalf.data.entries import DATASETS
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.runner.benchmark_data import BenchmarkData, data_hash, in_catalogue
from otherhalf.experiments.tuning.search import candidates

GRAPH = contextual_sbm(60, 3, 4, homophily=0.2, seed=1)


def with_splits(graph=GRAPH, *seeds):
    published = tuple(replace(split(graph, seed=seed), kind="fixed", seed=i) for i, seed in enumerate(seeds))
    return replace(graph, fixed_splits=published)


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


def test_what_the_catalogue_says_is_what_the_file_says(data_dir):
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


def test_own_graphs():
    benchmark = BenchmarkData.of(GRAPH, "uniform", "roc_auc")
    assert (benchmark.data, benchmark.metric) == (GRAPH.name, "roc_auc")
    assert benchmark.data_hash == GRAPH.fingerprint
    assert BenchmarkData.of(replace(GRAPH, name=""), "uniform").data == "graph"


def test_a_graph_that_merely_carries_the_name_is_not_taken_for_it():
    own = replace(GRAPH, name="tolokers")
    assert not in_catalogue(own)
    benchmark = BenchmarkData.of(own, "uniform")
    assert benchmark.metric == "accuracy"  # the real one is judged by ROC-AUC
    assert benchmark.data_hash != BenchmarkData.named("tolokers").data_hash
    assert not in_catalogue(GRAPH)


def test_a_graph_of_the_catalogue_is_judged_as_its_authors_do(monkeypatch):
    monkeypatch.setitem(DATASETS, "tolokers", replace(DATASETS["tolokers"], fingerprint=GRAPH.fingerprint))
    known = replace(GRAPH, name="tolokers")
    assert in_catalogue(known)
    assert BenchmarkData.of(known, "uniform", "accuracy").metric == "roc_auc"


def test_published_splits_belong_to_the_content_where_they_are_used():
    one, other = with_splits(GRAPH, 0, 1), with_splits(GRAPH, 0, 2)
    assert data_hash(one, "uniform") == data_hash(other, "uniform") == GRAPH.fingerprint
    assert data_hash(one, "fixed") != data_hash(other, "fixed")
    assert data_hash(one, "fixed") == data_hash(with_splits(GRAPH, 0, 1), "fixed")
    assert data_hash(GRAPH, "fixed") == GRAPH.fingerprint  # has none, which the run itself will say


def test_other_content_is_another_subject():
    changed = replace(GRAPH, y=np.roll(GRAPH.y, 1))
    assert BenchmarkData.of(changed, "uniform") != BenchmarkData.of(GRAPH, "uniform")


@pytest.mark.usefixtures("no_data")
def test_keys_stay_what_they_are():
    """Records in results/ are found by these: where one changes, every experiment would be run anew."""
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


def test_a_job_without_a_model():
    job = BenchmarkData.of(GRAPH, "uniform").plain_job("audit", {"a": 1}, 3)
    assert (job.task, job.model, job.options, job.split, job.seed) == ("audit", "", {"a": 1}, "uniform", 3)
