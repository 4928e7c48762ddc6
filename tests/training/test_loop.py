"""The training loop: when it stops, what it keeps, and that an interrupted run ends as if it had not been."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from torch import nn

from otherhalf.errors import InputError
from otherhalf.nn.ops.dropout import dropout
from otherhalf.training import loop as training
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import SILENT, Monitor, Training, TrainingSettings, seeded, train

ONE_BATCH = [torch.arange(1)]


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

        def loss(batch: torch.Tensor) -> torch.Tensor:
            assert self.training
            return ((self.weight - 100.0) ** 2).sum()  # so far away that every step moves the weight up

        return train(self, loss, ONE_BATCH, score, TrainingSettings(lr=1.0, weight_decay=0.0, **options))


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


def test_every_epoch_is_reported_with_its_stage():
    steps = []
    model = nn.Linear(2, 1)
    monitor = Monitor(on_step=lambda *step: steps.append(step))
    settings = TrainingSettings(epochs=3)
    train(
        model,
        lambda batch: model.weight.sum(),
        ONE_BATCH,
        lambda: (0.0,),
        settings,
        stage="s",
        monitor=monitor,
    )
    assert steps == [("s", 1, 3), ("s", 2, 3), ("s", 3, 3)]


def test_a_training_that_pauses_ends_like_one_that_does_not():
    def training(model: nn.Module) -> Training:
        def loss(batch: torch.Tensor) -> torch.Tensor:
            return (model(dropout(X, 0.5)).squeeze(1) - Y).square().mean()

        def score() -> tuple[float]:
            with torch.no_grad():
                return (-float((model(X).squeeze(1) - Y).square().mean()),)

        return Training(model, loss, ONE_BATCH, score, TrainingSettings(lr=0.3, epochs=30, patience=5))

    torch.manual_seed(0)
    whole, paused = nn.Linear(3, 1), nn.Linear(3, 1)
    paused.load_state_dict(whole.state_dict())
    state = torch.get_rng_state()
    history = training(whole).run()
    torch.set_rng_state(state)
    parts = training(paused)
    for until in (0, 1, 1, 4):
        assert parts.run(until).epochs == until
        assert not parts.history.done
        assert paused.weight.grad is None
    assert parts.run() == history
    assert not paused.training
    assert_equal(whole.state_dict(), paused.state_dict())


# ---------------------------------------------------------------------- batches


X = torch.randn(12, 3, generator=torch.Generator().manual_seed(1))
Y = torch.randn(12, generator=torch.Generator().manual_seed(2))


def regression(batches: list[torch.Tensor], epochs: int = 4) -> tuple[nn.Linear, History, list[list[int]]]:
    torch.manual_seed(0)
    model, seen = nn.Linear(3, 1), []

    def loss(batch: torch.Tensor) -> torch.Tensor:
        seen.append(batch.tolist())
        return (model(X[batch]).squeeze(1) - Y[batch]).square().mean()

    rising = iter(range(epochs))
    settings = TrainingSettings(lr=0.1, weight_decay=0.01, epochs=epochs)
    return model, train(model, loss, batches, lambda: (next(rising),), settings), seen


def by_hand(batches: list[torch.Tensor], epochs: int = 4) -> tuple[nn.Linear, list[float]]:
    """Adam written out: one step for each batch."""
    torch.manual_seed(0)
    model, losses = nn.Linear(3, 1), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, weight_decay=0.01, fused=True)
    for _ in range(epochs):
        values = []
        for batch in batches:
            optimizer.zero_grad()
            value = (model(X[batch]).squeeze(1) - Y[batch]).square().mean()
            value.backward()
            optimizer.step()
            values.append(value.item())
        losses.append(sum(values) / len(values))
    return model, losses


@pytest.mark.parametrize("sizes", [[12], [6, 6], [5, 4, 3], [1] * 12], ids=str)
def test_one_step_for_each_batch_and_the_mean_of_their_losses(sizes):
    batches = list(torch.arange(12).split(sizes))
    model, history, seen = regression(batches)
    expected, losses = by_hand(batches)
    assert seen == [batch.tolist() for batch in batches] * 4
    assert history.losses == losses
    assert history.epochs == 4  # an epoch is all batches
    assert_equal(model.state_dict(), expected.state_dict())


def test_more_batches_are_another_training_than_one_batch():
    whole, parts = ([torch.arange(12)], list(torch.arange(12).split(6)))
    assert regression(whole)[1].losses[1] != regression(parts)[1].losses[1]


def test_one_batch_of_all_nodes_is_full_batch_training():
    # As it was before there were batches: one loss over everything, bit for bit.
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, weight_decay=0.01, fused=True)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        value = (model(X).squeeze(1) - Y).square().mean()
        losses.append(value.item())
        value.backward()
        optimizer.step()
    ours, history, _ = regression([torch.arange(12)])
    assert history.losses == losses
    assert_equal(ours.state_dict(), model.state_dict())


def test_a_batch_with_an_infinite_loss_ends_the_training_before_its_step():
    model = nn.Linear(1, 1, bias=False)
    nn.init.ones_(model.weight)
    weights = []

    def loss(batch: torch.Tensor) -> torch.Tensor:
        weights.append(float(model.weight.detach()))
        diverged = len(weights) == 4 and int(batch) == 1
        return model.weight.sum() * (torch.inf if diverged else 1.0)

    settings = TrainingSettings(lr=0.1, weight_decay=0.0, epochs=9)
    history = train(model, loss, list(torch.arange(2).split(1)), lambda: (0.0,), settings)
    assert (history.epochs, history.best_epoch, history.done) == (1, 0, True)
    assert len(weights) == 4
    assert float(model.weight.detach()) == weights[2]  # of the first epoch, the best


def test_a_loss_that_is_infinite_in_the_first_epoch_is_one_clear_sentence():
    model = nn.Linear(1, 1)
    with pytest.raises(
        InputError, match="the training loss is not finite in the first epoch: bring the features"
    ):
        train(
            model, lambda batch: model.weight.sum() * torch.inf, ONE_BATCH, lambda: (0.0,), TrainingSettings()
        )


# ---------------------------------------------------------------------- the optimiser


def test_step_is_adams_with_weight_decay():
    torch.manual_seed(0)
    ours, theirs = nn.Linear(3, 2), nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(5, 3)
    settings = TrainingSettings(lr=0.1, weight_decay=0.3, epochs=7)
    rising = iter(range(7))
    train(
        ours,
        lambda batch: ours(x[batch]).square().mean(),
        [torch.arange(5)],
        lambda: (next(rising),),
        settings,
    )
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
    nothing = lambda batch: 0.0 * (model.theta + model.weight).sum()  # noqa: E731
    train(model, nothing, ONE_BATCH, lambda: (next(rising),), settings)
    assert float(model.theta.detach()) == 1.0
    assert float(model.weight.detach()) < 0.9


# ---------------------------------------------------------------------- seeds


def test_every_module_is_in_training_mode_for_the_loss_and_in_evaluation_mode_for_the_score():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(2)))
    seen = []

    def loss(batch):
        seen.append({each.training for each in model.modules()})
        return model(torch.ones(3, 2)).sum()

    def score():
        seen.append({each.training for each in model.modules()})
        return (0.0,)

    train(model, loss, [torch.arange(3)], score, TrainingSettings(epochs=2))
    assert seen == [{True}, {False}] * 2
    assert not any(each.training for each in model.modules())


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


STAGE = "state"


def run(monitor: Monitor = SILENT, kill_after: int | None = None, seed: int = 0, patience: int = 100):
    """One training, as every caller does it: weights and dropout from the seed."""
    data = torch.Generator().manual_seed(99)
    x, y = torch.randn(30, 4, generator=data), torch.randint(3, (30,), generator=data)

    def on_step(stage: str, done: int, total: int) -> None:
        assert (stage, total) == (STAGE, EPOCHS)
        if done == kill_after:
            raise Killed

    with seeded(seed):
        model = Noisy()
        history = train(
            model,
            lambda batch: nn.functional.cross_entropy(model(x[batch]), y[batch]),
            list(torch.arange(30).split(15)),
            # The loss falls from 1.1 below 0.8, whatever is dropped: the best epoch is somewhere between.
            lambda: (-abs(float(nn.functional.cross_entropy(model(x), y)) - 0.95),),
            TrainingSettings(lr=0.025, epochs=EPOCHS, patience=patience),
            stage=STAGE,
            monitor=replace(monitor, on_step=on_step),
        )
    return model, history


def tensors_of(folder: Path) -> dict[str, torch.Tensor]:
    with safe_open(folder / f"{STAGE}.safetensors", framework="pt") as file:
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
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    model, history = run(Monitor(straight, "run"))
    for kill in kills:
        with pytest.raises(Killed):
            run(Monitor(broken, "run"), kill_after=kill)
        assert tensors_of(broken).keys() == tensors_of(straight).keys()
    resumed, resumed_history = run(Monitor(broken, "run"))
    assert resumed_history == history
    assert history.epochs == EPOCHS
    assert 0 < history.best_epoch < EPOCHS - 1  # so that the best weights had to survive the interruption
    assert_equal(resumed.state_dict(), model.state_dict())
    # The last checkpoints hold Adam's moments and the random numbers' state as well.
    assert_equal(tensors_of(broken), tensors_of(straight))
    assert any("exp_avg_sq" in key for key in tensors_of(straight))


@pytest.mark.usefixtures("every_epoch")
def test_a_checkpoint_changes_nothing(tmp_path):
    model, history = run()
    watched, watched_history = run(Monitor(tmp_path, "run"))
    assert watched_history == history
    assert_equal(watched.state_dict(), model.state_dict())


@pytest.mark.usefixtures("every_epoch")
def test_patience_goes_on_counting_after_an_interruption(tmp_path):
    _, history = run(patience=2)
    monitor = Monitor(tmp_path, "run")
    assert history.epochs < EPOCHS
    with pytest.raises(Killed):
        run(monitor, kill_after=history.epochs - 1, patience=2)
    assert run(monitor, patience=2)[1] == history


def test_resuming_a_finished_run_trains_no_further(tmp_path):
    monitor = Monitor(tmp_path, "run")
    model, history = run(monitor)
    again, same = run(monitor, kill_after=EPOCHS + 1)
    assert same == history
    assert_equal(again.state_dict(), model.state_dict())


def test_between_checkpoints_some_time_passes(tmp_path, monkeypatch):
    monitor = Monitor(tmp_path, "run")
    monkeypatch.setattr(training, "SECONDS_BETWEEN_CHECKPOINTS", 3600.0)
    with pytest.raises(Killed):
        run(monitor, kill_after=EPOCHS - 1)
    assert list(tmp_path.iterdir()) == []
    run(monitor)  # the end is always written
    assert [path.name for path in tmp_path.iterdir()] == ["state.safetensors"]


def test_the_state_of_another_run_is_refused(tmp_path):
    run(Monitor(tmp_path, "one"))
    with pytest.raises(InputError, match="belongs to a run with other data, settings or seed"):
        run(Monitor(tmp_path, "another"))


# ---------------------------------------------------------------------- the monitor


def test_a_monitor_without_a_folder_keeps_nothing_and_without_a_callback_says_nothing():
    assert SILENT.checkpoint("head") is None
    SILENT.report("head", 1, 2)


def test_each_stage_has_its_own_checkpoint(tmp_path):
    checkpoint = Monitor(tmp_path, "run").checkpoint("head")
    assert (checkpoint.path, checkpoint.owner) == (tmp_path / "head.safetensors", "run")
