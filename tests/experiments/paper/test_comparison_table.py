import json
from dataclasses import replace

import pytest

from otherhalf.data.entries import DATASETS
from otherhalf.errors import InputError
from otherhalf.experiments.comparison import Comparison
from otherhalf.experiments.paper.comparison_table import check_published_splits
from otherhalf.experiments.paper.table1 import PublishedSplits, Table1
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.models import GOAL_DEFAULT
from otherhalf.experiments.tuning.search import Tuned, candidates
from otherhalf.training.metrics import METRICS, Metric

pytestmark = pytest.mark.usefixtures("no_data")
TABLE1 = Table1()
NODES = {"train": 6, "val": 2, "test": 2}
READ_TUNED = "otherhalf.experiments.paper.comparison_table.read_tuned"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """No settings come with the package."""
    monkeypatch.setattr(READ_TUNED, lambda data, folder: {})


MORE = {"encoder": "gcn", "encoder_share": 0.25, "leaderboard": [{"member": "trees", "weight": 1.0}]}


def put(records, request, experiment=TABLE1, **scores):
    """Add made-up runs, ``gcn=[0.7, 0.8]``, on every data set of the request."""
    for comparison in experiment.comparisons(request):
        for model, tests in scores.items():
            for job, test in zip(comparison.jobs_by_model[model], tests, strict=True):
                records.put(job, test=test, val=0.75, nodes=NODES, **MORE)


def put_audits(records, request, experiment=TABLE1):
    """Add audits: neighbours are better on average, features on the second of two splits."""
    for job in experiment.jobs(request):
        if job.task == "audit":
            lookups = {
                "features": {"accuracy": 0.3, "roc_auc": 0.6, "answerable_share": 0.25},
                "neighbours": {"accuracy": 0.5 - 0.3 * job.seed, "roc_auc": None, "answerable_share": 0.5},
            }
            records.put(job, kinds=lookups)


# ---------------------------------------------------------------------- jobs


def test_the_jobs():
    request = TABLE1.request(["cora", "actor"], ["gcn", "goal"], 3)
    jobs = TABLE1.jobs(request)
    fits = [job for job in jobs if job.task == "fit"]
    assert {(job.data, job.model, job.seed) for job in fits} == {
        (data, model, seed) for data in ("cora", "actor") for model in ("gcn", "goal") for seed in range(3)
    }
    assert {job.options["params"].get("hidden") for job in fits if job.model == "gcn"} == {64}
    assert sum(job.task == "audit" for job in jobs) == 6
    assert len(jobs) == 18
    assert {job.split for job in jobs} == {"uniform"}


def test_tuned_settings_are_used(monkeypatch):
    tuned = {"gcn": Tuned({"hidden": 17}, 0.8, 8)}
    monkeypatch.setattr(READ_TUNED, lambda data, folder: tuned)
    (comparison,) = TABLE1.comparisons(TABLE1.request(["cora"], ["gcn", "mlp"], 1))
    assert comparison.settings == {"gcn": {"hidden": 17}, "mlp": candidates("mlp", 1)[0]}


def test_goal_has_its_default_and_the_embedding_its_tuned_settings(monkeypatch):
    tuned = {"goal": Tuned({"preset": "paper"}, 0.8, 8)}
    monkeypatch.setattr(READ_TUNED, lambda data, folder: tuned)
    request = TABLE1.request(["cora"], ["goal", "goal-embedding", "trees"], 1)
    goal, embedding, trees, _ = TABLE1.jobs(request)
    cora = BenchmarkData.named("cora")
    assert goal.key == cora.job("fit", "goal", GOAL_DEFAULT, 0).key
    assert embedding.key == cora.job("fit", "goal", {"preset": "paper"}, 0).key
    assert trees.key == cora.job("fit", "trees", candidates("trees", 1)[0], 0).key


def test_goal_and_trees_may_be_incomplete(records):
    request = TABLE1.request(["cora"], ["gcn", "goal", "goal-embedding", "trees"], 2)
    jobs = {
        name: each
        for comparison in TABLE1.comparisons(request)
        for name, each in comparison.jobs_by_model.items()
    }
    audits = [job for job in TABLE1.jobs(request) if job.task == "audit"]
    assert TABLE1.reported(request, records) == [*jobs["gcn"], *jobs["goal-embedding"], *audits]
    records.put(jobs["goal"][1], test=0.5)
    records.put(jobs["trees"][0], test=0.5)
    assert TABLE1.reported(request, records) == [
        *jobs["gcn"],
        jobs["goal"][1],
        *jobs["goal-embedding"],
        jobs["trees"][0],
        *audits,
    ]


def test_more_runs_than_published_splits():
    check_published_splits(10, {"uniform", "fixed"})
    check_published_splits(11, {"uniform"})
    with pytest.raises(InputError, match="graphs with published splits have 10 each: give 10 runs or less"):
        check_published_splits(11, {"uniform", "fixed"})
    assert TABLE1.request(runs=11).runs == 11


# ---------------------------------------------------------------------- the table


def test_the_table(records):
    request = TABLE1.request(["cora"], ["gcn", "goal", "goal-embedding", "linkx", "mlp", "trees"], 2)
    scores = {"goal": [0.88, 0.88], "goal-embedding": [0.70, 0.72]}
    put(records, request, gcn=[0.87, 0.89], linkx=[0.60, 0.62], **scores)
    put_audits(records, request)
    table = TABLE1.table(request, records)
    assert table.columns == ["", "cora"]
    assert table.rows == [
        ["GCN", "**88.00 ± 1.41**\n87.50 (+0.50)"],
        ["GOAL", "**88.00 ± 0.00**\n88.75 (-0.75)"],
        ["GOAL, embedding", "71.00 ± 1.41\n88.75 (-17.75)"],
        ["LINKX", "61.00 ± 1.41"],
        ["MLP", "–"],
        ["Trees on the graph as a table", "–"],
        ["identical nodes looked up", "35.00 ± 21.21\n50% of test nodes"],
    ]


def test_the_notes(records):
    request = TABLE1.request(["cora"], ["gcn", "goal", "goal-embedding"], 3)
    scores = {"goal": [0.88, 0.88, 0.88], "goal-embedding": [0.5, 0.5, 0.5]}
    put(records, request, gcn=[0.90, 0.91, 0.89], **scores)
    numbers, lookup, untuned, verdicts, members, encoders = TABLE1.table(request, records).notes
    assert "over 3 uniform split(s)" in numbers
    assert "Under it the paper's number" in numbers
    assert lookup.startswith("Identical nodes looked up: ")
    assert untuned == "With defaults, because no search has been made: all models but GOAL."
    assert verdicts.startswith(
        "Its mean is lower, with too few splits to tell, on cora: GCN by 2.00 (p = 0.13). "
    )
    assert members.endswith("): cora trees 1.00.")
    assert encoders.endswith("): cora gcn 0.25.")


def test_without_records_only_the_protocol_is_in_the_notes(records):
    tuned = {"goal": Tuned({}, 0.8, 8)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(READ_TUNED, lambda data, folder: tuned)
        notes = TABLE1.table(TABLE1.request(["cora"], ["goal", "goal-embedding"], 3), records).notes
    assert [note.split(" ")[0] for note in notes] == ["Test", "Identical"]


def test_an_encoder_that_is_not_blended(records, monkeypatch):
    tuned = {"goal": Tuned({"preset": "paper"}, 0.8, 8)}
    monkeypatch.setattr(READ_TUNED, lambda data, folder: tuned)
    request = TABLE1.request(["cora"], ["goal-embedding"], 2)
    put(records, request, **{"goal-embedding": [0.88, 0.88]})
    assert TABLE1.table(request, records).notes[-1].endswith("): cora gcn left out.")


def test_models_without_a_search_are_in_the_notes(records, monkeypatch):
    request = TABLE1.request(["cora", "actor"], ["gcn", "mlp"], 1)
    note = TABLE1.table(request, records).notes[2]
    assert note == "With defaults, because no search has been made: all models."
    tuned = {"gcn": Tuned({"hidden": 17}, 0.8, 8)}
    monkeypatch.setattr(READ_TUNED, lambda data, folder: tuned if data == "cora" else {})
    note = TABLE1.table(request, records).notes[2]
    assert note == "With defaults, because no search has been made: MLP; on actor all models."


def test_an_unfinished_model_is_a_dash(records):
    request = TABLE1.request(["cora"], ["gcn"], 3)
    put(records, TABLE1.request(["cora"], ["gcn"], 2), gcn=[0.8, 0.9])
    assert TABLE1.table(request, records).rows == [["GCN", "–"], ["identical nodes looked up", "–"]]
    assert TABLE1.values(request, records)["datasets"]["cora"]["rows"] == []


def test_values(records):
    request = TABLE1.request(["cora"], ["gcn", "goal", "goal-embedding", "linkx"], 3)
    scores = {"goal": [0.88, 0.89, 0.87], "goal-embedding": [0.8, 0.8, 0.8]}
    put(records, request, gcn=[0.86, 0.87, 0.88], linkx=[0.6, 0.6, 0.6], **scores)
    values = TABLE1.values(request, records)
    assert json.loads(json.dumps(values)) == values
    assert (values["experiment"], values["split"], values["runs"]) == ("table1", "uniform", 3)
    assert values["datasets"]["cora"]["split"] == "uniform"
    rows = {row["model"]: row for row in values["datasets"]["cora"]["rows"]}
    assert list(rows) == ["gcn", "goal", "goal-embedding", "linkx"]
    assert rows["gcn"]["mean"] == pytest.approx(0.87)
    assert rows["gcn"]["std"] == pytest.approx(0.01)
    assert rows["gcn"]["gap"] == pytest.approx(-0.5)
    assert rows["gcn"]["goal_minus_model"]["mean"] == pytest.approx(0.01)
    assert rows["linkx"]["verdict"] == "worse"
    assert rows["gcn"]["verdict"] == "too few splits to tell"
    assert rows["gcn"]["p_value_adjusted"] >= rows["gcn"]["goal_minus_model"]["p"]
    assert "goal_minus_model" not in rows["goal"]
    assert rows["goal"]["verdict"] is None
    assert "paper" not in rows["linkx"]


def test_short_names_in_the_heading(records):
    request = TABLE1.request(["computers", "photo"], ["gcn"], 1)
    assert TABLE1.table(request, records).columns == ["", "computers", "photo"]


def test_published_splits(records):
    about = PublishedSplits()
    request = about.request(["texas", "tolokers"], ["gcn", "goal"], 2)
    put(records, request, about, gcn=[0.5, 0.6], goal=[0.7, 0.6])
    table = about.table(request, records)
    assert table.rows[1] == ["GOAL", "**65.00 ± 7.07**", "**65.00 ± 7.07**"]  # the paper has no number
    assert table.notes[0].startswith("Test accuracy, for tolokers ROC-AUC, in percent")
    assert "paper" not in table.notes[0]
    metrics = {name: each["metric"] for name, each in about.values(request, records)["datasets"].items()}
    assert metrics == {"texas": "accuracy", "tolokers": "roc_auc"}


def test_the_look_up_has_the_metric_of_the_models(records):
    about = PublishedSplits()
    request = about.request(["texas", "tolokers"], ["gcn"], 2)
    put_audits(records, request, about)
    assert about.table(request, records).rows[-1] == [
        "identical nodes looked up",
        "35.00 ± 21.21\n50% of test nodes",
        "60.00 ± 0.00\n25% of test nodes",  # by ROC-AUC, which is undefined for the best by accuracy
    ]


def test_the_look_up_is_left_out_where_it_has_no_score_by_the_metric(records, monkeypatch):
    """A third metric ended in "a record has 'nothing' where the number belongs"."""
    monkeypatch.setitem(METRICS, "f1", Metric("f1", "macro-F1", lambda scores, y: 0.0))
    monkeypatch.setitem(DATASETS, "texas", replace(DATASETS["texas"], metric="f1"))
    about = PublishedSplits()
    request = about.request(["texas"], ["gcn"], 2)
    put_audits(records, request, about)
    assert about.table(request, records).rows[-1] == ["identical nodes looked up", "–"]


def test_rows_are_computed_once(records, monkeypatch):
    """The cells and the notes use the same rows."""
    computed = []
    rows = Comparison.rows
    monkeypatch.setattr(Comparison, "rows", lambda self, store: computed.append(self) or rows(self, store))
    TABLE1.table(TABLE1.request(["cora", "actor"], ["gcn"], 1), records)
    assert len(computed) == 2
