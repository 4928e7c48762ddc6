"""Mini-batches of rows: each row once an epoch, no test label, and a training that can be continued."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from otherhalf import Split, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.training import rows
from otherhalf.training.loop import Monitor, TrainingSettings
from otherhalf.training.rows import (
    ShuffledBatches,
    batch_size,
    fit_rows,
    fit_rows_epochs,
    judged_rows,
    logits_of,
    row_probabilities,
)
from otherhalf.training.supervised import Supervision

GRAPH = contextual_sbm(num_nodes=200, num_classes=3, num_features=6, signal=3.0, seed=1)
PARTS = split(GRAPH, seed=0)
SETTINGS = TrainingSettings(lr=0.05, weight_decay=0.0, epochs=5, patience=5)


def rows_of(nodes):
    return torch.from_numpy(GRAPH.x[nodes])


def made():
    torch.manual_seed(0)
    return nn.Linear(6, 3)


def test_every_row_is_in_one_batch_of_an_epoch_and_batches_differ_between_epochs():
    batches = ShuffledBatches(103, 20)
    first, second = list(batches), list(batches)
    assert len(batches) == len(first) == 6
    assert {len(each) for each in first} <= {17, 18}
    assert torch.equal(torch.cat(first).sort().values, torch.arange(103))
    assert all(torch.equal(each, each.sort().values) for each in first)
    assert not torch.equal(torch.cat(first), torch.cat(second))
    assert len(batches[0]) == 18


def test_an_epoch_of_many_rows_has_a_part_of_them():
    batches = ShuffledBatches(103, 20, most=40)
    first, second = (torch.cat(list(batches)) for _ in range(2))
    assert len(batches) == 2
    assert len(first) == len(first.unique()) == 40
    assert not torch.equal(first.sort().values, second.sort().values)


def test_few_rows_have_small_batches():
    assert batch_size(1) == 1
    assert batch_size(rows.LEAST_STEPS * 10) == 10
    assert batch_size(10**7) == rows.BATCH


def test_it_learns_and_keeps_the_best_epoch():
    module = made()
    history = fit_rows(module, rows_of, GRAPH, SETTINGS, Supervision(PARTS))
    probabilities = row_probabilities(module, rows_of, PARTS.val)
    accuracy = (probabilities.argmax(axis=1) == GRAPH.y[PARTS.val]).mean()
    assert accuracy == pytest.approx(history.best_score[0])
    assert accuracy > 0.6  # a third by chance


def test_of_many_validation_rows_a_sample_with_every_class_judges(monkeypatch):
    val = np.arange(200)
    assert np.array_equal(judged_rows(val, GRAPH, 0), val)
    monkeypatch.setattr(rows, "MOST_JUDGED", 50)
    y = np.array(GRAPH.y)
    y[y == 2] = 1
    y[[7, 150]] = 2  # a class of two
    graph = replace(GRAPH, y=y)
    samples = [judged_rows(val, graph, seed) for seed in range(20)]
    for sample in samples:
        assert 50 <= len(sample) <= 53
        assert (np.diff(sample) > 0).all()
        assert set(graph.y[sample]) == {0, 1, 2}
        share = (graph.y[sample] == 0).mean()
        assert share == pytest.approx((y == 0).mean(), abs=0.03)
    assert np.array_equal(samples[0], judged_rows(val, graph, 0))
    assert not np.array_equal(samples[0], samples[1])
    asked = []

    def seen(nodes):
        asked.append(nodes)
        return rows_of(nodes)

    parts = Split(np.arange(100), np.arange(100, 200), [])
    fit_rows(made(), seen, GRAPH, replace(SETTINGS, epochs=1), Supervision(parts))
    assert np.array_equal(asked[-1], judged_rows(parts.val, GRAPH, 0))
    assert len(asked[-1]) == 50


def test_no_test_label_is_read():
    y = np.array(GRAPH.y)
    y[PARTS.test] = (y[PARTS.test] + 1) % 3
    results = []
    for graph in (GRAPH, replace(GRAPH, y=y)):
        module = made()
        torch.manual_seed(1)
        fit_rows(module, rows_of, graph, SETTINGS, Supervision(PARTS))
        results.append(module.weight.detach())
    assert torch.equal(*results)


def test_a_training_that_was_stopped_ends_in_the_same_bits(tmp_path):
    whole, stopped, continued = made(), made(), made()
    torch.manual_seed(3)
    expected = fit_rows(whole, rows_of, GRAPH, SETTINGS, Supervision(PARTS))
    monitor = Monitor(tmp_path, "owner", lambda stage, done, total: 1 / 0 if done == 3 else None)
    torch.manual_seed(3)
    rows_before = rows.BATCH
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("otherhalf.training.loop.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        with pytest.raises(ZeroDivisionError):
            fit_rows(stopped, rows_of, GRAPH, SETTINGS, Supervision(PARTS, monitor=monitor))
    torch.manual_seed(4)  # the state of the generator comes from the checkpoint
    again = Supervision(PARTS, monitor=Monitor(tmp_path, "owner"))
    assert fit_rows(continued, rows_of, GRAPH, SETTINGS, again) == expected
    assert torch.equal(whole.weight, continued.weight)
    assert rows_before == rows.BATCH


def test_blocks_of_predictions_are_those_of_all_rows(monkeypatch):
    module = made()
    monkeypatch.setattr(rows, "BLOCK", 7)
    nodes = np.arange(50)
    assert torch.allclose(logits_of(module, rows_of, nodes), module(rows_of(nodes)), atol=1e-6)
    assert logits_of(module, rows_of, nodes[:0]).shape == (0, 3)


def test_all_epochs_are_trained_where_nothing_selects():
    history = fit_rows_epochs(made(), rows_of, GRAPH, SETTINGS, np.arange(60))
    assert history.epochs == SETTINGS.epochs
    assert history.best_epoch == SETTINGS.epochs - 1


def test_weights_of_the_classes_count():
    heavy = np.array([100.0, 1.0, 1.0], dtype=np.float32)
    module = made()
    few = Split(PARTS.train[:30], PARTS.val, PARTS.test)
    fit_rows(module, rows_of, GRAPH, replace(SETTINGS, patience=99), Supervision(few, class_weights=heavy))
    assert (row_probabilities(module, rows_of, PARTS.val).argmax(axis=1) == 0).mean() > 1 / 3
