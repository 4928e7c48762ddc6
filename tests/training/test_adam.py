"""Adam: the steps of torch's own class to the bit, without what that imports."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from otherhalf.training.adam import BETA1, BETA2, EPSILON, Adam


def parameters(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in [(7, 5), (5,), (), (3, 2)]]


def gradients(step, which):
    generator = torch.Generator().manual_seed(100 + step)
    found = [torch.randn(each.shape, generator=generator) for each in parameters()]
    return [each if used else None for each, used in zip(found, which, strict=True)]


def test_two_steps_by_hand():
    weight = nn.Parameter(torch.tensor(2.0, dtype=torch.float64))
    adam = Adam([([weight], 0.5)], lr=0.1)
    w, m, v = 2.0, 0.0, 0.0
    for t, gradient in ((1, 3.0), (2, -1.0)):
        weight.grad = torch.tensor(gradient, dtype=torch.float64)
        adam.step()
        g = gradient + 0.5 * w
        m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
        w -= 0.1 * (m / (1 - BETA1**t)) / ((v / (1 - BETA2**t)) ** 0.5 + EPSILON)
        assert float(weight.detach()) == pytest.approx(w, rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=6),
    st.sampled_from([0.0, 5e-4, 0.1]),
    st.sampled_from([1e-3, 0.01, 0.5]),
)
def test_the_steps_are_those_of_torch_to_the_bit(steps, decay, lr):
    ours, theirs = parameters(), parameters()
    adam = Adam([(ours[:2], decay), (ours[2:], 0.0)], lr)
    groups = [{"params": theirs[:2]}, {"params": theirs[2:], "weight_decay": 0.0}]
    reference = torch.optim.Adam(groups, lr=lr, weight_decay=decay, fused=True)
    for number, which in enumerate(steps):
        for mine, its, gradient in zip(ours, theirs, gradients(number, which), strict=True):
            mine.grad, its.grad = gradient, gradient
        adam.step()
        reference.step()
    for mine, its in zip(ours, theirs, strict=True):
        assert torch.equal(mine, its)
    known = reference.state_dict()["state"]
    assert adam.state_dict().keys() == known.keys()
    for index, state in adam.state_dict().items():
        assert all(torch.equal(value, known[index][name]) for name, value in state.items())


def test_a_state_that_is_taken_over_goes_on_the_same():
    ours, others = parameters(), parameters()
    first = Adam([(ours, 0.01)], lr=0.1)
    second = Adam([(others, 0.01)], lr=0.1)
    for number in range(5):
        if number == 2:
            second.load_state_dict(first.state_dict())
            for each, other in zip(ours, others, strict=True):
                other.data = each.data.clone()
        for each, gradient in zip(ours, gradients(number, [True] * 4), strict=True):
            each.grad = gradient
        first.step()
        if number >= 2:
            for each, gradient in zip(others, gradients(number, [True] * 4), strict=True):
                each.grad = gradient
            second.step()
    assert all(torch.equal(each, other) for each, other in zip(ours, others, strict=True))


@pytest.mark.parametrize("change", ["missing", "shape", "position"])
def test_a_state_of_another_model(change):
    adam = Adam([(parameters(), 0.0)], lr=0.1)
    state = {"step": torch.zeros(()), "exp_avg": torch.zeros(7, 5), "exp_avg_sq": torch.zeros(7, 5)}
    index = 0
    if change == "missing":
        del state["exp_avg"]
    elif change == "shape":
        state["exp_avg"] = torch.zeros(5, 7)
    else:
        index = 9
    with pytest.raises(ValueError, match="not that of the model"):
        adam.load_state_dict({index: state})


def test_no_gradient_no_step():
    (weight,) = given_one = [nn.Parameter(torch.ones(2))]
    adam = Adam([(given_one, 0.1)], lr=0.1)
    weight.grad = torch.ones(2)
    adam.zero_grad()
    adam.step()
    assert weight.tolist() == [1, 1]
    assert adam.state_dict() == {}


FIT = """
import sys
import otherhalf as oh
graph = oh.load("csbm:nodes=80,classes=2,features=4")
oh.GOALClassifier(fast=True, epochs=3).fit(graph)
print("torch._dynamo" in sys.modules)
"""


def test_a_fit_does_not_import_the_compiler():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
