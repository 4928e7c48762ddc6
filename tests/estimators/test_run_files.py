"""The files of a fit in its folder: what is refused, and what a process that dies leaves to the next."""

import json
import os

import pytest

from otherhalf.errors import InputError
from otherhalf.estimators.model_folder import MODEL_FILE
from otherhalf.estimators.run_files import RunFiles, complete_earlier

IDENTITY = "0123456789abcdef" * 4


def weights(letter):
    return f"weights-{letter * 16}.safetensors"


OLD = {
    "result.json": json.dumps({"run": "older", "half_rows": 3, "report": True, "weights": weights("a")}),
    "half.csv": "old",
    "report.json": "old",
    "predictions.csv": "old",
}


def write(folder, letter, **files):
    """Write a model, whose weights have this letter in their name, and other files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / weights(letter)).write_text(letter)
    (folder / MODEL_FILE).write_text(json.dumps({"weights": weights(letter)}))
    for name, text in files.items():
        (folder / name).write_text(text)


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def staged(folder, **files):
    """A fit whose outcome is whole, beside an older one."""
    write(folder, "a", **OLD)
    (folder / weights("b")).write_text("the user's own")
    run = RunFiles(folder, IDENTITY)
    run.begin(anew=True)
    write(run.empty_outcome(), "c", **files, **{"result.json": "new", "predictions.csv": "new"})
    return run


NEW = {
    weights("b"): "the user's own",
    weights("c"): "c",
    MODEL_FILE: json.dumps({"weights": weights("c")}),
    "result.json": "new",
    "predictions.csv": "new",
}


MORE = [{}, {"half.csv": "new"}, {"report.json": "new"}, {"half.csv": "new", "report.json": "new"}]
"""Files that an outcome may have or not; those of the older one go in both cases."""


@pytest.mark.parametrize("more", MORE)
def test_an_outcome_replaces_the_older_one_and_nothing_of_the_user(tmp_path, more):
    run = staged(tmp_path, **more)
    run.publish()
    assert contents(tmp_path) == NEW | more
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("moved", range(7))
def test_the_next_process_moves_the_rest(tmp_path, monkeypatch, moved, more):
    staged(tmp_path, **more)
    calls, replace = [], os.replace

    def dies(source, target):
        if len(calls) == moved:
            raise KeyboardInterrupt
        calls.append(source)
        replace(source, target)

    monkeypatch.setattr(os, "replace", dies)
    if moved < 4 + len(more):
        with pytest.raises(KeyboardInterrupt):
            RunFiles(tmp_path, IDENTITY).publish()
        assert contents(tmp_path)["result.json"] == OLD["result.json"]  # the last that is moved
    monkeypatch.undo()
    complete_earlier(tmp_path)
    assert contents(tmp_path) == NEW | more


@pytest.mark.parametrize("name", ["half.csv", "report.json"])
def test_a_file_of_the_user_stays(tmp_path, name):
    (tmp_path / name).write_text("the user's own")
    run = RunFiles(tmp_path, IDENTITY)
    run.begin(anew=True)
    write(run.empty_outcome(), "c", **{"result.json": "new", "predictions.csv": "new"})
    run.publish()
    assert contents(tmp_path)[name] == "the user's own"


def test_a_partial_outcome_is_forgotten(tmp_path):
    run = RunFiles(tmp_path, IDENTITY)
    run.begin(anew=True)
    write(run.empty_outcome(), "c", **{"predictions.csv": "new"})
    complete_earlier(tmp_path)
    assert contents(tmp_path) == {}
    assert list(run.empty_outcome().iterdir()) == []


def test_the_state_of_the_same_fit_is_kept_unless_it_starts_anew(tmp_path):
    run, other = RunFiles(tmp_path, IDENTITY), RunFiles(tmp_path, "f" * 64)
    for each in (run, other):
        each.begin(anew=True)
        (each.state / "head.safetensors").write_text("state")
    run.begin(anew=False)
    assert (run.state / "head.safetensors").exists()
    run.begin(anew=True)
    assert list(run.state.iterdir()) == []
    assert (other.state / "head.safetensors").exists()


class TestFinished:
    def run(self, folder, text):
        (folder / "result.json").write_text(text)
        return RunFiles(folder, IDENTITY)

    def test_the_result_of_this_fit(self, tmp_path):
        result = {"run": IDENTITY, "value": 1}
        assert self.run(tmp_path, json.dumps(result)).finished(lambda each: each["value"]) == result

    def test_of_another_fit(self, tmp_path):
        run = self.run(tmp_path, json.dumps({"run": "other"}))
        with pytest.raises(InputError, match="holds a finished fit of other data"):
            run.finished(str)
        run.begin(anew=True)  # one that was to replace it, and was stopped
        assert run.finished(str) is None

    @pytest.mark.parametrize(
        "text",
        ["", "[]", "null", "{", "[" * 100_000, "9" * 5000, '"\xff"', json.dumps({"run": IDENTITY})],
    )
    def test_damaged(self, tmp_path, text):
        with pytest.raises(InputError, match=r"result\.json .*: delete it, or start without --resume"):
            self.run(tmp_path, text).finished(lambda each: each["value"])

    def test_a_result_of_another_number_of_threads(self, tmp_path):
        run = self.run(tmp_path, json.dumps({"run": IDENTITY, "threads": 4096}))
        with pytest.raises(InputError, match="of a fit with 4096 thread"):
            run.finished(str)

    def test_nothing_there(self, tmp_path):
        run = RunFiles(tmp_path, IDENTITY)
        assert run.finished(str) is None
        RunFiles(tmp_path, "f" * 64).begin(anew=True)
        with pytest.raises(InputError, match="holds a stopped fit with other data, settings or seed"):
            run.finished(str)


@pytest.mark.parametrize("name", ["result.json", "half.csv", "predictions.csv", "model.json", "checkpoints"])
def test_things_in_the_way_are_noticed_before_the_fit(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name} is not a f.*: remove it, or give another --out"):
        RunFiles(tmp_path, IDENTITY).check()
