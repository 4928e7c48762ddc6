import json
from dataclasses import replace

import pytest
from scipy.stats import t

from otherhalf.data.catalog import load
from otherhalf.data.entries import DATASETS
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.compare import compare
from otherhalf.experiments.runner.graphs import GraphFolder, hash_of
from otherhalf.experiments.runner.job import Outcome
from otherhalf.experiments.runner.models import GOAL_DEFAULT
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
        self.noise = None

    def run(self, jobs):
        self.jobs += jobs
        for job in jobs:
            if self.store.has(job):
                continue
            result = {"val": len(json.dumps(job.options["params"])) / 1000, "epochs": 1}
            if job.task in ("fit", "averaged"):
                test = TESTS[job.model] + (self.noise(job) if self.noise else job.seed / 100)
                test = None if job.model in self.undefined else test
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
        default = GOAL_DEFAULT if row["model"] == "goal" else candidates(row["model"], 1)[0]
        assert row["settings"] == default
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
    assert table.columns == [
        "",
        "test",
        "validation",
        "GOAL minus it",
        "adjusted p",
        "against GOAL",
        "settings",
    ]
    assert table.rows[0][3:6] == ["", "", ""]
    # No p: the difference is the same on every split.
    assert table.rows[1][3:] == ["+20.00", "", "too few splits to tell", "defaults"]
    assert table.notes[1].startswith("No model can be tested against GOAL: a test needs three or more splits")


def test_without_goal(workbench):
    found = compare(GRAPH, ["mlp", "gcn"], workbench, runs=2)
    assert all("goal_minus_model" not in row for row in found.values()["rows"])
    assert all(row["verdict"] is None for row in found.values()["rows"])
    assert found.table().columns == ["", "test", "validation", "settings"]
    assert found.table().notes == ["In percent, mean ± standard deviation (ddof 1)."]


def test_goals_embedding_beside_goal(workbench, data_dir, monkeypatch):
    tuned = {"goal": Tuned({"preset": "paper"}, 0.8, 8)}
    monkeypatch.setattr("otherhalf.experiments.compare.read_tuned", lambda data, folder: tuned)
    found = compare(load("texas"), ["goal", "goal-embedding"], workbench, runs=2)
    assert [row["model"] for row in found.values()["rows"]] == ["goal", "goal-embedding"]
    assert {job.model for job in workbench.jobs} == {"goal"}
    assert [job.options["params"] for job in workbench.jobs[::2]] == [GOAL_DEFAULT, {"preset": "paper"}]
    assert [row["settings_from"] for row in found.values()["rows"]] == ["defaults", "tuned before"]


def test_a_budget_is_the_same_for_every_model(workbench):
    found = compare(GRAPH, ["mlp", "gcn", "goal"], workbench, runs=2, budget=4)
    trials = {job.key: job for job in workbench.jobs if job.task == "trial"}.values()
    for model in ("mlp", "gcn"):
        assert [sum(j.model == model and j.seed == s for j in trials) for s in (50, 51, 52)] == [4, 2, 2]
    assert not any(job.model == "goal" for job in trials)  # it chooses for itself
    for row in found.values()["rows"]:
        assert row["settings_from"] == ("defaults" if row["model"] == "goal" else "best of 4")
        fits = [job for job in workbench.jobs if job.task == "fit" and job.model == row["model"]]
        assert all(job.options["params"] == row["settings"] for job in fits)
    assert found.values()["rows"][0]["settings"]  # not the defaults, then


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
    assert not any("test" in note for note in found.table().notes[1:])
    assert found.table().rows[1][4:6] == ["", "too few splits to tell"]


def test_the_one_split_of_a_table(workbench):
    graph = published(1, kind="column")
    found = compare(graph, ["gcn", "goal"], workbench, runs=2, split="given", budget=2)
    assert found.title.endswith("accuracy, 2 run(s) on the given split")
    assert "All runs are on one split" in found.table().notes[0]
    other = replace(graph, fixed_splits=(replace(split(GRAPH, seed=5), kind="column", seed=None),))
    assert hash_of(other, "given") != hash_of(graph, "given")  # another split is another run


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
        (GRAPH, {"metric": "f1"}, "metric must be one of accuracy, roc_auc, "),
        (GRAPH, {"budget": 10**6}, "trials cannot be made"),
        (GRAPH, {"ensemble": 1}, "ensemble must be an integer ≥ 2, not 1"),
        (GRAPH, {"ensemble": 2.5}, "ensemble must be an integer ≥ 2, not 2.5"),
        (GRAPH, {"margin": 0.0}, "margin must be a number > 0, not 0.0"),
        (GRAPH, {"margin": float("nan")}, "margin must be a number > 0, not nan"),
        (contextual_sbm(60, 3, 4), {"metric": "top_3"}, "top-3 accuracy needs at least 4 classes"),
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


# ---------------------------------------------------------------------- tests and ensembles


def noise(job):
    """MLP is 30 points below GOAL, give or take 1; GCN is equal to it, and on every second split 1 better."""
    odd = job.seed % 2
    return {"mlp": 0.02 * odd - 0.01, "gcn": 0.2 + 0.01 * odd, "goal": 0.0}[job.model]


def test_tests_against_goal(workbench):
    workbench.noise = noise
    found = compare(GRAPH, ["mlp", "gcn", "goal"], workbench, runs=6)
    rows = {row["model"]: row for row in found.values()["rows"]}
    assert (rows["mlp"]["verdict"], rows["gcn"]["verdict"]) == ("worse", "too few splits to tell")
    assert rows["mlp"]["p_value_adjusted"] == pytest.approx(2 * rows["mlp"]["goal_minus_model"]["p"])
    assert rows["gcn"]["p_value_adjusted"] == rows["gcn"]["goal_minus_model"]["p"]
    assert rows["gcn"]["detectable"] == pytest.approx(0.0136, abs=1e-4)
    nothing = {"p_value_adjusted": None, "verdict": None, "detectable": None}
    assert {key: rows["goal"][key] for key in nothing} == nothing
    assert (found.values()["ensemble"], found.values()["margin"]) == (None, 0.01)

    # GCN: six differences of mean −0.005 and deviation √0.00003, so |t| = 0.005 / √((1/6 + 1/3) · 0.00003).
    assert rows["gcn"]["p_value_adjusted"] == pytest.approx(2 * t.sf(1.291, 5), abs=1e-4)
    table = found.table()
    assert {row[0]: row[3:6] for row in table.rows} == {
        "GOAL": ["", "", ""],
        "MLP": ["+30.00", "< 0.001", "worse"],
        "GCN": ["-0.50", "0.253", "too few splits to tell (detects 1.36)"],
    }
    note = table.notes[1]
    assert "against GOAL: corrected resampled t-test" in note
    assert "adjusted for 2 comparison(s) by Holm's method" in note
    assert "Tied: two one-sided tests" in note
    assert "less than 1 percentage point(s)" in note
    assert "Too few splits to tell: neither is shown" in note
    assert "one test at 5% detects with these splits in 80% of cases" in note


def test_a_wider_margin(workbench):
    workbench.noise = noise
    found = compare(GRAPH, ["gcn", "goal"], workbench, runs=6, margin=0.04)
    assert found.values()["rows"][0]["verdict"] == "tied"
    assert found.table().rows[0][3:6] == ["-0.50", "0.253", "tied"]  # GCN is above GOAL
    assert "less than 4 percentage point(s)" in found.table().notes[1]


def test_an_ensemble_of_each_model_but_goal(workbench):
    found = compare(GRAPH, ["mlp", "gcn", "goal"], workbench, runs=2, ensemble=5)
    tasks = {(job.model, job.task, job.options.get("members")) for job in workbench.jobs}
    assert tasks == {("mlp", "averaged", 5), ("gcn", "averaged", 5), ("goal", "fit", None)}
    assert found.values()["ensemble"] == 5
    assert [row["model"] for row in found.values()["rows"]] == ["mlp", "gcn", "goal"]
    assert [row[0] for row in found.table().rows] == ["GOAL", "GCN ×5", "MLP ×5"]
    assert "GOAL is an ensemble of several models. ×5: the class" in " ".join(found.table().notes)


def test_an_ensemble_without_goal(workbench):
    workbench.undefined = ("gcn",)
    notes = compare(GRAPH, ["mlp", "gcn"], workbench, runs=2, ensemble=3).table().notes
    assert notes[1].startswith("×3: the class probabilities are the mean of 3 fits")
    assert notes[-1] == "Left out, because there is not a score for every split: GCN ×3."


def test_a_search_is_made_with_single_models(workbench):
    compare(GRAPH, ["gcn"], workbench, runs=1, budget=2, ensemble=3)
    trials = [job for job in workbench.jobs if job.task == "trial"]
    assert trials
    assert not any("members" in job.options for job in trials)


@pytest.mark.parametrize(
    ("models", "told"), [(["gcn", "goal"], True), (["goal"], False), (["gcn"], False)], ids=str
)
def test_the_reader_is_told_that_goal_is_an_ensemble(workbench, models, told):
    notes = " ".join(compare(GRAPH, models, workbench, runs=1).table().notes)
    sentence = "the others are single models: --ensemble M gives each of them M members."
    assert (sentence in notes) == told
