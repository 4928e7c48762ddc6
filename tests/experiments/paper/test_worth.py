import json

import pytest
from scipy.stats import t

from otherhalf.errors import InputError
from otherhalf.experiments.paper.table1 import PublishedSplits, Table1
from otherhalf.experiments.paper.worth import PARTS, Worth
from otherhalf.experiments.runner.models import GOAL_DEFAULT

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = Worth()
NODES = {"train": 60, "val": 20, "test": 20}


def put(records, data, params, tests):
    request = ABOUT.request([data], runs=len(tests))
    jobs = [job for job in ABOUT.jobs(request) if job.options["params"] == params]
    for job, test in zip(jobs, tests, strict=True):
        records.put(job, test=test, val=0.5, nodes=NODES)


def test_every_variant_differs_from_the_default_in_one_setting():
    default, *variants = ABOUT.jobs(ABOUT.request(["cora"], runs=1))
    assert default.options["params"] == GOAL_DEFAULT
    assert len(variants) == len(PARTS) == 9
    usual = default.options["settings"]["ensemble"]
    for job, part in zip(variants, PARTS.values(), strict=True):
        assert job.options["params"] == {"method": "kernel", "ensemble": part.left_out}
        settings = job.options["settings"]
        assert {**settings, "ensemble": usual} == default.options["settings"]
        changed = {name: value for name, value in settings["ensemble"].items() if value != usual[name]}
        assert changed == part.left_out
        assert len(changed) == 1


@pytest.mark.parametrize("table", [Table1(), PublishedSplits()], ids=lambda table: table.name)
def test_the_default_is_the_run_of_the_table(table):
    known = {job.key for job in table.jobs(table.request(models=["goal"], runs=5))}
    jobs = ABOUT.jobs(ABOUT.request(list(table.datasets)))
    defaults = [job for job in jobs if job.options["params"] == GOAL_DEFAULT]
    assert len(defaults) == 5 * len(table.datasets)
    assert {job.key for job in defaults} <= known


def test_parts_are_chosen_as_models():
    request = ABOUT.request(["cora", "texas"], ["half-none", "folds"], 2)
    jobs = ABOUT.jobs(request)
    assert len(jobs) == 12  # the default and two variants, two splits each, on two data sets
    assert {(job.task, job.model) for job in jobs} == {("fit", "goal")}
    assert {(job.data, job.split) for job in jobs} == {("cora", "uniform"), ("texas", "fixed")}
    assert [json.dumps(job.options["params"].get("ensemble")) for job in jobs[:6:2]] == [
        "null",
        '{"half": "none"}',
        '{"folds": 1}',
    ]


@pytest.mark.parametrize(
    ("datasets", "models", "runs", "message"),
    [
        (None, ["gcn"], None, "worth has no part 'gcn': choose among half-none, half-random, messages"),
        (["dblp"], None, None, "worth is not about dblp"),
        (None, None, 11, "graphs with published splits have 10 each: give 10 runs or less"),
    ],
)
def test_wrong_requests(datasets, models, runs, message):
    with pytest.raises(InputError, match=message):
        ABOUT.request(datasets, models, runs)


def test_a_cell_has_the_difference_and_its_interval(records):
    default = [0.80, 0.82, 0.84]
    put(records, "cora", GOAL_DEFAULT, default)
    put(records, "cora", PARTS["half-none"].params, [0.75, 0.76, 0.80])
    put(records, "cora", PARTS["trees"].params, [0.80, 0.80, 0.88])
    put(records, "cora", PARTS["folds"].params, default)
    put(records, "actor", PARTS["trees"].params, default)  # the default has not been run
    request = ABOUT.request(["cora", "actor"], ["half-none", "trees", "folds", "plain"], 3)
    table = ABOUT.table(request, records)
    # Differences 5, 6 and 4 points: mean 5, deviation 1, error √(1/3 + 1/3); t with 2 degrees of freedom.
    reach = t.ppf(0.975, 2) * (2 / 3) ** 0.5
    assert table.columns == ["", "cora", "actor"]
    assert table.rows == [
        ["the found half", f"**+5.00**\n[{5 - reach:.2f}, {5 + reach:.2f}]", "–"],
        ["trees", "-0.67\n[-11.40, 10.07]", "–"],
        ["several trainings", "+0.00\n[0.00, 0.00]", "–"],
        ["plain models", "–", "–"],
    ]
    values = ABOUT.values(request, records)
    assert json.loads(json.dumps(values)) == values
    cora = values["datasets"]["cora"]
    assert (cora["split"], cora["metric"]) == ("uniform", "accuracy")
    assert cora["parts"]["half-none"] == pytest.approx(
        {"mean": 0.05, "low": 0.05 - reach / 100, "high": 0.05 + reach / 100, "runs": 3}
    )
    assert cora["parts"]["plain"] == {"mean": None, "low": None, "high": None, "runs": 0}


def test_the_first_three_splits_are_shown_while_others_are_missing(records):
    put(records, "cora", GOAL_DEFAULT, [0.80, 0.82, 0.84, 0.10, 0.10])
    put(records, "cora", PARTS["trees"].params, [0.75, 0.76, 0.80])
    put(records, "cora", PARTS["folds"].params, [0.75, 0.76])
    request = ABOUT.request(["cora"], ["trees", "folds"], 5)
    reach = t.ppf(0.975, 2) * (2 / 3) ** 0.5
    assert ABOUT.table(request, records).rows == [
        ["trees", f"**+5.00**\n[{5 - reach:.2f}, {5 + reach:.2f}]\n3 splits"],
        ["several trainings", "–"],
    ]
    parts = ABOUT.values_of("cora", request, records)["parts"]
    assert (parts["trees"]["runs"], parts["folds"]["runs"]) == (3, 0)


def test_two_splits_have_no_interval(records):
    put(records, "cora", GOAL_DEFAULT, [0.80, 0.82])
    put(records, "cora", PARTS["plain"].params, [0.79, 0.80])
    request = ABOUT.request(["cora"], ["plain"], 2)
    assert ABOUT.table(request, records).rows == [["plain models", "+1.50"]]
    assert ABOUT.values_of("cora", request, records)["parts"]["plain"]["low"] is None


@pytest.mark.parametrize(
    ("datasets", "text"),
    [
        (["cora"], "uniform."),
        (["texas"], "fixed."),
        (["cora", "texas", "tolokers"], "fixed for texas, tolokers, uniform for the others."),
    ],
)
def test_the_notes_have_protocol_and_interval(records, datasets, text):
    notes = ABOUT.table(ABOUT.request(datasets), records).notes
    assert "mean over 5 split(s), paired split by split" in notes[0]
    assert "the 95% interval of the corrected resampled t-test" in notes[0]
    assert notes[0].endswith(f"are those of its table: {text}")
    assert "around 0 on every data set is worth nothing that 5 split(s) can show" in notes[1]
    assert "one in 20 leaves out 0" in notes[1]


def test_nothing_needs_to_be_run_before_the_page_is_made(records):
    request = ABOUT.request(["cora"])
    assert ABOUT.reported(request, records) == []
    put(records, "cora", GOAL_DEFAULT, [0.8] * 5)
    assert len(ABOUT.reported(request, records)) == 5
