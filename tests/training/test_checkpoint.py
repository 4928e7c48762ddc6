"""The file of a training's state: what it holds, and which files are refused."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from otherhalf.errors import InputError
from otherhalf.training.checkpoint import Checkpoint, History

HISTORY = History(losses=[2.0, 1.0], scores=[[0.5, -2.0], [0.75, -1.0]], best_epoch=1)


def training() -> tuple[nn.Module, torch.optim.Optimizer]:
    """A model and its optimizer after one step, so that Adam has moments."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
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
