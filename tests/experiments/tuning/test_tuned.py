import tomllib

import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.models import check_model, configuration
from otherhalf.experiments.tuning.search import SEEDS, Choice, candidates
from otherhalf.experiments.tuning.tuned import PACKAGED_SETTINGS, Tuned, read_tuned, write_tuned

SHIPPED = sorted(PACKAGED_SETTINGS.glob("*/*.toml"))


@pytest.mark.parametrize("model", ["goal", "gcn", "appnp", "chebynet"])
def test_what_is_written_is_read(tmp_path, model):
    for params in candidates(model, 12):
        path = write_tuned("cora", {model: Choice(params, 0.87123412, 8)}, SEEDS, tmp_path)
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
    write_tuned("cora", {"goal": Choice(params, 0.5, 1)}, (50,), tmp_path)
    found = read_tuned("cora", tmp_path)["goal"].params
    assert found == params
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in params.items()
    }


def test_the_paper_stands_beside_it_and_the_top_says_how_it_was_found(tmp_path):
    choices = {"gcn": Choice({}, 0.8, 6), "linkx": Choice({}, 0.7, 6)}
    text = write_tuned("cora", choices, SEEDS, tmp_path).read_text(encoding="utf-8")
    assert text.startswith(
        "# Settings of every model on cora, found by `otherhalf search`: the best of 6 trials"
    )
    assert "splits 50, 51, 52" in text
    assert all(len(line) <= 110 for line in text.splitlines())
    content = tomllib.loads(text)
    assert content["gcn"]["paper"] == 87.5
    assert "paper" not in content["linkx"]


def test_models_that_were_not_searched_now_stay(tmp_path):
    write_tuned("actor", {"gcn": Choice({"lr": 0.1}, 0.5, 8), "mlp": Choice({}, 0.4, 8)}, SEEDS, tmp_path)
    write_tuned("actor", {"mlp": Choice({"lr": 0.2}, 0.6, 8)}, SEEDS, tmp_path)
    found = read_tuned("actor", tmp_path)
    assert found == {"gcn": Tuned({"lr": 0.1}, 0.5, 8), "mlp": Tuned({"lr": 0.2}, 0.6, 8)}
    assert list(found) == sorted(found)


def test_models_in_one_file_have_had_the_same_number_of_trials(tmp_path):
    write_tuned("actor", {"gcn": Choice({}, 0.5, 8), "mlp": Choice({}, 0.4, 8)}, SEEDS, tmp_path)
    before = (tmp_path / "actor.toml").read_bytes()
    with pytest.raises(
        InputError, match=r"actor.toml has gcn as the best of 8 trials.* search with 8 trials"
    ):
        write_tuned("actor", {"mlp": Choice({}, 0.6, 20)}, SEEDS, tmp_path)
    assert (tmp_path / "actor.toml").read_bytes() == before
    write_tuned("actor", {"gcn": Choice({}, 0.7, 20), "mlp": Choice({}, 0.6, 20)}, SEEDS, tmp_path)
    assert {found.trials for found in read_tuned("actor", tmp_path).values()} == {20}


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
    with pytest.raises(InputError, match=r"cora.toml cannot be read .*: write it anew"):
        read_tuned("cora", tmp_path)
    with pytest.raises(InputError, match=r"cora.toml cannot be read"):  # rather than lose what is in it
        write_tuned("cora", {"mlp": Choice({}, 0.5, 8)}, SEEDS, tmp_path)
    assert (tmp_path / "cora.toml").read_bytes() == content


def test_unequal_numbers_of_trials_are_a_mistake(tmp_path):
    unequal = {"gcn": Choice({}, 0.5, 8), "goal": Choice({}, 0.6, 9)}
    with pytest.raises(ValueError, match="the same number of trials"):
        write_tuned("cora", unequal, SEEDS, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_is_shipped_can_be_used(path):
    found = read_tuned(path.stem, path.parent)
    assert found
    for model, entry in found.items():
        check_model(model)
        assert 0 < entry.validation <= 1
        assert entry.trials == next(iter(found.values())).trials
        assert configuration(model, entry.params, "accuracy", path.stem)["params"] == entry.params
