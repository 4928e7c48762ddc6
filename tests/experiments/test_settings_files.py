"""The settings that come with the package are what the recorded trials say."""

from pathlib import Path

import pytest

from otherhalf.experiments.found import OWN_FOLDER, read_found
from otherhalf.experiments.settings_search import search, search_seeds
from otherhalf.experiments.store import Store
from otherhalf.experiments.subject import Subject

STORE = Store(Path(__file__).parents[2] / "results" / "runs")
FILES = sorted(OWN_FOLDER.glob("*/*.toml"))

pytestmark = pytest.mark.usefixtures("no_data")


def test_there_are_some():
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_a_file_is_what_the_trials_say(path):
    split = path.parent.name
    subject = Subject.named(path.stem, split)
    for model, found in read_found(path.stem, path.parent).items():

        def recorded(jobs, model=model):
            missing = sum(not STORE.has(job) for job in jobs)
            assert not missing, f"{missing} trials of {model} have no record"

        pairs = [(model, subject)]
        (choice,) = search(pairs, STORE, recorded, trials=found.trials, seeds=search_seeds(split))
        assert choice.params == found.params, model
        assert choice.validation == pytest.approx(found.validation, abs=1e-6), model
