import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.paper.directed import Directed

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = Directed()
NODES = {"train": 6, "val": 2, "test": 2}
LOOKUP = {"accuracy": 0.8, "roc_auc": None, "answerable_share": 0.75}


def test_the_protocol_of_each_graph_is_that_without_direction():
    jobs = ABOUT.jobs(ABOUT.request(runs=1))
    assert {(job.data, job.split) for job in jobs} == {
        ("chameleon_directed", "uniform"),
        ("squirrel_directed", "uniform"),
        ("chameleon_filtered_directed", "fixed"),
        ("squirrel_filtered_directed", "fixed"),
    }
    assert {(job.task, job.model) for job in jobs} == {("fit", "goal"), ("fit", "trees"), ("audit", "")}
    assert {job.options["params"]["method"] for job in jobs if job.model == "goal"} == {"kernel"}


def test_there_are_only_so_many_published_splits():
    assert ABOUT.request(["chameleon_directed"], runs=11).runs == 11
    with pytest.raises(InputError, match="give 10 runs or less"):
        ABOUT.request(runs=11)


def test_the_table(records):
    request = ABOUT.request(["chameleon_directed", "squirrel_filtered_directed"], runs=2)
    for comparison in ABOUT.comparisons(request):
        for job in comparison.jobs_by_model["goal"]:
            records.put(job, test=0.81 + job.seed / 50, val=0.8, nodes=NODES)
    for job in ABOUT.jobs(request):
        if job.task == "audit":
            records.put(job, kinds={"out_neighbours": LOOKUP})
    table = ABOUT.table(request, records)
    assert table.rows == [
        ["GOAL", *["**82.00 ± 1.41**"] * 2],
        ["Trees on the graph as a table", "–", "–"],
        ["identical nodes looked up", *["80.00 ± 0.00\n75% of test nodes"] * 2],
        ["best published, fixed splits", "80.3", "–"],
    ]
    numbers, published, lookup = table.notes[:3]
    assert "over 2 split(s), uniform, for squirrel_filtered_directed fixed; the best" in numbers
    assert "the protocols differ" in published
    assert lookup.endswith("The graphs are directed: the same out-neighbours are tried too.")
    values = ABOUT.values(request, records)
    assert "split" not in values
    found = values["datasets"]
    assert [found[data]["best_published"] for data in request.datasets] == [80.3, None]
    assert [found[data]["split"] for data in request.datasets] == ["uniform", "fixed"]


def test_nothing_needs_to_be_run_before_the_page_is_made(records):
    request = ABOUT.request(["chameleon_directed"], runs=1)
    assert ABOUT.reported(request, records) == []
    goal, *_ = ABOUT.jobs(request)
    records.put(goal, test=0.8)
    assert ABOUT.reported(request, records) == [goal]
