import pytest

from otherhalf.experiments.paper.table1 import PublishedSplits, Table1
from otherhalf.experiments.runner.models import compared_models

pytestmark = pytest.mark.usefixtures("no_data")
TABLE1 = Table1()
NODES = {"train": 6, "val": 2, "test": 2}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """No settings come with the package."""
    monkeypatch.setattr("otherhalf.experiments.paper.comparison_table.read_tuned", lambda data, folder: {})


def put(records, data, **scores):
    """Add made-up runs on ten splits, ``gcn=0.7``, of one data set."""
    (comparison,) = TABLE1.comparisons(TABLE1.request([data]))
    for model, test in scores.items():
        for job in comparison.jobs_by_model[model]:
            records.put(job, test=test, val=0.75, nodes=NODES)


@pytest.mark.parametrize("experiment", [TABLE1, PublishedSplits()])
def test_the_models(experiment):
    assert tuple(name for name in experiment.models if name != "goal-embedding") == compared_models()
    after_goal = experiment.models[experiment.models.index("goal") + 1]
    assert after_goal == "goal-embedding"


def test_the_protocols():
    assert {job.split for job in TABLE1.jobs(TABLE1.request(runs=1))} == {"uniform"}
    about = PublishedSplits()
    assert {job.split for job in about.jobs(about.request(runs=1))} == {"fixed"}


OTHERS = {model: 0.5 for model in TABLE1.models if model not in ("goal", "goal-embedding", "gat", "trees")}


def test_the_short_table(records):
    put(records, "cora", **OTHERS, goal=0.88, gat=0.89)
    put(records, "actor", **OTHERS, goal=0.88, gat=0.87)
    put(records, "pubmed", **OTHERS, goal=0.9)  # without gat the best is unknown
    put(records, "citeseer", **OTHERS, gat=0.7)
    table = TABLE1.short_table(records)
    assert table.columns == ["", "the paper's GOAL", "GOAL", "the best of the others"]
    rows = {row[0]: row[1:] for row in table.rows}
    assert set(rows) == set(TABLE1.datasets)
    assert rows["cora"] == ["88.75", "88.00 ± 0.00", "**89.00 ± 0.00 GAT**"]
    assert rows["actor"] == ["36.46", "**88.00 ± 0.00**", "87.00 ± 0.00 GAT"]
    assert rows["pubmed"] == ["89.25", "90.00 ± 0.00", "–"]
    assert rows["citeseer"] == ["77.15", "–", "70.00 ± 0.00 GAT"]
    assert rows["squirrel"] == ["60.53", "–", "–"]


def test_goals_embedding_is_neither_goal_nor_one_of_the_others(records):
    put(records, "cora", **OTHERS, gat=0.7, **{"goal-embedding": 0.9})
    assert TABLE1.short_table(records).rows[0] == ["cora", "88.75", "–", "70.00 ± 0.00 GAT"]


def test_trees_are_among_the_others_if_they_were_run(records):
    put(records, "cora", **OTHERS, goal=0.8, gat=0.7, trees=0.75)
    best = "75.00 ± 0.00 Trees on the graph as a table"
    assert TABLE1.short_table(records).rows[0] == ["cora", "88.75", "**80.00 ± 0.00**", best]
