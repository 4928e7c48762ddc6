import json

import numpy as np
import pytest

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments import tasks
from otherhalf.experiments.paper import arxiv
from otherhalf.experiments.paper.arxiv import SETTINGS, Arxiv
from otherhalf.experiments.paper.published import ARXIV
from otherhalf.experiments.runner import benchmark_data, graphs
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.models import make_model
from otherhalf.graph import Graph, Split

ABOUT = Arxiv()


def tiny(name):
    """A graph with one published split, as ogbn-arxiv has."""
    drawn = contextual_sbm(80, 2, 6, average_degree=6, seed=0)
    parts = np.split(np.random.default_rng(0).permutation(80), [48, 64])
    split = Split(*(np.sort(part) for part in parts), kind="fixed", seed=0)
    return Graph(edges=drawn.edges, x=drawn.x, y=drawn.y, fixed_splits=(split,), name=name)


@pytest.mark.usefixtures("no_data")
def test_without_the_official_files_only_the_other_features_are_planned():
    jobs = ABOUT.jobs(ABOUT.request())
    assert len({job.key for job in jobs}) == 6 * 3
    assert {(job.data, job.split, job.seed) for job in jobs} == {("ogbn_arxiv_tape", "fixed", 0)}
    assert {job.options["model_seed"] for job in jobs} == {0, 1, 2}
    assert {job.model for job in jobs} == set(ARXIV) == set(SETTINGS)
    with pytest.raises(InputError, match="ogbn_arxiv is not on this computer: place"):
        ABOUT.jobs(ABOUT.request(["arxiv"]))


@pytest.mark.usefixtures("no_data")
def test_with_the_official_files_both_are_planned(monkeypatch, tmp_path):
    (tmp_path / "ogbn_arxiv.npz").touch()
    monkeypatch.setenv("OTHERHALF_DATA", str(tmp_path))
    monkeypatch.setattr(benchmark_data, "load", tiny)
    jobs = ABOUT.jobs(ABOUT.request(models=["gcn"]))
    assert [job.data for job in jobs] == ["ogbn_arxiv_tape"] * 3 + ["ogbn_arxiv"] * 3
    assert jobs[-1].data_hash == BenchmarkData.of(tiny("ogbn_arxiv"), "fixed").data_hash


@pytest.mark.usefixtures("no_data")
def test_only_the_official_features_have_the_papers_numbers(records):
    request = ABOUT.request(models=["gcn", "goal"], runs=2)
    official = BenchmarkData("ogbn_arxiv", "known:only:once:read", "fixed")
    for model, tests in {"gcn": [0.70, 0.72], "goal": [0.72]}.items():
        for job, test in zip(arxiv._jobs(official, model, request), tests, strict=False):
            records.put(job, test=test, val=0.7)
    for job in ABOUT.jobs(request):
        records.put(job, test=0.75 if job.model == "goal" else 0.74, val=0.7)
    reported = [job.data for job in ABOUT.reported(request, records)]
    assert reported == ["ogbn_arxiv_tape"] * 4 + ["ogbn_arxiv"] * 4
    table = ABOUT.table(request, records)
    assert table.columns == ["", "TAPE's features", "official features"]
    assert table.rows[0] == ["GCN", "74.00 ± 0.00", "**71.00 ± 1.41**\n70.60 (+0.40)"]
    assert table.rows[1] == ["GOAL", "**75.00 ± 0.00**", "–\n71.25"]
    assert any("never compare that column" in note for note in table.notes)
    values = ABOUT.values(request, records)
    assert json.loads(json.dumps(values)) == values
    assert values["datasets"]["ogbn_arxiv"]["gcn"]["gap"] == pytest.approx(0.4)
    assert "paper" not in values["datasets"]["ogbn_arxiv_tape"]["gcn"]


def test_runs_on_the_one_split_differ_in_the_seed_of_the_model(monkeypatch):
    graph = tiny("ogbn_arxiv_tape")
    monkeypatch.setattr(graphs, "open_data", lambda name: graph)
    short = {"hidden": 8, "layers": 2, "epochs": 5}
    monkeypatch.setitem(SETTINGS, "gcn", short)
    jobs = arxiv._jobs(BenchmarkData.of(graph, "fixed"), "gcn", ABOUT.request(models=["gcn"], runs=2))
    published = graph.fixed_splits[0]
    for seed, job in enumerate(jobs):
        result = tasks.Worker()(job)
        predicted = make_model("gcn", short, seed, "accuracy").fit(graph, published).predict(graph)
        right = predicted[published.test] == graph.classes[graph.y[published.test]]
        assert result["test"] == pytest.approx(right.mean())
        assert result["nodes"] == {"train": 48, "val": 16, "test": 16}


@pytest.mark.parametrize("model", list(ARXIV))
def test_every_model_can_be_trained_with_its_settings(model):
    graph = tiny("ogbn_arxiv_tape")
    short = {**SETTINGS[model], "epochs": 2}
    fitted = make_model(model, short, 0, "accuracy").fit(graph, graph.fixed_splits[0])
    chosen = (fitted.settings_.goal if model == "goal" else fitted.settings_).architecture
    assert (chosen.hidden, chosen.norm, chosen.residual) == (128, "batch", True)
