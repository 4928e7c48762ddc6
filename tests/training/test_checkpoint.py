"""The file of a training's state: what it holds, and which files are refused."""

import json
import os

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load, save, save_file
from torch import nn

from otherhalf.errors import InputError
from otherhalf.training import checkpoint as checkpoint_module
from otherhalf.training.adam import Adam
from otherhalf.training.checkpoint import Checkpoint, History

HISTORY = History(losses=[2.0, 1.0], scores=[[0.5, -2.0], [0.75, -1.0]], best_epoch=1)


def training() -> tuple[nn.Module, Adam]:
    """A model and its optimizer after one step, so that Adam has moments."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    optimizer = Adam([(list(model.parameters()), 0.0)], lr=0.1)
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    return model, optimizer


def saved(path, owner: str = "run") -> Checkpoint:
    model, optimizer = training()
    checkpoint = Checkpoint(path, owner)
    checkpoint.save(
        model, optimizer, {name: 2 * value for name, value in model.state_dict().items()}, HISTORY
    )
    return checkpoint


def test_a_history():
    assert (History().best_score, History().epochs) == ([], 0)
    assert (HISTORY.best_score, HISTORY.epochs) == ([0.75, -1.0], 2)


def test_without_a_file_there_is_nothing_to_restore(tmp_path):
    assert Checkpoint(tmp_path / "state.safetensors", "run").restore(*training()) is None


def test_everything_that_the_next_epoch_depends_on_comes_back(tmp_path):
    checkpoint = saved(tmp_path / "state.safetensors")
    drawn = torch.rand(3)  # with the random numbers as they were when it was saved
    model, optimizer = training()
    expected = [parameter.detach().clone() for parameter in model.parameters()]
    moments = [optimizer.state[parameter]["exp_avg"].clone() for parameter in model.parameters()]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
            optimizer.state[parameter]["exp_avg"].zero_()
    best, history = checkpoint.restore(model, optimizer)
    assert torch.equal(torch.rand(3), drawn)
    assert history == HISTORY
    for parameter, value, moment in zip(model.parameters(), expected, moments, strict=True):
        assert torch.equal(parameter, value)
        assert torch.equal(optimizer.state[parameter]["exp_avg"], moment)
        assert float(optimizer.state[parameter]["step"]) == 1
    assert all(torch.equal(best[name], 2 * value) for name, value in model.state_dict().items())
    assert best.keys() == model.state_dict().keys()


def test_the_file_holds_no_pickle_and_says_whose_it_is(tmp_path):
    checkpoint = saved(tmp_path / "deeper" / "state.safetensors", "the owner")
    with safe_open(checkpoint.path, framework="pt") as file:
        metadata = file.metadata()
    assert metadata["owner"] == "the owner"
    assert History(**json.loads(metadata["history"])) == HISTORY
    assert [path.name for path in checkpoint.path.parent.iterdir()] == ["state.safetensors"]


# ---------------------------------------------------------------------- files that are refused


def refused(checkpoint: Checkpoint) -> str:
    model, optimizer = training()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(InputError) as caught:
        checkpoint.restore(model, optimizer)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(checkpoint.path) in sentence
    assert "without --resume" in sentence
    return sentence


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "state.safetensors"
    saved(path, "one")
    before = path.read_bytes()
    assert "belongs to a run with other data, settings or seed" in refused(Checkpoint(path, "another"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.0, 0.001, 0.05, 0.5, 0.999])
def test_a_truncated_checkpoint_is_refused(tmp_path, share):
    checkpoint = saved(tmp_path / "state.safetensors")
    content = checkpoint.path.read_bytes()
    checkpoint.path.write_bytes(content[: int(share * len(content))])
    assert "cannot be read" in refused(checkpoint)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path / "state.safetensors", "run")
    checkpoint.path.write_bytes(b"something else, of some length")
    assert "cannot be read" in refused(checkpoint)


def test_a_foreign_safetensors_file_is_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path / "state.safetensors", "run")
    save_file({"weights": torch.ones(3)}, checkpoint.path)
    assert "belongs to a run" in refused(checkpoint)


def edited(checkpoint, change=lambda tensors, metadata: None):
    """Change a checkpoint and give it the checksum that belongs to it, as a forger would."""
    content = checkpoint.path.read_bytes()
    tensors, metadata = load(content), checkpoint_module._metadata(content)
    change(tensors, metadata)
    metadata["checksum"] = checkpoint_module._checksum(metadata, tensors)
    checkpoint.path.write_bytes(save(tensors, metadata=metadata))


def test_one_altered_bit_is_noticed(tmp_path):
    checkpoint = saved(tmp_path / "state.safetensors")
    content = bytearray(checkpoint.path.read_bytes())
    for place in (len(content) - 1, len(content) // 2):
        altered = bytearray(content)
        altered[place] ^= 1
        checkpoint.path.write_bytes(altered)
        assert "it was altered after it was written" in refused(checkpoint)


def test_a_checkpoint_laid_out_again_is_accepted(tmp_path):
    checkpoint = saved(tmp_path / "state.safetensors")
    edited(checkpoint)
    assert checkpoint.restore(*training())[1] == HISTORY


@pytest.mark.parametrize(
    "history",
    [
        None,
        [],
        "text",
        {"losses": 1},
        {"losses": ["a"]},
        {"scores": [1.0]},
        {"best_epoch": 2, "scores": [[1.0]]},
        {"best_epoch": "0"},
        {"best_epoch": True},
        {"done": 1},
        {"unknown": 1},
    ],
)
def test_a_history_that_cannot_be_one(tmp_path, history):
    checkpoint = saved(tmp_path / "state.safetensors")
    edited(checkpoint, lambda tensors, metadata: metadata.update(history=json.dumps(history)))
    assert "cannot be read" in refused(checkpoint)


@pytest.mark.parametrize("name", ["rng", "model/0.weight", "best/0.weight"])
def test_missing_or_misshapen_tensors(tmp_path, name):
    checkpoint = saved(tmp_path / "state.safetensors")
    edited(checkpoint, lambda tensors, metadata: tensors.update({name: torch.zeros(1)}))
    assert "cannot be read" in refused(checkpoint)
    edited(checkpoint, lambda tensors, metadata: tensors.pop(name))
    assert "cannot be read" in refused(checkpoint)


def test_another_number_of_threads_is_refused(tmp_path):
    checkpoint = saved(tmp_path / "state.safetensors")
    edited(checkpoint, lambda tensors, metadata: metadata.update(threads="4096"))
    assert "is of a fit with 4096 thread(s)" in refused(checkpoint)
    assert "continue it with --threads 4096" in refused(checkpoint)


@pytest.mark.skipif(os.name != "posix", reason="POSIX file rights")
def test_it_has_the_rights_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    path = saved(tmp_path / "state.safetensors").path
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "state.safetensors")
    assert "is not a file" in refused(Checkpoint(tmp_path / "state.safetensors", "run"))
