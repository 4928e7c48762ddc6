from dataclasses import replace

import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.paper.experiment import Request
from otherhalf.experiments.paper.registry import EXPERIMENTS
from otherhalf.experiments.paper.table1 import PublishedSplits, Table1

pytestmark = pytest.mark.usefixtures("no_data")
TABLE1 = Table1()


def test_by_default_the_whole_of_it():
    assert TABLE1.request() == Request(TABLE1.datasets, TABLE1.models, 10)


def test_a_part():
    assert TABLE1.request(["Cora", "film"], ["gcn"], 3) == Request(("cora", "actor"), ("gcn",), 3)


def test_two_spellings_of_a_data_set_are_one():
    assert TABLE1.request(["computers", "amazon_computers", "cora"]).datasets == ("amazon_computers", "cora")


@pytest.mark.parametrize(
    ("datasets", "models", "runs", "message"),
    [
        (["coraa"], None, None, "there is no data set 'coraa': `otherhalf datasets` lists the names"),
        (["texas"], None, None, "table1 is not about texas: choose among cora, citeseer"),
        (None, ["gcnn"], None, "there is no model 'gcnn': choose among"),
        (None, ["structure"], None, "table1 has no structure: choose among mlp"),
        (None, None, 0, "0 runs are too few: give 1 or more"),
    ],
)
def test_what_there_is_not(datasets, models, runs, message):
    with pytest.raises(InputError, match=message):
        TABLE1.request(datasets, models, runs)


def test_there_are_only_so_many_published_splits():
    assert PublishedSplits().request(runs=10).runs == 10
    with pytest.raises(InputError, match="give 10 runs or less"):
        PublishedSplits().request(runs=11)


def test_an_experiment_without_models_refuses_them():
    class WithoutModels(Table1):
        models = ()

    with pytest.raises(InputError, match="table1 has no models to choose among"):
        WithoutModels().request(models=["gcn"])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_can_be_planned_and_shown_without_data_and_records(name, records, tmp_path):
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    assert experiment.title
    request = experiment.request()
    request = replace(request, runs=1)
    jobs = experiment.jobs(request)
    assert jobs
    assert {job.data for job in jobs} <= set(experiment.datasets)
    assert len({job.key for job in jobs}) == len(jobs)
    table = experiment.table(request, records)
    assert "–" in table.markdown()
    assert isinstance(experiment.values(request, records), dict)
    assert experiment.figures(request, records, tmp_path / "figures") == []
