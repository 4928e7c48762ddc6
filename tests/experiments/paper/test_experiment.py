import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.paper.experiment import Request
from otherhalf.experiments.paper.table1 import PublishedSplits, Table1

pytestmark = pytest.mark.usefixtures("no_data")
TABLE1 = Table1()


def test_the_default_is_the_entire_experiment():
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
def test_wrong_requests(datasets, models, runs, message):
    with pytest.raises(InputError, match=message):
        TABLE1.request(datasets, models, runs)


def test_there_are_only_so_many_published_splits():
    assert PublishedSplits().request(runs=10).runs == 10
    with pytest.raises(InputError, match="have 10 each: give 10 runs or less"):
        PublishedSplits().request(runs=11)


def test_only_runs_that_may_be_missing_need_no_record(records):
    class Part(Table1):
        def may_be_missing(self, job):
            return job.seed > 0

    request = Part().request(["cora"], ["gcn"], 3)
    first, _, third, *audits = Part().jobs(request)
    assert Part().reported(request, records) == [first, audits[0]]
    records.put(third, test=0.5)
    assert Part().reported(request, records) == [first, third, audits[0]]


def test_an_experiment_without_models():
    class WithoutModels(Table1):
        models = ()

    with pytest.raises(InputError, match="table1 has no models to choose among"):
        WithoutModels().request(models=["gcn"])
