import json
from dataclasses import replace

import pytest

from otherhalf.data.catalog import load
from otherhalf.data.entries import DATASETS
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.compare import compare
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.experiments.runner.job import Outcome
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning.search import TRIALS, Tuned, candidates

GRAPH = replace(contextual_sbm(60, 2, 4, homophily=0.2, seed=1), name="toy")
NODES = {"train": 36, "val": 12, "test": 12}
TESTS = {"mlp": 0.5, "gcn": 0.6, "goal": 0.8}


class FakeWorkbench:
    """Makes up results: the more settings, the better the validation score."""

    def __init__(self, folder):
        self.store = Store(folder)
        self.graphs = GraphFolder(folder / "graphs")
        self.jobs = []
        self.undefined = ()

    def run(self, jobs):
        self.jobs += jobs
        for job in jobs:
            if self.store.has(job):
                continue
            result = {"val": len(json.dumps(job.options["params"])) / 1000, "epochs": 1}
            if job.task == "fit":
                test = None if job.model in self.undefined else TESTS[job.model] + job.seed / 100
                result |= {"test": test, "nodes": NODES}
            self.store.add(job, Outcome(result, 1.0, 1.0, 1))


@pytest.fixture
def workbench(tmp_path):
    return FakeWorkbench(tmp_path / "runs")


def test_values(workbench):
    found = compare(GRAPH, ["mlp", "gcn", "goal"], workbench, runs=3)
    assert {job.seed for job in workbench.jobs} == {0, 1, 2}
    assert {(job.task, job.data, job.split) for job in workbench.jobs} == {("fit", "toy", "uniform")}
    values = found.values()
    assert json.loads(json.dumps(values)) == values
    assert (values["name"], values["split"], values["metric"]) == ("toy", "uniform", "accuracy")
    assert values["missing"] == []
    assert [row["model"] for row in values["rows"]] == ["mlp", "gcn", "goal"]
    for row in values["rows"]:
        assert {"model", "mean", "std", "runs", "settings", "settings_from"} <= set(row)
        assert (row["runs"], row["settings_from"]) == (3, "defaults")
        assert row["settings"] == candidates(row["model"], 1)[0]
    assert values["rows"][0]["mean"] == pytest.approx(0.51)
    assert values["rows"][0]["goal_minus_model"]["mean"] == pytest.approx(0.3)


def test_the_table_has_the_best_first(workbench):
    found = compare(GRAPH, ["mlp", "gcn", "goal"], workbench, runs=3)
    assert found.title == "toy: accuracy, 3 uniform split(s)"
    table = found.table()
    assert [row[:2] for row in table.rows] == [
        ["GOAL", "**81.00 ± 1.00**"],
        ["GCN", "61.00 ± 1.00"],
        ["MLP", "51.00 ± 1.00"],
    ]
    assert table.rows[0][3:5] == ["", ""]
    assert table.rows[1][3:] == ["+20.00", "", "defaults"]  # no p: the difference is the same on every split


def test_without_goal(workbench):
    found = compare(GRAPH, ["mlp", "gcn"], workbench, runs=2)
    assert all("goal_minus_model" not in row for row in found.values()["rows"])
    assert found.table().columns == ["", "test", "validation", "settings"]
    assert "t-test" not in found.table().notes[0]


def test_a_budget_is_the_same_for_every_model(workbench):
    found = compare(GRAPH, ["mlp", "gcn", "goal"], workbench, runs=2, budget=4)
    trials = {job.key: job for job in workbench.jobs if job.task == "trial"}.values()
    for model in ("mlp", "gcn", "goal"):
        assert [sum(j.model == model and j.seed == s for j in trials) for s in (50, 51, 52)] == [4, 2, 2]
    for row in found.values()["rows"]:
        assert row["settings_from"] == "best of 4"
        fits = [job for job in workbench.jobs if job.task == "fit" and job.model == row["model"]]
        assert all(job.options["params"] == row["settings"] for job in fits)
    assert found.values()["rows"][2]["settings"]  # not the defaults, then


def test_a_model_without_a_score_is_missing(workbench):
    workbench.undefined = ("gcn",)
    found = compare(GRAPH, ["mlp", "gcn"], workbench, runs=2, metric="roc_auc")
    assert found.values()["missing"] == ["gcn"]
    assert found.table().notes[-1] == "Left out, because there is not a score for every split: GCN."


def test_packaged_settings_are_for_the_data_set_with_that_content(workbench, monkeypatch):
    settings = {"gcn": Tuned({"hidden": 17}, 0.9, 8)}
    monkeypatch.setattr("otherhalf.experiments.compare.read_tuned", lambda data, folder: settings)
    named = replace(GRAPH, name="texas")
    assert compare(named, ["gcn"], workbench, runs=1).values()["rows"][0]["settings_from"] == "defaults"
    sizes = {"nodes": 60, "edges": GRAPH.num_edges, "classes": 2, "features": 4}
    entry = replace(DATASETS["texas"], fingerprint=GRAPH.fingerprint, **sizes)
    monkeypatch.setitem(DATASETS, "texas", entry)
    rows = compare(named, ["gcn", "mlp"], workbench, runs=1).values()["rows"]
    assert [row["settings_from"] for row in rows] == ["tuned before", "defaults"]
    assert rows[0]["settings"] == {"hidden": 17}


def published(count, kind="fixed"):
    splits = tuple(replace(split(GRAPH, seed=i), kind=kind, seed=i) for i in range(count))
    return replace(GRAPH, fixed_splits=splits)


def test_published_splits(workbench):
    found = compare(published(2), ["gcn"], workbench, runs=2, split="fixed", budget=2)
    assert found.values()["rows"][0]["runs"] == 2
    assert {job.seed for job in workbench.jobs} == {0, 1}  # the search has no third split either


def test_the_public_split(workbench):
    found = compare(published(1, kind="public"), ["gcn", "goal"], workbench, runs=2, split="public")
    assert found.title.endswith("accuracy, 2 run(s) on the public split")
    assert "All runs are on one split" in found.table().notes[0]


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (GRAPH, {"split": "random"}, "there is no split 'random'"),
        (GRAPH, {"split": "fixed"}, "toy comes without fixed splits"),
        (
            published(2),
            {"split": "fixed", "runs": 3},
            "2 fixed split.*too few for 3 runs: give 2 runs or less",
        ),
        (GRAPH, {"metric": "f1"}, "metric must be one of accuracy, roc_auc, not 'f1'"),
        (GRAPH, {"budget": 10**6}, "trials cannot be made"),
        (contextual_sbm(60, 3, 4), {"metric": "roc_auc"}, "ROC-AUC needs 2 classes"),
    ],
)
def test_wrong_input_is_an_error_before_anything_runs(workbench, graph, options, message):
    with pytest.raises(InputError, match=message):
        compare(graph, ["mlp"], workbench, **{"runs": 2, **options})
    assert workbench.jobs == []


def test_a_budget_of_all_listed_trials(workbench):
    compare(GRAPH, ["gcn"], workbench, runs=1, budget=TRIALS)
    tried = [job.options["params"] for job in workbench.jobs if job.task == "trial" and job.seed == 50]
    assert all(params in tried for params in candidates("gcn", TRIALS))


def test_a_graph_outside_the_catalogue_is_put_where_runs_find_it(workbench):
    compare(GRAPH, ["mlp"], workbench, runs=1)
    assert workbench.graphs.open("toy", GRAPH.fingerprint).num_nodes == 60


def test_a_data_set_of_the_catalogue_is_not_written_again(workbench, data_dir):
    compare(load("texas"), ["mlp"], workbench, runs=1)
    assert not workbench.graphs.folder.exists()
