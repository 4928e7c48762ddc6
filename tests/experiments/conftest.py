"""What the tests of the paper's tables and figures share."""

import pytest

from otherhalf.experiments.runner import benchmark_data as benchmark
from otherhalf.experiments.runner.job import Outcome
from otherhalf.experiments.runner.store import Store


@pytest.fixture
def records(tmp_path):
    """An empty store that made-up results can be put into: ``records.put(job, test=0.8)``."""

    class Records(Store):
        def put(self, job, **result):
            self.add(job, Outcome(result, 1.0, 100.0, 1))

    return Records(tmp_path / "records")


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """A computer without any data set, on which to open one is an error."""

    def refuse(name):
        raise AssertionError(f"{name} was opened")

    monkeypatch.setenv("OTHERHALF_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("OTHERHALF_CACHE", str(tmp_path / "nothing"))
    monkeypatch.setattr(benchmark, "load", refuse)
