"""The training loop: when it stops, what it keeps, and that an interrupted run ends as if it had not been."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from otherhalf.errors import InputError
from otherhalf.nn.ops.dropout import dropout
from otherhalf.training import loop as training
from otherhalf.training.loop import Checkpoint, History, TrainingSettings, seeded, train


class Scripted(nn.Module):
    """One weight, and scores that were written down beforehand."""

    def __init__(self, scores: list[tuple[float, ...]]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([0.0]))
        self.scores = iter(scores)
        self.weights: list[float] = []  # after every epoch

    def run(self, **options) -> History:
        def score() -> tuple[float, ...]:
            assert not self.training
            assert not torch.is_grad_enabled()
            self.weights.append(float(self.weight))
            return next(self.scores)

        def loss() -> torch.Tensor:
            assert self.training
            return ((self.weight - 100.0) ** 2).sum()  # so far away that every step moves the weight up

        return train(self, loss, score, TrainingSettings(lr=1.0, weight_decay=0.0, **options))


def test_stops_when_patience_is_over_and_restores_the_best_weights():
    model = Scripted([(0.1,), (0.2,), (0.9,), (0.3,), (0.9,), (0.4,), (1.0,)])
    history = model.run(epochs=100, patience=3)
    # The third epoch is best; a fifth that is only as good does not count, so three more and no further.
    assert history.epochs == len(model.weights) == 6
    assert history.best_epoch == 2
    assert history.best_score == [0.9]
    assert history.scores == [[0.1], [0.2], [0.9], [0.3], [0.9], [0.4]]
    assert history.done
    assert float(model.weight.detach()) == model.weights[2] != model.weights[-1]
    assert not model.training


def test_stops_at_the_last_epoch_with_the_best_weights():
    model = Scripted([(0.1,), (0.5,), (0.2,), (0.2,)])
    history = model.run(epochs=4, patience=100)
    assert history.epochs == 4
    assert float(model.weight.detach()) == model.weights[1]


def test_every_better_epoch_renews_the_patience():
    model = Scripted([(0.1,), (0.0,), (0.2,), (0.0,), (0.3,), (0.0,), (0.0,)])
    assert model.run(epochs=100, patience=2).epochs == 7


def test_the_first_differing_entry_of_the_score_decides():
    model = Scripted([(0.5, -1.0), (0.5, -0.9), (0.4, -0.1), (0.5, -0.95)])
    assert model.run(epochs=4, patience=100).best_epoch == 1


def test_the_losses_are_those_before_each_step():
    model = Scripted([(0.0,)] * 3)
    history = model.run(epochs=3, patience=100)
    before = [0.0, *model.weights[:2]]
    assert history.losses == pytest.approx([(w - 100.0) ** 2 for w in before])
    assert history.losses[0] == 10_000.0


def test_every_epoch_is_told():
    told = []
    model = nn.Linear(2, 1)
    settings = TrainingSettings(epochs=3)
    train(model, lambda: model.weight.sum(), lambda: (0.0,), settings, on_epoch=lambda *x: told.append(x))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_empty_history_has_no_best_score():
    assert History().best_score == []
    assert History().epochs == 0


# ---------------------------------------------------------------------- the optimiser


def test_step_is_adams_with_weight_decay():
    torch.manual_seed(0)
    ours, theirs = nn.Linear(3, 2), nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(5, 3)
    settings = TrainingSettings(lr=0.1, weight_decay=0.3, epochs=7)
    rising = iter(range(7))
    train(ours, lambda: ours(x).square().mean(), lambda: (next(rising),), settings)
    optimizer = torch.optim.Adam(theirs.parameters(), lr=0.1, weight_decay=0.3)
    for _ in range(7):
        optimizer.zero_grad()
        theirs(x).square().mean().backward()
        optimizer.step()
    torch.testing.assert_close(ours.weight, theirs.weight)
    torch.testing.assert_close(ours.bias, theirs.bias)


def test_coefficients_do_not_decay():
    model = nn.Module()
    model.theta = nn.Parameter(torch.tensor([1.0]))
    model.weight = nn.Parameter(torch.tensor([1.0]))
    rising = iter(range(5))
    settings = TrainingSettings(lr=0.1, weight_decay=1.0, epochs=5)
    # The loss has no gradient, so only decay could move anything.
    train(model, lambda: 0.0 * (model.theta + model.weight).sum(), lambda: (next(rising),), settings)
    assert float(model.theta.detach()) == 1.0
    assert float(model.weight.detach()) < 0.9


# ---------------------------------------------------------------------- seeds


def test_seeded_is_determined_inside_and_leaves_no_trace_outside():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    with seeded(1):
        first = torch.rand(3)
    assert torch.equal(torch.rand(3), expected)
    with seeded(1):
        assert torch.equal(torch.rand(3), first)
    with seeded(2):
        assert not torch.equal(torch.rand(3), first)


def test_seeded_leaves_no_trace_when_something_goes_wrong_inside():
    before = torch.get_rng_state()
    with pytest.raises(ZeroDivisionError), seeded(1):
        torch.rand(1 // len(torch.rand(3)[3:]))
    assert torch.equal(torch.get_rng_state(), before)


# ---------------------------------------------------------------------- interrupted and resumed


class Killed(Exception):
    pass


class Noisy(nn.Module):
    """All that a state must hold: two groups of parameters, dropout, running statistics, an unused weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 16)
        self.norm = nn.BatchNorm1d(16)
        self.theta = nn.Parameter(torch.tensor([0.5]))
        self.last = nn.Linear(16, 3)
        self.unused = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = dropout(self.norm(self.first(x)).relu(), 0.5 if self.training else 0.0)
        return self.theta.sigmoid() * self.last(h)


EPOCHS = 25


def run(
    checkpoint: Checkpoint | None = None, kill_after: int | None = None, seed: int = 0, patience: int = 100
):
    """One training, as every caller does it: weights and dropout from the seed."""
    data = torch.Generator().manual_seed(99)
    x, y = torch.randn(30, 4, generator=data), torch.randint(3, (30,), generator=data)

    def on_epoch(done: int, most: int) -> None:
        if done == kill_after:
            raise Killed

    with seeded(seed):
        model = Noisy()
        history = train(
            model,
            lambda: nn.functional.cross_entropy(model(x), y),
            # The loss falls from 1.1 below 0.8, whatever is dropped: the best epoch is somewhere between.
            lambda: (-abs(float(nn.functional.cross_entropy(model(x), y)) - 0.95),),
            TrainingSettings(lr=0.05, epochs=EPOCHS, patience=patience),
            checkpoint=checkpoint,
            on_epoch=on_epoch,
        )
    return model, history


def tensors_of(checkpoint: Checkpoint) -> dict[str, torch.Tensor]:
    with safe_open(checkpoint.path, framework="pt") as file:
        return {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)


def assert_equal(ours: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    assert ours.keys() == expected.keys()
    assert [key for key in expected if not torch.equal(ours[key], expected[key])] == []


@pytest.fixture
def every_epoch(monkeypatch):
    monkeypatch.setattr(training, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)  # the clock may stand still


def test_one_seed_gives_one_result():
    (first, history), (second, again), (other, _) = run(), run(), run(seed=1)
    assert_equal(first.state_dict(), second.state_dict())
    assert history == again
    assert not torch.equal(first.last.weight, other.last.weight)


@pytest.mark.usefixtures("every_epoch")
@pytest.mark.parametrize("kills", [[1], [2], [11], [EPOCHS - 1], [EPOCHS], [3, 4, 17]], ids=str)
def test_an_interrupted_run_ends_bit_equal(tmp_path, kills):
    whole, broken = (Checkpoint(tmp_path / f"{name}.safetensors", "run") for name in ("whole", "broken"))
    model, history = run(whole)
    for kill in kills:
        with pytest.raises(Killed):
            run(broken, kill_after=kill)
        assert tensors_of(broken).keys() == tensors_of(whole).keys()
    resumed, resumed_history = run(broken)
    assert resumed_history == history
    assert history.epochs == EPOCHS
    assert 0 < history.best_epoch < EPOCHS - 1  # so that the best weights had to survive the interruption
    assert_equal(resumed.state_dict(), model.state_dict())
    # The last checkpoints hold Adam's moments and the random numbers' state as well.
    assert_equal(tensors_of(broken), tensors_of(whole))
    assert any("exp_avg_sq" in key for key in tensors_of(whole))


@pytest.mark.usefixtures("every_epoch")
def test_a_checkpoint_changes_nothing(tmp_path):
    model, history = run()
    watched, watched_history = run(Checkpoint(tmp_path / "state.safetensors", "run"))
    assert watched_history == history
    assert_equal(watched.state_dict(), model.state_dict())


@pytest.mark.usefixtures("every_epoch")
def test_patience_goes_on_counting_after_an_interruption(tmp_path):
    _, history = run(patience=2)
    checkpoint = Checkpoint(tmp_path / "state.safetensors", "run")
    assert history.epochs < EPOCHS
    with pytest.raises(Killed):
        run(checkpoint, kill_after=history.epochs - 1, patience=2)
    assert run(checkpoint, patience=2)[1] == history


def test_resuming_a_finished_run_trains_no_further(tmp_path):
    checkpoint = Checkpoint(tmp_path / "state.safetensors", "run")
    model, history = run(checkpoint)
    again, same = run(checkpoint, kill_after=EPOCHS + 1)
    assert same == history
    assert_equal(again.state_dict(), model.state_dict())


def test_between_checkpoints_some_time_passes(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "state.safetensors", "run")
    monkeypatch.setattr(training, "SECONDS_BETWEEN_CHECKPOINTS", 3600.0)
    with pytest.raises(Killed):
        run(checkpoint, kill_after=EPOCHS - 1)
    assert not checkpoint.path.exists()
    run(checkpoint)  # the end is always written
    assert checkpoint.path.exists()


@pytest.mark.usefixtures("every_epoch")
def test_a_checkpoint_holds_no_pickle_and_says_whose_it_is(tmp_path):
    checkpoint = Checkpoint(tmp_path / "deeper" / "state.safetensors", "the owner")
    _, history = run(checkpoint)
    with safe_open(checkpoint.path, framework="pt") as file:
        metadata = file.metadata()
    assert metadata["owner"] == "the owner"
    assert History(**json.loads(metadata["history"])) == history
    assert [path.name for path in checkpoint.path.parent.iterdir()] == ["state.safetensors"]


# ---------------------------------------------------------------------- checkpoints that are refused


def refused(checkpoint: Checkpoint) -> str:
    with pytest.raises(InputError) as caught:
        run(checkpoint)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(checkpoint.path) in sentence
    assert "without --resume" in sentence
    return sentence


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "state.safetensors"
    run(Checkpoint(path, "one"))
    before = path.read_bytes()
    assert "belongs to a run with other data, settings or seed" in refused(Checkpoint(path, "another"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.0, 0.001, 0.05, 0.5, 0.999])
def test_a_truncated_checkpoint_is_refused(tmp_path, share):
    checkpoint = Checkpoint(tmp_path / "state.safetensors", "run")
    run(checkpoint)
    whole = checkpoint.path.read_bytes()
    checkpoint.path.write_bytes(whole[: int(share * len(whole))])
    assert "cannot be read" in refused(checkpoint)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path / "state.safetensors", "run")
    checkpoint.path.write_bytes(b"something else altogether, of some length")
    assert "cannot be read" in refused(checkpoint)


def test_a_safetensors_file_of_someone_else_is_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path / "state.safetensors", "run")
    save_file({"weights": torch.ones(3)}, checkpoint.path)
    assert "belongs to a run" in refused(checkpoint)
