import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.results import all_results, number


def job(seed):
    return Job("fit", "cora", "h", "gcn", {}, "uniform", seed)


def test_all_results(records):
    for seed in (0, 1):
        records.put(job(seed), test=seed / 2)
    assert all_results(records, [job(1), job(0)]) == [{"test": 0.5}, {"test": 0.0}]
    assert all_results(records, [job(0), job(2)]) is None
    assert all_results(records, []) is None


@pytest.mark.parametrize("result", [{}, {"nodes": 3}, {"nodes": {"test": "many"}}, {"nodes": None}])
def test_a_result_without_its_number(result):
    with pytest.raises(InputError, match="where the number nodes/test belongs: restore it"):
        number(result, "nodes", "test")


def test_number():
    assert number({"test": None}, "test") is None
    assert number({"a": {"b": 2}}, "a", "b") == 2
