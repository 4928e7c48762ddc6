"""Fixtures of the tests of experiments."""

import pytest

from otherhalf.experiments.runner import benchmark_data
from otherhalf.experiments.runner.job import Outcome
from otherhalf.experiments.runner.store import Store


@pytest.fixture
def records(tmp_path):
    """An empty store for made-up results: ``records.put(job, test=0.8)``."""

    class Records(Store):
        def put(self, job, **result):
            self.add(job, Outcome(result, 1.0, 100.0, 1))

    return Records(tmp_path / "records")


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """A computer without data sets; loading one fails the test."""

    def fail(name):
        raise AssertionError(f"{name} was loaded")

    monkeypatch.setenv("OTHERHALF_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("OTHERHALF_CACHE", str(tmp_path / "nothing"))
    monkeypatch.setattr(benchmark_data, "load", fail)
