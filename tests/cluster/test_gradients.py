import numpy as np
import pytest
import torch
from tests.ray_nodes import RAY
from torch import nn

from otherhalf.cluster.gradients import DataParallel, RowHolder, weighted_mean

pytestmark = RAY
ROWS = 60


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(ROWS, 5)).astype(np.float32), rng.integers(0, 3, ROWS)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))


def reference(model, x, y):
    """The gradients of one process on the same rows."""
    model.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.tensor(x)), torch.tensor(y))
    loss.backward()
    return [each.grad.clone() for each in model.parameters()], float(loss.detach())


def check(model, loss, expected):
    assert loss == pytest.approx(expected[1], rel=1e-5)
    for parameter, gradient in zip(model.parameters(), expected[0], strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-5, atol=1e-6)


def test_the_mean_over_actors_is_that_of_one_process(nodes, tasks, model, data):
    x, y = data
    bounds = [slice(0, 10), slice(10, 40), slice(40, 60)]
    parallel = DataParallel(
        tasks, model, nn.functional.cross_entropy, [(x[each], y[each]) for each in bounds]
    )
    batches = [np.array([1, 5]), np.arange(3, 20), np.array([], dtype=np.int64)]
    chosen = np.concatenate([each.start + batch for each, batch in zip(bounds, batches, strict=True)])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        if step == 2:
            nodes.kill_one()  # the actor there is made again, from the same rows
        expected = reference(model, x[chosen], y[chosen])
        model.zero_grad()
        check(model, parallel.backward(batches), expected)
        optimizer.step()
    parallel.close()


def test_parts_count_by_their_rows(data, model):
    x, y = data
    parts = [slice(0, 7), slice(7, 60)]
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    found = []
    for part in parts:
        holder = RowHolder(model, nn.functional.cross_entropy, x[part], y[part], 0)
        found.append(holder.gradients(weights, np.arange(part.stop - part.start)))
    gradients, loss = weighted_mean(found)
    expected = reference(model, x, y)
    assert loss == pytest.approx(expected[1], rel=1e-5)
    for gradient, wanted in zip(gradients, expected[0], strict=True):
        np.testing.assert_allclose(gradient, wanted.numpy(), rtol=1e-5, atol=1e-6)
