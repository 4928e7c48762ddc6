"""The settings that come with the package are what the recorded trials say."""

from pathlib import Path

import pytest

from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning.search import search, search_seeds
from otherhalf.experiments.tuning.tuned import PACKAGED_SETTINGS, read_tuned

STORE = Store(Path(__file__).parents[3] / "results" / "runs")
FILES = sorted(PACKAGED_SETTINGS.glob("*/*.toml"))

pytestmark = pytest.mark.usefixtures("no_data")


def test_there_are_some():
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_a_file_is_what_the_trials_say(path):
    split = path.parent.name
    benchmark = BenchmarkData.named(path.stem, split)
    for model, found in read_tuned(path.stem, path.parent).items():

        def recorded(jobs, model=model):
            missing = sum(not STORE.has(job) for job in jobs)
            assert not missing, f"{missing} trials of {model} have no record"

        pairs = [(model, benchmark)]
        (choice,) = search(pairs, STORE, recorded, trials=found.trials, seeds=search_seeds(split))
        assert choice.params == found.params, model
        assert choice.validation == pytest.approx(found.validation, abs=1e-6), model
