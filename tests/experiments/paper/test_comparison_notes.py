import pytest

from otherhalf.experiments.comparison import Comparison
from otherhalf.experiments.paper.comparison_notes import (
    encoder_note,
    lookup_note,
    members_note,
    numbers_note,
    untuned_note,
    verdict_note,
)
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.training.metrics import METRICS, Metric

NODES = {"train": 60, "val": 20, "test": 20}
GOAL = [0.80, 0.82, 0.78, 0.81, 0.79]
LEVELS = {"much worse": -0.1, "much better": 0.1, "the same": 0.0}
WIGGLE = [0.001, -0.001, 0.002, -0.002, 0.0]


def comparison(data="toy", split="uniform", metric="accuracy", models=("gcn", "mlp", "goal")):
    settings = {model: {"method": "kernel"} if model == "goal" else {} for model in models}
    return Comparison(BenchmarkData(data, "hash", split, metric), settings, 5)


def compared(records, each, **more):
    """Add made-up runs, ``gcn="much worse"``, and return the comparison with its rows."""
    scores = {
        model: [a + LEVELS[what] + b for a, b in zip(GOAL, WIGGLE, strict=True)]
        if isinstance(what, str)
        else what
        for model, what in more.items()
    }
    for model, tests in {"goal": GOAL, **scores}.items():
        for job, test in zip(each.jobs_by_model[model], tests, strict=True):
            records.put(job, test=test, val=0.5, nodes=NODES)
    return each, {row.model: row for row in each.rows(records)}


# ---------------------------------------------------------------------- protocol


def numbers(*comparisons, paper=False):
    return numbers_note(comparisons, 5, paper)


def test_the_numbers():
    assert numbers(comparison()) == (
        "Test accuracy in percent, mean ± standard deviation (ddof 1) over 5 uniform split(s); the best mean "
        "of each column is bold."
    )
    assert numbers(comparison(), paper=True).endswith(
        "Under it the paper's number and, in brackets, ours less the paper's."
    )


def test_every_metric_is_named(monkeypatch):
    monkeypatch.setitem(METRICS, "f1", Metric("f1", "macro F1", METRICS["accuracy"].function))
    metrics = {"a": "accuracy", "b": "roc_auc", "c": "accuracy", "d": "f1", "e": "roc_auc", "g": "accuracy"}
    note = numbers(*(comparison(data, metric=metric) for data, metric in metrics.items()))
    assert note.startswith("Test accuracy, for b and e ROC-AUC, for d macro F1, in percent")
    assert numbers(comparison(metric="roc_auc")).startswith("Test ROC-AUC in percent")


def test_every_protocol_is_named():
    note = numbers(comparison("a"), comparison("b", "fixed"), comparison("c"))
    assert "over 5 split(s), uniform, for b fixed; the best" in note


def test_the_direction_of_the_edges():
    assert lookup_note(["a", "b"], []).endswith("have one. The graphs are undirected.")
    assert "The graphs are directed: the same out-neighbours are tried too." in lookup_note(["a"], ["a"])
    mixed = lookup_note(["a", "b", "c"], ["b", "c", "d"])
    assert mixed.endswith("Directed, where the same out-neighbours are tried too: b and c; not the others.")


@pytest.mark.parametrize(
    ("untuned", "models", "text"),
    [
        ({"a": [], "b": []}, ["gcn", "mlp"], None),
        ({"a": ["goal"], "b": ["goal"]}, ["gcn", "goal"], None),  # it chooses by itself
        ({"a": ["trees"], "b": ["trees"]}, ["gcn", "trees"], "Trees on the graph as a table"),
        ({"a": ["trees", "goal"]}, ["goal", "trees"], "Trees on the graph as a table"),
        ({"a": ["gcn"], "b": []}, ["gcn", "mlp"], "on a GCN"),
        ({"a": ["gcn", "mlp"], "b": []}, ["gcn", "mlp"], "on a all models"),
        ({"a": ["gcn", "mlp", "goal"]}, ["gcn", "mlp", "goal"], "all models but GOAL"),
        (
            {"a": ["gcn", "trees"], "b": ["trees"], "c": ["gcn", "mlp", "trees"]},
            ["gcn", "mlp", "trees"],
            "Trees on the graph as a table; on a GCN; on c all models",
        ),
    ],
)
def test_models_without_a_search(untuned, models, text):
    expected = "" if text is None else f"With defaults, because no search has been made: {text}."
    assert untuned_note(untuned, models) == expected


# ---------------------------------------------------------------------- verdicts


def test_goal_is_first(records):
    found = compared(records, comparison(), gcn="much worse", mlp=GOAL)
    note = verdict_note([found])
    assert note.startswith(
        "GOAL is first on toy (better than 1 of 2, tied with 1). The tests are against GOAL: "
    )
    assert "adjusted by Holm's method for the models of a column. Better or beaten: adjusted p < 0.05" in note
    assert "a difference of less than 1 percentage point(s)." in note


def test_models_above_goal(records):
    tied = [score + 0.0005 + more for score, more in zip(GOAL, WIGGLE, strict=True)]
    unclear = [0.80, 0.78, 0.81, 0.79, 0.83]
    note = verdict_note(
        [
            compared(records, comparison("a"), gcn="much better", mlp="much worse"),
            compared(records, comparison("b"), gcn=tied, mlp=unclear),
            compared(records, comparison("c"), gcn="much worse", mlp="much worse"),
        ]
    )
    assert note.startswith(
        "GOAL is first on c (better than 2 of 2). GOAL is tied, though its mean is lower, on b: GCN by 0.05 "
    )
    assert "Its mean is lower, with too few splits to tell, on b: MLP by 0.20 (p = 1.00). " in note
    assert "GOAL is beaten on a: GCN by 10.00 (p < 0.01). The tests" in note


def test_a_smaller_score_may_be_the_better_one(records, monkeypatch):
    loss = Metric("loss", "loss", lambda scores, y: 0.0, larger_is_better=False)
    monkeypatch.setitem(METRICS, "loss", loss)
    note = verdict_note([compared(records, comparison(metric="loss"), gcn="much worse", mlp="much better")])
    assert note.startswith("GOAL is beaten on toy: GCN by 10.00")


def test_without_tests_they_are_not_explained(records):
    each = Comparison(BenchmarkData("toy", "hash"), {"gcn": {}, "goal": {"method": "kernel"}}, 1)
    for model, test in (("gcn", 0.5), ("goal", 0.6)):
        records.put(each.jobs_by_model[model][0], test=test, val=0.5, nodes=NODES)
    assert verdict_note([(each, {row.model: row for row in each.rows(records)})]) == "GOAL is first on toy."


def test_without_goal_or_without_others_there_is_nothing_to_say(records):
    each = comparison()
    assert verdict_note([(each, {})]) == ""
    assert verdict_note([compared(records, each)]) == ""


# ---------------------------------------------------------------------- what GOAL is made of


def put_members(records, each, *boards):
    for job, board in zip(each.jobs_by_model["goal"], boards, strict=True):
        rows = [{"member": member, "weight": weight} for member, weight in board.items()]
        records.put(job, test=0.5, leaderboard=rows)


def test_the_mean_weight_of_each_kind_of_member(records):
    each, other = comparison(), comparison("other")
    one = {"GCN": 0.25, "ACM-GCN+": 0.25, "GOAL": 0.5, "trees": 0.0}
    two = {"spread": 0.5, "label propagation": 0.3, "GCN, deep": 0.2}
    put_members(records, each, one, one, one, one, two)
    note = members_note([(each, {}), (other, {})], records)
    assert note.startswith(
        "GOAL is an ensemble, the others are single models; it chooses its members by itself"
    )
    assert note.endswith("): toy plain 0.44, both halves 0.40, spread 0.10, propagation 0.06.")


def test_without_all_records_the_weights_are_left_out(records):
    each = comparison()
    records.put(each.jobs_by_model["goal"][0], test=0.5, leaderboard=[{"member": "trees", "weight": 1.0}])
    assert members_note([(each, {})], records) == ""
    assert members_note([(comparison(models=("gcn",)), {})], records) == ""


def test_the_encoder_is_of_goals_embedding(records):
    each = comparison(models=("goal", "goal-embedding"))
    for job, encoder in zip(each.jobs_by_model["goal-embedding"], "ggagg", strict=True):
        records.put(job, test=0.5, encoder={"g": "gcn", "a": "appnp"}[encoder], encoder_share=0.25)
    note = encoder_note([(each, {})], records)
    assert note.startswith("GOAL, embedding finds the half in the paper's way. Its encoder")
    assert note.endswith("): toy gcn, appnp 0.25.")
    assert members_note([(each, {})], records) == ""
