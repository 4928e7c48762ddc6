"""Reading and writing settings, and the settings that come with the package."""

import tomllib
from pathlib import Path

import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.models import configuration, title_of
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning.search import SEEDS, Tuned, candidates, search, search_seeds
from otherhalf.experiments.tuning.tuned import (
    PACKAGED_SETTINGS,
    packaged_settings,
    params_of,
    read_tuned,
    settings_to_keep,
    write_tuned,
)

STORE = Store(Path(__file__).parents[3] / "results" / "runs")
PACKAGED = sorted(PACKAGED_SETTINGS.glob("*/*.toml"))


@pytest.mark.parametrize("model", ["goal", "gcn", "appnp", "chebynet", "trees"])
def test_what_is_written_is_read(tmp_path, model):
    for params in candidates(model, 12):
        path = write_tuned("cora", {model: Tuned(params, 0.87123412, 8)}, SEEDS, tmp_path)
        assert path == tmp_path / "cora.toml"
        assert read_tuned("cora", tmp_path) == {model: Tuned(params, 0.871234, 8)}


def test_odd_values(tmp_path):
    params = {
        "text": 'a "quoted" \\ back\nslash – ünïcödé 😀 # no comment',
        "empty": "",
        "yes": True,
        "no": False,
        "whole": 10**15,
        "small": 5e-05,
        "tiny": 1e-300,
        "large": 1e22,
        "negative": -0.5,
        "several": [0.5, 2, 0.1, 0.1],
        "parts": {"kind": "gcn", "lr": 5e-05, "residual": False, "more": {"none": [], "nothing": {}}},
    }
    write_tuned("cora", {"goal": Tuned(params, 0.5, 1)}, (50,), tmp_path)
    read = read_tuned("cora", tmp_path)["goal"].params
    assert read == params
    assert {name: type(value) for name, value in read.items()} == {
        name: type(value) for name, value in params.items()
    }


def test_a_file_has_the_papers_numbers_and_a_header(tmp_path):
    choices = {"gcn": Tuned({}, 0.8, 6), "linkx": Tuned({}, 0.7, 6)}
    text = write_tuned("cora", choices, SEEDS, tmp_path).read_text(encoding="utf-8")
    assert text.startswith(
        "# Settings of every model on cora, found by `otherhalf search`: the best of 6 trials"
    )
    assert "splits 50, 51, 52" in text
    assert all(len(line) <= 110 for line in text.splitlines())
    content = tomllib.loads(text)
    assert content["gcn"]["paper"] == 87.5
    assert "paper" not in content["linkx"]


def test_models_that_were_not_searched_are_kept(tmp_path):
    write_tuned("actor", {"gcn": Tuned({"lr": 0.1}, 0.5, 8), "mlp": Tuned({}, 0.4, 8)}, SEEDS, tmp_path)
    write_tuned("actor", {"mlp": Tuned({"lr": 0.2}, 0.6, 8)}, SEEDS, tmp_path)
    tuned = read_tuned("actor", tmp_path)
    assert tuned == {"gcn": Tuned({"lr": 0.1}, 0.5, 8), "mlp": Tuned({"lr": 0.2}, 0.6, 8)}
    assert list(tuned) == sorted(tuned)
    assert set(settings_to_keep("actor", ["mlp"], 8, tmp_path)) == {"gcn"}


def test_models_of_one_file_have_the_same_number_of_trials(tmp_path):
    write_tuned("actor", {"gcn": Tuned({}, 0.5, 8), "mlp": Tuned({}, 0.4, 8)}, SEEDS, tmp_path)
    before = (tmp_path / "actor.toml").read_bytes()
    with pytest.raises(
        InputError, match=r"actor.toml has gcn as the best of 8 trials.* search with 8 trials"
    ):
        write_tuned("actor", {"mlp": Tuned({}, 0.6, 20)}, SEEDS, tmp_path)
    assert (tmp_path / "actor.toml").read_bytes() == before
    write_tuned("actor", {"gcn": Tuned({}, 0.7, 20), "mlp": Tuned({}, 0.6, 20)}, SEEDS, tmp_path)
    assert {tuned.trials for tuned in read_tuned("actor", tmp_path).values()} == {20}


def test_without_a_search_there_is_nothing(tmp_path):
    assert read_tuned("cora", tmp_path) == {}
    assert read_tuned("cora", tmp_path / "none") == {}


@pytest.mark.parametrize(
    "content",
    [
        b"[gcn\n",
        b"gcn = 3\n",
        b"gcn = 'text'\n",
        b"[gcn]\nvalidation = 0.5\ntrials = 8\n",
        b"[gcn]\nvalidation = 0.5\n[gcn.params]\n",
        b"[gcn]\n[gcn.params]\n",
        b"[gcn]\ntrials = 8\nvalidation = 'much'\n[gcn.params]\n",
        b"[gcn]\ntrials = 8\nvalidation = 0.5\nparams = 3\n",
        b"\xff\xfe",
    ],
)
def test_a_damaged_file(tmp_path, content):
    (tmp_path / "cora.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"cora.toml cannot be read .*: write it again"):
        read_tuned("cora", tmp_path)
    with pytest.raises(InputError, match=r"cora.toml cannot be read"):  # it must not lose the content
        write_tuned("cora", {"mlp": Tuned({}, 0.5, 8)}, SEEDS, tmp_path)
    assert (tmp_path / "cora.toml").read_bytes() == content


def test_unequal_numbers_of_trials_are_a_mistake(tmp_path):
    unequal = {"gcn": Tuned({}, 0.5, 8), "goal": Tuned({}, 0.6, 9)}
    with pytest.raises(ValueError, match="the same number of trials"):
        write_tuned("cora", unequal, SEEDS, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_second_name_has_the_settings_of_its_model():
    tuned = {"goal": Tuned({"preset": "paper"}, 0.9, 8)}
    assert params_of(["goal-embedding"], tuned) == {"goal-embedding": {"preset": "paper"}}
    assert params_of(["goal-embedding"], {}) == {"goal-embedding": candidates("goal", 1)[0]}


def test_models_without_a_search_have_their_defaults():
    tuned = {"gcn": Tuned({"hidden": 17}, 0.5, 8)}
    assert params_of(["gcn", "mlp", "goal"], tuned) == {
        "gcn": {"hidden": 17},
        "mlp": candidates("mlp", 1)[0],
        "goal": {},
    }


# ---------------------------------------------------------------------- the settings of the package


@pytest.mark.parametrize("path", PACKAGED, ids=[f"{path.parent.name}-{path.stem}" for path in PACKAGED])
def test_packaged_settings_can_be_used(path):
    settings = read_tuned(path.stem, path.parent)
    assert settings
    for model, tuned in settings.items():
        title_of(model)
        assert 0 < tuned.validation <= 1
        assert tuned.trials == next(iter(settings.values())).trials
        assert configuration(model, tuned.params, "accuracy", path.stem)["params"] == tuned.params


@pytest.mark.usefixtures("no_data")
@pytest.mark.parametrize("path", PACKAGED, ids=[f"{path.parent.name}-{path.stem}" for path in PACKAGED])
def test_packaged_settings_are_the_best_of_the_recorded_trials(path):
    split = path.parent.name
    assert path.parent == packaged_settings(split)
    benchmark = BenchmarkData.named(path.stem, split)

    def recorded(jobs):
        assert [job.model for job in jobs if not STORE.has(job)] == []

    for model, tuned in read_tuned(path.stem, path.parent).items():
        pairs = [(model, benchmark)]
        (best,) = search(pairs, STORE, recorded, trials=tuned.trials, seeds=search_seeds(split))
        assert best.params == tuned.params, model
        assert best.validation == pytest.approx(tuned.validation, abs=1e-6), model
