"""Training on several machines: the steps of one process, also when a machine dies on the way."""

import numpy as np
import pytest
import torch
from tests.ray_nodes import RAY
from torch import nn

from otherhalf.cluster import training
from otherhalf.cluster.gradients import DataParallel
from otherhalf.cluster.training import fit_rows_on
from otherhalf.system.row_blocks import RowBlocks
from otherhalf.training.loop import TrainingSettings, seeded, train
from otherhalf.training.rows import ShuffledBatches, batch_size, judge_of

pytestmark = RAY
SETTINGS = TrainingSettings(lr=0.05, weight_decay=0.01, epochs=4, patience=4)


def made():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))


def test_it_ends_like_the_training_of_one_process(nodes, tasks, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 5)).astype(np.float32), rng.integers(0, 3, 120)
    x[:, 0] += 2 * y
    rows = RowBlocks(120, 5, tmp_path / "x", block_rows=50).write_all(x)
    parts = np.split(rng.permutation(120), [70, 100])
    taught, judged = (np.sort(part) for part in parts[:2])

    alone = made()

    def loss(positions):
        chosen = taught[positions.numpy()]
        return nn.functional.cross_entropy(alone(torch.from_numpy(x[chosen])), torch.from_numpy(y[chosen]))

    score = judge_of(alone, lambda n: torch.from_numpy(x[n]), judged, y[judged], "accuracy")
    with seeded(3):
        expected = train(alone, loss, ShuffledBatches(70, batch_size(70)), score, SETTINGS)

    steps = []

    class Dying(DataParallel):
        def backward(self, batches):
            if len(steps) == 10:
                nodes.kill_one()
            steps.append([len(each) for each in batches])
            return super().backward(batches)

    monkeypatch.setattr(training, "DataParallel", Dying)
    module = made()
    history = fit_rows_on(
        tasks, module, rows, (taught, y[taught]), (judged, y[judged]), SETTINGS, actors=3, seed=3
    )
    assert len(steps) == 4 * len(ShuffledBatches(70, batch_size(70)))
    assert len(steps[0]) == 3
    assert sum(map(sum, steps)) == 4 * 70
    assert history.losses == pytest.approx(expected.losses, rel=1e-4)
    assert history.best_epoch == expected.best_epoch
    assert history.losses[-1] < history.losses[0]
    for mine, wanted in zip(module.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(mine, wanted, rtol=1e-3, atol=1e-4)


def test_without_validation_the_last_weights_stay(tasks):
    x = np.eye(6, dtype=np.float32)
    rows, nodes = RowBlocks(6, 6).write_all(x), np.arange(6)
    module = nn.Linear(6, 2)
    history = fit_rows_on(tasks, module, rows, (nodes, nodes % 2), None, SETTINGS, actors=2)
    assert history.best_epoch == 3
    assert history.epochs == 4
