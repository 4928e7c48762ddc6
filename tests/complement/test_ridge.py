"""Ridge regression: leave-one-out scores against refits without the node, exact and over landmarks."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from otherhalf.complement import ridge as module
from otherhalf.complement.ridge import (
    LANDMARK_RIDGE,
    SHIFTS,
    centred,
    fit_landmark_blocks,
    fit_landmarks,
    fit_ridge,
    inverse_of,
)


def kernel_of(seed: int, nodes: int, *, columns: int = 3, sharpness: float = 2.0) -> Tensor:
    rows = torch.randn(nodes, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    rows = torch.nn.functional.normalize(rows, dim=1)
    return torch.exp(sharpness * (rows @ rows.T - 1))


def labels_of(seed: int, nodes: int, classes: int) -> Tensor:
    codes = torch.randint(0, classes, (nodes,), generator=torch.Generator().manual_seed(seed))
    return centred(codes, classes).double()


def refits(kernel: Tensor, targets: Tensor, ridge: float) -> Tensor:
    """The score of every node by a regression on all the others."""
    scores = []
    for i in range(len(kernel)):
        others = [j for j in range(len(kernel)) if j != i]
        among = kernel[others][:, others] + ridge * torch.eye(len(others), dtype=kernel.dtype)
        scores.append(kernel[i, others] @ torch.linalg.solve(among, targets[others]))
    return torch.stack(scores)


def linear_refits(phi: Tensor, targets: Tensor, ridge: float) -> Tensor:
    """The score of every node by linear ridge regression on all the others; ``phi`` is ``[n, m]``."""
    scores = []
    for i in range(len(phi)):
        others = [j for j in range(len(phi)) if j != i]
        inner = phi[others].T @ phi[others] + ridge * torch.eye(phi.shape[1], dtype=phi.dtype)
        scores.append(phi[i] @ torch.linalg.solve(inner, phi[others].T @ targets[others]))
    return torch.stack(scores)


def map_of_landmarks(to_landmarks: Tensor, among: Tensor) -> Tensor:
    """Φ, ``[n, m]``, by eigenvectors of the kernel among landmarks: any root of it gives the same scores."""
    values, vectors = torch.linalg.eigh(among + LANDMARK_RIDGE * torch.eye(len(among), dtype=among.dtype))
    return to_landmarks @ vectors @ torch.diag(values**-0.5)


def test_centred_labels_by_hand():
    expected = [[-0.25, 0.75, -0.25, -0.25], [0.75, -0.25, -0.25, -0.25]]
    assert centred(torch.tensor([1, 0]), 4).tolist() == expected


# ---------------------------------------------------------------------- exact


def test_two_nodes_by_hand():
    # K = (1, ½ | ½, 1), λ = ½: (K + λI)⁻¹ = (3/2, −1/2 | −1/2, 3/2) / 2. Without node 0, node 1 alone has
    # b = y₁ / (3/2), so that node 0 has the score ½ · y₁ / (3/2) = y₁ / 3.
    kernel, targets = torch.tensor([[1.0, 0.5], [0.5, 1.0]]), torch.tensor([[1.0], [-2.0]])
    fitted = fit_ridge(kernel, targets, 0.5)
    torch.testing.assert_close(fitted.dual, torch.tensor([[1.25], [-1.75]]))
    torch.testing.assert_close(kernel @ fitted.dual - fitted.own, torch.tensor([[-2 / 3], [1 / 3]]))


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(1, 15),
    classes=st.integers(2, 5),
    ridge=st.floats(0.01, 3),
    sharpness=st.floats(0.3, 20),
)
def test_leave_one_out_equals_refits_without_the_node(seed, nodes, classes, ridge, sharpness):
    kernel, targets = kernel_of(seed, nodes, sharpness=sharpness), labels_of(seed, nodes, classes)
    fitted = fit_ridge(kernel, targets, ridge)
    torch.testing.assert_close(kernel @ fitted.dual - fitted.own, refits(kernel, targets, ridge))
    single = fit_ridge(kernel.float(), targets.float(), ridge)
    leave_one_out = kernel.float() @ single.dual - single.own
    torch.testing.assert_close(leave_one_out.double(), refits(kernel, targets, ridge), rtol=0, atol=2e-3)


def test_the_dual_solves_the_regression():
    kernel, targets = kernel_of(0, 12), labels_of(0, 12, 3)
    expected = torch.linalg.solve(kernel + 0.3 * torch.eye(12, dtype=torch.float64), targets)
    torch.testing.assert_close(fit_ridge(kernel, targets, 0.3).dual, expected)


def test_one_node_alone_has_the_score_zero():
    fitted = fit_ridge(torch.ones(1, 1), torch.tensor([[0.5, -0.5]]), 0.1)
    torch.testing.assert_close(torch.ones(1, 1) @ fitted.dual - fitted.own, torch.zeros(1, 2))


def test_the_inverse_and_the_ridge_that_was_used():
    kernel = kernel_of(0, 8)
    inverse, added = inverse_of(kernel, 0.25)
    assert added == 0.25
    torch.testing.assert_close(
        inverse @ (kernel + 0.25 * torch.eye(8, dtype=torch.float64)), torch.eye(8, dtype=torch.float64)
    )


def test_the_kernel_stays_as_it_was():
    kernel, targets = kernel_of(0, 8).float(), labels_of(0, 8, 2).float()
    before = kernel.clone()
    fit_ridge(kernel, targets, 0.1)
    fit_landmarks(kernel, kernel, targets, 0.1)
    assert torch.equal(kernel, before)


# ---------------------------------------------------------------------- landmarks


def test_all_nodes_as_landmarks_give_the_exact_regression():
    # Distinct nodes, so that the 0.001 added among the landmarks changes little.
    kernel, targets = kernel_of(1, 14, columns=8, sharpness=8.0), labels_of(1, 14, 3)
    exact, fitted = fit_ridge(kernel, targets, 0.5), fit_landmarks(kernel, kernel, targets, 0.5)
    torch.testing.assert_close(kernel @ fitted.dual, kernel @ exact.dual, rtol=0, atol=2e-3)
    torch.testing.assert_close(
        kernel @ fitted.dual - fitted.own, refits(kernel, targets, 0.5), rtol=0, atol=2e-3
    )


def test_all_nodes_as_landmarks_without_the_addition_are_exact(monkeypatch):
    monkeypatch.setattr(module, "LANDMARK_RIDGE", 0.0)
    kernel, targets = kernel_of(1, 14, columns=8, sharpness=8.0), labels_of(1, 14, 3)
    exact, fitted = fit_ridge(kernel, targets, 0.5), fit_landmarks(kernel, kernel, targets, 0.5)
    torch.testing.assert_close(fitted.dual, exact.dual)
    torch.testing.assert_close(fitted.own, exact.own)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(3, 14),
    landmarks=st.integers(1, 14),
    ridge=st.floats(0.01, 3),
)
def test_leave_one_out_of_landmarks_equals_refits_of_the_linear_model(seed, nodes, landmarks, ridge):
    m = min(landmarks, nodes)
    kernel, targets = kernel_of(seed, nodes), labels_of(seed, nodes, 3)
    to_landmarks, among = kernel[:, :m], kernel[:m, :m]
    expected = linear_refits(map_of_landmarks(to_landmarks, among), targets, ridge)
    fitted = fit_landmarks(to_landmarks, among, targets, ridge)
    torch.testing.assert_close(to_landmarks @ fitted.dual - fitted.own, expected, rtol=1e-5, atol=1e-6)
    single = fit_landmarks(to_landmarks.float(), among.float(), targets.float(), ridge)
    leave_one_out = to_landmarks.float() @ single.dual - single.own
    torch.testing.assert_close(leave_one_out.double(), expected, rtol=0, atol=5e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("block", "strip"), [(7, 500), (4096, 4), (1, 1), (20, 6)])
def test_blocks_and_strips_change_nothing(block, strip, weighted, monkeypatch):
    kernel, targets = kernel_of(0, 20), labels_of(0, 20, 3)
    weights = torch.linspace(0.3, 3, 20, dtype=torch.float64) if weighted else None
    problem = kernel[:6, :6], targets, 0.2, weights
    whole = fit_landmarks(kernel[:, :6], *problem)
    monkeypatch.setattr(module, "BLOCK_NODES", block)
    monkeypatch.setattr(module, "STRIP", strip)
    fitted, left_out = fit_landmark_blocks(lambda part: kernel[part, :6], *problem)
    torch.testing.assert_close(fitted.own, whole.own)
    torch.testing.assert_close(fitted.dual, whole.dual)
    torch.testing.assert_close(left_out, kernel[:, :6] @ whole.dual - whole.own)


# ---------------------------------------------------------------------- no node reads its own label


@pytest.mark.parametrize("landmarks", [None, 5, 20])
@pytest.mark.parametrize("ridge", [0.01, 0.3])
def test_no_score_depends_on_the_nodes_own_label(landmarks, ridge):
    kernel, targets = kernel_of(3, 20).float(), labels_of(3, 20, 3).float().requires_grad_()
    if landmarks is None:
        fitted = fit_ridge(kernel, targets, ridge)
        scores = kernel @ fitted.dual - fitted.own
    else:
        fitted = fit_landmarks(kernel[:, :landmarks], kernel[:landmarks, :landmarks], targets, ridge)
        scores = kernel[:, :landmarks] @ fitted.dual - fitted.own
    slopes = np.array([torch.autograd.grad(s, targets, retain_graph=True)[0][:, 0] for s in scores[:, 0]])
    others = slopes[~np.eye(20, dtype=bool)]
    assert abs(np.diag(slopes)).max() < 1e-4
    assert abs(others).max() > 0.05  # labels do reach other nodes


# ---------------------------------------------------------------------- kernels that are nearly singular


@pytest.mark.parametrize(("ridge", "error"), [(0.0, 0.5), (1e-9, 0.5), (0.01, 0.02)])
def test_a_kernel_of_equal_nodes(ridge, error):
    kernel, targets = torch.ones(200, 200), labels_of(0, 200, 4).float()
    for fitted in (
        fit_ridge(kernel, targets, ridge),
        fit_landmarks(kernel[:, :50], kernel[:50, :50], targets, ridge),
    ):
        scores = kernel[:, : len(fitted.dual)] @ fitted.dual - fitted.own
        # Equal nodes have nothing to go by: the score of a node is about the mean of all the other labels.
        # With no ridge to speak of, rounding is a tenth of a label, but nothing fails.
        mean = (targets.sum(dim=0) - targets) / 199
        torch.testing.assert_close(scores, mean, rtol=0, atol=error)


def test_the_added_ridge_is_relative_to_the_diagonal():
    _, added = inverse_of(8 * torch.ones(50, 50), 0.0)
    assert added in [pytest.approx(8 * shift) for shift in SHIFTS[1:]]


def test_leave_one_out_with_an_added_ridge_is_that_of_the_larger_one(monkeypatch):
    # Not positive definite without an addition of more than 1, which is the second shift.
    monkeypatch.setattr(module, "SHIFTS", (0.0, 2.0))
    kernel = torch.tensor([[1.0, 2.0], [2.0, 1.0]], dtype=torch.float64)
    targets = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    fitted = fit_ridge(kernel, targets, 0.5)
    torch.testing.assert_close(kernel @ fitted.dual - fitted.own, refits(kernel, targets, 2.5))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_are_not_finite_are_an_error(value):
    kernel = torch.eye(3)
    kernel[0, 1] = kernel[1, 0] = value
    with pytest.raises(ValueError, match="the kernel is not positive definite"):
        fit_ridge(kernel, torch.zeros(3, 2), 0.1)


# ---------------------------------------------------------------------- weights of nodes


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), nodes=st.integers(2, 12), ridge=st.floats(0.05, 3))
def test_leave_one_out_stays_exact_with_weights(seed, nodes, ridge):
    """A weighted square error has λ / w on the diagonal."""
    kernel, targets = kernel_of(seed, nodes), labels_of(seed, nodes, 3)
    weights = torch.rand(nodes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 4 + 0.2
    fitted = fit_ridge(kernel, targets, ridge, weights)
    expected = torch.linalg.solve(kernel + torch.diag(ridge / weights), targets)
    torch.testing.assert_close(fitted.dual, expected)
    scores = []
    for i in range(nodes):
        others = [j for j in range(nodes) if j != i]
        among = kernel[others][:, others] + torch.diag(ridge / weights[others])
        scores.append(kernel[i, others] @ torch.linalg.solve(among, targets[others]))
    torch.testing.assert_close(kernel @ fitted.dual - fitted.own, torch.stack(scores))


def test_a_node_of_weight_two_is_two_nodes():
    kernel, targets = kernel_of(3, 6), labels_of(3, 6, 2)
    weights = torch.tensor([1.0, 2.0, 1.0, 1.0, 1.0, 1.0], dtype=torch.float64)
    twice = [0, 1, 1, 2, 3, 4, 5]
    both = fit_ridge(kernel[twice][:, twice], targets[twice], 0.5)
    torch.testing.assert_close(
        kernel @ fit_ridge(kernel, targets, 0.5, weights).dual, kernel[:, twice] @ both.dual
    )


def test_landmarks_with_weights():
    kernel, targets = kernel_of(2, 12), labels_of(2, 12, 3)
    weights = torch.linspace(0.3, 3, 12, dtype=torch.float64)
    to_landmarks, among = kernel[:, :5], kernel[:5, :5]
    fitted = fit_landmarks(to_landmarks, among, targets, 0.4, weights)
    phi = map_of_landmarks(to_landmarks, among)
    root = weights.sqrt()[:, None]
    expected = linear_refits(root * phi, root * targets, 0.4) / root
    torch.testing.assert_close(to_landmarks @ fitted.dual - fitted.own, expected)
