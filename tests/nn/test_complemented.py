"""The classifier over both halves against a dense formula, and that labels do not come back to their node."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.complemented import MESSAGE_WIDTH, BothHalves, ComplementedNet
from otherhalf.nn.conv import Coefficients
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.label_messages import label_rows, label_walks, messages
from otherhalf.nn.ops.sparse import SparseOperator, mean_matrix, normalized_matrix

# A ring of seven with one chord. Node i is joined to two of the training nodes 0, 2 and 5 by the found half.
N, CLASSES, FEATURES = 7, 3, 4
RING = sp.coo_matrix((np.ones(8), ([0, 1, 2, 3, 4, 5, 6, 0], [1, 2, 3, 4, 5, 6, 0, 3])), shape=(N, N))
GIVEN = sp.csr_matrix(RING + RING.T, dtype=np.float32)
TRAIN, CODES = np.array([0, 2, 5]), np.array([1, 0, 2])
TARGETS = [(2, 5), (0, 2), (0, 5), (2, 5), (0, 5), (0, 2), (0, 5)]
FOUND = sp.csr_matrix(
    (np.full(2 * N, 0.5, dtype=np.float32), (np.repeat(range(N), 2), np.ravel(TARGETS))), shape=(N, N)
)
WALKS = label_walks(
    [(mean_matrix(GIVEN),), (FOUND,), (FOUND, mean_matrix(GIVEN)), (mean_matrix(GIVEN), FOUND)]
)
COLUMNS = len(WALKS) * CLASSES


def halves_of(messages_: Tensor | None = None, scores: Tensor | None = None) -> BothHalves:
    labels = label_rows(CODES, TRAIN, N, CLASSES)
    return BothHalves(
        SparseOperator.from_scipy(FOUND),
        SparseOperator.from_scipy(normalized_matrix(GIVEN), symmetric=True),
        messages(WALKS, labels) if messages_ is None else messages_,
        scores,
    )


def inputs_of(seed: int = 0) -> NodeInputs:
    return NodeInputs(torch.randn(N, FEATURES, generator=torch.Generator().manual_seed(seed)))


def net_of(*, columns: int = COLUMNS, seed: int = 0, **options) -> ComplementedNet:
    """A network whose parameters and buffers all have random values, none of them 0 or 1."""
    torch.manual_seed(seed)
    architecture = options.pop("architecture", Architecture(hidden=5, layers=2, dropout=0.5, norm="layer"))
    net = ComplementedNet(FEATURES, CLASSES, columns, architecture, **options)
    with torch.no_grad():
        for name, value in net.named_parameters():
            if not name.endswith("theta"):
                value.normal_()
    if columns:
        net.standardise(torch.randn(11, columns))
    return net


def dense_logits(net: ComplementedNet, inputs: NodeInputs, halves: BothHalves) -> Tensor:
    """The formula of the docstring, with dense matrices."""
    values = dict(net.named_parameters())
    a_o, a_t = halves.homophilic.matrix.to_dense(), halves.heterophilic.matrix.to_dense()

    def activated(h: Tensor, name: str) -> Tensor:
        if f"{name}.weight" in values:  # layer norm, written out
            h = (h - h.mean(dim=1, keepdim=True)) / (h.var(dim=1, keepdim=True, unbiased=False) + 1e-5).sqrt()
            h = h * values[f"{name}.weight"] + values[f"{name}.bias"]
        return h.clamp(min=0)

    h = activated(
        inputs.features @ values["trunk.features.weight"] + values["trunk.features.bias"], "trunk_norm"
    )
    parts = [h]
    for index, (alpha, beta, gamma, delta) in enumerate(net.coefficients()):
        matrix = alpha * torch.eye(N) + beta * a_o - gamma * a_t - delta * (a_t @ a_o)
        layer = matrix @ h @ values[f"layers.{index}.weight"] + values[f"layers.{index}.bias"]
        h = activated(layer, f"norms.{index}")
        parts.append(h)
    if net.messages is not None:
        m = (halves.messages - net.message_mean) / net.message_deviation
        parts += [(m @ values["messages.weight"].T + values["messages.bias"]).clamp(min=0), m]
    logits = torch.cat(parts, dim=1) @ values["prediction.weight"].T + values["prediction.bias"]
    if net.tau is not None and halves.scores is not None:
        logits = logits + net.tau * halves.scores
    return logits


# ---------------------------------------------------------------------- the forward pass


@pytest.mark.parametrize("norm", ["none", "layer"])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("scores", [False, True])
def test_logits_equal_the_dense_formula(norm, layers, scores):
    net = net_of(
        architecture=Architecture(hidden=5, layers=layers, dropout=0.5, norm=norm),
        scores=scores,
        coefficients=(0.7, 1.3, 2.1, 0.4),
    ).eval()
    halves = halves_of(scores=torch.randn(N, CLASSES) if scores else None)
    torch.testing.assert_close(
        net(inputs_of(), halves), dense_logits(net, inputs_of(), halves), rtol=1e-4, atol=1e-4
    )


def test_without_messages():
    net = net_of(columns=0).eval()
    halves = halves_of(torch.empty(N, 0), torch.randn(N, CLASSES))
    net.standardise(halves.messages)
    assert net.messages is None
    assert net.prediction.in_features == 3 * 5
    torch.testing.assert_close(
        net(inputs_of(), halves), dense_logits(net, inputs_of(), halves), rtol=1e-4, atol=1e-4
    )


def test_the_prediction_reads_all_states_and_the_messages_twice():
    assert net_of().prediction.in_features == 3 * 5 + MESSAGE_WIDTH + COLUMNS


def test_batch_norm_reads_its_running_values_in_evaluation():
    net = net_of(architecture=Architecture(hidden=5, layers=1, dropout=0.0, norm="batch"))
    net(inputs_of(), halves_of())
    net.eval()
    first = net(inputs_of(), halves_of())
    assert torch.equal(net(inputs_of(), halves_of()), first)
    assert torch.isfinite(first).all()


def test_sparse_features_give_what_dense_ones_give():
    net = net_of().eval()
    x = inputs_of().features * (torch.rand(N, FEATURES, generator=torch.Generator().manual_seed(1)) < 0.5)
    sparse = NodeInputs(SparseOperator.from_scipy(sp.csr_matrix(x.numpy())))
    torch.testing.assert_close(net(sparse, halves_of()), net(NodeInputs(x), halves_of()))


def test_dropout_is_for_training_only_and_determined_by_the_seed():
    net = net_of(scores=False)
    torch.manual_seed(3)
    first, second = net(inputs_of(), halves_of()), net(inputs_of(), halves_of())
    assert not torch.equal(first, second)
    torch.manual_seed(3)
    assert torch.equal(net(inputs_of(), halves_of()), first)
    net.eval()
    assert torch.equal(net(inputs_of(), halves_of()), net(inputs_of(), halves_of()))


def test_scores_are_added_times_tau():
    net = net_of().eval()
    scores = torch.randn(N, CLASSES)
    without, with_scores = (net(inputs_of(), halves_of(scores=s)) for s in (None, scores))
    torch.testing.assert_close(with_scores - without, net.tau * scores, rtol=1e-4, atol=1e-4)
    assert ComplementedNet(FEATURES, CLASSES, COLUMNS, Architecture()).tau.tolist() == [1]
    deaf = net_of(scores=False).eval()
    assert deaf.tau is None
    assert torch.equal(deaf(inputs_of(), halves_of(scores=scores)), deaf(inputs_of(), halves_of()))


# ---------------------------------------------------------------------- messages


def test_messages_are_standardised_by_those_of_the_fitted_graph():
    net = net_of()
    values = torch.tensor([[1.0] * COLUMNS, [3.0] * COLUMNS])
    net.standardise(values)
    torch.testing.assert_close(net.message_mean, torch.full((COLUMNS,), 2.0))
    torch.testing.assert_close(net.message_deviation, torch.full((COLUMNS,), 2**0.5 + 1e-3))


def test_messages_that_are_all_the_same_are_no_division_by_zero():
    net = net_of().eval()
    halves = halves_of(torch.ones(N, COLUMNS))
    net.standardise(halves.messages)
    assert torch.isfinite(net(inputs_of(), halves)).all()


def test_the_standardisation_is_kept_with_the_weights():
    net, other = net_of(), net_of(seed=1)
    other.load_state_dict(net.state_dict())
    assert torch.equal(other.message_deviation, net.message_deviation)
    assert torch.equal(other.eval()(inputs_of(), halves_of()), net.eval()(inputs_of(), halves_of()))


# ---------------------------------------------------------------------- no way back


@pytest.mark.parametrize("layers", [1, 3])
def test_no_output_depends_on_the_nodes_own_label(layers):
    net = net_of(architecture=Architecture(hidden=5, layers=layers, dropout=0.0)).eval()
    labels = label_rows(CODES, TRAIN, N, CLASSES).requires_grad_()
    out = net(inputs_of(), halves_of(messages(WALKS, labels)))
    reached = torch.zeros(N, N)
    for node in range(N):
        (slopes,) = torch.autograd.grad(out[node].square().sum(), labels, retain_graph=True)
        reached[node] = slopes.abs().sum(dim=1)
    # Divided by deviations of about 1: what is left of the own label is rounding.
    assert float(reached.diagonal().max()) < 1e-4 * float(reached.max())
    assert (
        reached[0, [1, 2, 5]] > 1e-3 * reached.max()
    ).all()  # a neighbour, and two joined by the found half


def test_gradients_reach_every_parameter():
    net = net_of(architecture=Architecture(hidden=5, layers=2, dropout=0.0))
    halves = halves_of(scores=torch.randn(N, CLASSES))
    net(inputs_of(), halves).square().sum().backward()
    assert all(value.grad is not None and bool(value.grad.any()) for value in net.parameters())


# ---------------------------------------------------------------------- coefficients


def test_coefficients_of_every_layer():
    net = net_of(architecture=Architecture(hidden=5, layers=3), coefficients=(0.5, 1.0, 1.5, 2.0))
    assert net.coefficients() == [pytest.approx((0.5, 1.0, 1.5, 2.0), abs=1e-5)] * 3
    with torch.no_grad():
        net.layers[1].coefficients.theta.copy_(Coefficients((1, 2, 3, 4), learn=True).theta)
    assert net.coefficients()[1] == pytest.approx((1, 2, 3, 4), abs=1e-5)
    assert net.coefficients()[2] == pytest.approx((0.5, 1.0, 1.5, 2.0), abs=1e-5)


@pytest.mark.parametrize("learn", [False, True])
def test_coefficients_move_only_if_they_are_learned(learn):
    net = net_of(learn_coefficients=learn, architecture=Architecture(hidden=5, layers=2, dropout=0.0))
    before = net.coefficients()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    net(inputs_of(), halves_of()).square().sum().backward()
    optimizer.step()
    assert (net.coefficients() != before) == learn


# ---------------------------------------------------------------------- the halves


def test_halves_on_another_device():
    halves = halves_of(scores=torch.ones(N, CLASSES)).to("meta")
    assert {
        halves.homophilic.matrix.device.type,
        halves.heterophilic.matrix.device.type,
        halves.messages.device.type,
        halves.scores.device.type,
    } == {"meta"}
    assert halves_of().to("meta").scores is None
