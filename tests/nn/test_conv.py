"""The Complemented Graph Convolution against the dense matrix of Section 5.1, Â_t Â_o formed."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import Sequential

from otherhalf.nn.conv import Coefficients, ComplementedGraphConv
from otherhalf.nn.ops.sparse import SparseOperator, normalized_adjacency

NODES = 7
# Node 6 has no edge at all; nodes 2 and 5 have none in the heterophilic half.
HOMOPHILIC = torch.tensor([[0, 1, 0, 3, 4], [1, 2, 2, 4, 5]])
HETEROPHILIC = torch.tensor([[0, 1, 0], [3, 4, 4]])


def dense_half(edge_index: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """D^(−1/2) A D^(−1/2), edge by edge."""
    a = torch.zeros(NODES, NODES, dtype=dtype)
    for i, j in edge_index.T.tolist():
        a[i, j] = a[j, i] = 1
    degree = a.sum(dim=1)
    for i, j in a.nonzero().tolist():
        a[i, j] = 1 / (degree[i] * degree[j]) ** 0.5
    return a


def operator(edge_index: torch.Tensor) -> SparseOperator:
    return SparseOperator.from_scipy(sp.csr_matrix(dense_half(edge_index).numpy()), symmetric=True)


def in_double(edge_index: torch.Tensor) -> SparseOperator:
    matrix = dense_half(edge_index, torch.float64).to_sparse_csr()
    return SparseOperator(matrix, matrix, None)


def dense_matrix(alpha, beta, gamma, delta, dtype=torch.float32) -> torch.Tensor:
    a_o, a_t = dense_half(HOMOPHILIC, dtype), dense_half(HETEROPHILIC, dtype)
    return alpha * torch.eye(NODES, dtype=dtype) + beta * a_o - gamma * a_t - delta * (a_t @ a_o)


def seeded_conv(*args, **options) -> ComplementedGraphConv:
    torch.manual_seed(0)
    return ComplementedGraphConv(*args, **options)


# ---------------------------------------------------------------------- the formula


def test_one_node_by_hand():
    # Edges 0 – 1 in the homophilic and 1 – 2 in the heterophilic half of three nodes, all weights 1, W = 1:
    # h = (1, 10, 100); Â_o h = (10, 1, 0); Â_t h = (0, 100, 10); Â_t Â_o h = (0, 0, 1).
    conv = ComplementedGraphConv(1, 1, (2, 3, 4, 5))
    with torch.no_grad():
        conv.weight.fill_(1.0)
    out = conv(torch.tensor([[1.0], [10.0], [100.0]]), torch.tensor([[0], [1]]), torch.tensor([[1], [2]]))
    assert out.flatten().tolist() == [2 * 1 + 3 * 10, 2 * 10 + 3 * 1 - 4 * 100, 2 * 100 - 4 * 10 - 5 * 1]


@pytest.mark.parametrize("widths", [(6, 2), (3, 3), (2, 6)], ids=["narrowing", "square", "widening"])
@pytest.mark.parametrize("bias", [False, True])
def test_values_and_gradients_equal_the_dense_formula(widths, bias):
    conv = seeded_conv(*widths, (0.7, 1.3, 2.1, 0.4), bias=bias)
    if bias:
        torch.nn.init.normal_(conv.bias)
    x, weights = torch.randn(NODES, widths[0]), torch.randn(NODES, widths[1])
    x_ours, x_dense = x.clone().requires_grad_(), x.clone().requires_grad_()
    w_dense = conv.weight.detach().clone().requires_grad_()
    ours = conv(x_ours, operator(HOMOPHILIC), operator(HETEROPHILIC))
    expected = dense_matrix(0.7, 1.3, 2.1, 0.4) @ x_dense @ w_dense
    if bias:
        expected = expected + conv.bias.detach()
    torch.testing.assert_close(ours, expected)
    (ours * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(x_ours.grad, x_dense.grad)
    torch.testing.assert_close(conv.weight.grad, w_dense.grad)
    if bias:
        torch.testing.assert_close(conv.bias.grad, weights.sum(dim=0))


def test_gradients_of_learned_coefficients_equal_the_dense_ones():
    conv = seeded_conv(4, 3, (0.7, 1.3, 2.1, 0.4), learn_coefficients=True)
    x, weights = torch.randn(NODES, 4), torch.randn(NODES, 3)
    (conv(x, operator(HOMOPHILIC), operator(HETEROPHILIC)) * weights).sum().backward()
    coefficients = torch.tensor([0.7, 1.3, 2.1, 0.4], requires_grad=True)
    (dense_matrix(*coefficients) @ x @ conv.weight.detach() * weights).sum().backward()
    # The coefficient is c = 5 s with s = sigmoid(θ), so that dc/dθ = 5 s (1 − s) = c (1 − c / 5).
    inner = coefficients.detach() * (1 - coefficients.detach() / 5)
    torch.testing.assert_close(conv.coefficients.theta.grad, coefficients.grad * inner, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("width", [40, 100], ids=["one vector and a rest", "several"])
def test_wide_layers_which_are_compiled_equal_dense_autograd(width, learn):
    conv = seeded_conv(width, width, (0.7, 1.3, 2.1, 0.4), learn_coefficients=learn)
    x, weights = torch.randn(NODES, width, requires_grad=True), torch.randn(NODES, width)
    coefficients = torch.tensor(conv.coefficients.values(), requires_grad=True)
    ours = conv(x, operator(HOMOPHILIC), operator(HETEROPHILIC))
    expected = dense_matrix(*coefficients) @ x @ conv.weight
    torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)
    wanted = [x, conv.weight, *([conv.coefficients.theta] if learn else [])]
    ours_of = torch.autograd.grad((ours * weights).sum(), wanted)
    dense_of = torch.autograd.grad((expected * weights).sum(), [x, conv.weight, coefficients])
    torch.testing.assert_close(ours_of[:2], dense_of[:2], rtol=1e-4, atol=1e-4)
    if learn:
        inner = coefficients.detach() * (1 - coefficients.detach() / 5)
        torch.testing.assert_close(ours_of[2], dense_of[2] * inner, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("widths", [(4, 2), (2, 4)])
@pytest.mark.parametrize("learn", [False, True])
def test_gradcheck_in_double_precision(widths, learn):
    conv = seeded_conv(*widths, (0.7, 1.3, 2.1, 0.4), learn_coefficients=learn, bias=True).double()
    a_o, a_t = in_double(HOMOPHILIC), in_double(HETEROPHILIC)
    names = [name for name, _ in conv.named_parameters()]
    x = torch.randn(NODES, widths[0], dtype=torch.float64, requires_grad=True)

    def call(x, *parameters):
        given_parameters = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(conv, given_parameters, (x, a_o, a_t))

    parameters = [p.detach().clone().requires_grad_() for p in conv.parameters()]
    assert torch.autograd.gradcheck(call, (x, *parameters))


@settings(deadline=None, max_examples=30)
@given(
    coefficients=st.tuples(*[st.one_of(st.just(0.0), st.floats(0, 5))] * 4),
    widths=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    learn=st.booleans(),
)
def test_any_coefficients_and_widths(coefficients, widths, learn):
    conv = seeded_conv(*widths, coefficients, learn_coefficients=learn).double()
    x = torch.randn(NODES, widths[0], dtype=torch.float64, requires_grad=True)
    # Those learned start a hundredth inwards, so the formula is asked with what they are.
    matrix = dense_matrix(*conv.coefficients.values(), dtype=torch.float64)
    out, expected = conv(x, in_double(HOMOPHILIC), in_double(HETEROPHILIC)), matrix @ x @ conv.weight
    torch.testing.assert_close(out, expected, rtol=1e-6, atol=1e-6)
    weights = torch.randn(out.shape, dtype=torch.float64)
    ours = torch.autograd.grad((out * weights).sum(), [x, conv.weight])
    dense = torch.autograd.grad((expected * weights).sum(), [x, conv.weight])
    torch.testing.assert_close(ours, dense, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("learn", [False, True])
def test_operators_that_are_not_symmetric(learn):
    # Nothing here makes such halves yet, but the layer promises the formula for any pair of operators.
    torch.manual_seed(0)
    a_o, a_t = torch.randn(2, NODES, NODES, dtype=torch.float64)
    operators = [SparseOperator(a.to_sparse_csr(), a.T.to_sparse_csr(), None) for a in (a_o, a_t)]
    conv = seeded_conv(3, 2, (0.7, 1.3, 2.1, 0.4), learn_coefficients=learn).double()
    x = torch.randn(NODES, 3, dtype=torch.float64, requires_grad=True)
    alpha, beta, gamma, delta = conv.coefficients.values()
    identity = torch.eye(NODES, dtype=torch.float64)
    matrix = alpha * identity + beta * a_o - gamma * a_t - delta * (a_t @ a_o)
    torch.testing.assert_close(conv(x, *operators), matrix @ x @ conv.weight, rtol=1e-6, atol=1e-6)
    assert torch.autograd.gradcheck(lambda x: conv(x, *operators), (x,))


@pytest.mark.parametrize("widths", [(6, 2), (2, 6)])
def test_sparse_features_give_what_dense_ones_give(widths):
    conv = seeded_conv(*widths, (0.7, 1.3, 2.1, 0.4))
    x = torch.randn(NODES, widths[0]) * (torch.rand(NODES, widths[0]) < 0.4)
    sparse = SparseOperator.from_scipy(sp.csr_matrix(x.numpy()))
    a_o, a_t = operator(HOMOPHILIC), operator(HETEROPHILIC)
    out, expected = conv(sparse, a_o, a_t), conv(x, a_o, a_t)
    torch.testing.assert_close(out, expected)
    (from_sparse,) = torch.autograd.grad(out.square().sum(), [conv.weight])
    (from_dense,) = torch.autograd.grad(expected.square().sum(), [conv.weight])
    torch.testing.assert_close(from_sparse, from_dense)


def test_an_isolated_node_keeps_its_own_information_alone():
    conv = seeded_conv(3, 2, (1.5, 1.0, 1.0, 1.0))
    x = torch.randn(NODES, 3)
    out = conv(x, operator(HOMOPHILIC), operator(HETEROPHILIC))
    torch.testing.assert_close(out[6], 1.5 * x[6] @ conv.weight)


# ---------------------------------------------------------------------- what is not computed


class Counting(SparseOperator):
    """Counts its products."""

    products = 0

    def __matmul__(self, dense):
        self.products += 1
        return super().__matmul__(dense)


@pytest.mark.parametrize(
    ("coefficients", "products"),
    [
        ((1, 0, 0, 0), (0, 0)),
        ((1, 1, 0, 0), (1, 0)),
        ((1, 0, 1, 0), (0, 1)),
        ((1, 0, 0, 1), (1, 1)),
        ((1, 1, 1, 0), (1, 1)),
        ((1, 1, 1, 1), (1, 1)),
    ],
)
def test_at_most_two_products_and_none_for_zero_coefficients(coefficients, products):
    a_o, a_t = (Counting(o.matrix, o.transpose, None) for o in map(operator, (HOMOPHILIC, HETEROPHILIC)))
    conv = seeded_conv(3, 3, coefficients)
    x = torch.randn(NODES, 3)
    torch.testing.assert_close(conv(x, a_o, a_t), dense_matrix(*coefficients) @ x @ conv.weight)
    assert (a_o.products, a_t.products) == products


def test_learned_coefficients_skip_nothing():
    # One that starts at zero could never leave it if its product were skipped.
    a_o, a_t = (Counting(o.matrix, o.transpose, None) for o in map(operator, (HOMOPHILIC, HETEROPHILIC)))
    conv = seeded_conv(3, 3, (1, 0, 0, 0), learn_coefficients=True)
    conv(torch.randn(NODES, 3), a_o, a_t).square().sum().backward()
    assert (a_o.products, a_t.products) == (2, 2)  # one forwards, one backwards
    assert bool((conv.coefficients.theta.grad != 0).all())


def test_learned_coefficients_pressed_to_exactly_zero_can_still_be_trained():
    conv = seeded_conv(3, 2, learn_coefficients=True)
    with torch.no_grad():
        conv.coefficients.theta.fill_(-1000.0)  # the sigmoid of it is 0 in floating point
    out = conv(torch.randn(NODES, 3), operator(HOMOPHILIC), operator(HETEROPHILIC))
    out.sum().backward()
    assert not out.any()
    assert conv.coefficients.theta.grad.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("widths", "propagated"), [((6, 2), 2), ((2, 6), 2), ((3, 3), 3)])
def test_products_run_on_the_narrower_side_of_the_weight(widths, propagated, monkeypatch):
    seen = []
    conv = seeded_conv(*widths)
    original = ComplementedGraphConv.propagate
    monkeypatch.setattr(
        ComplementedGraphConv,
        "propagate",
        lambda self, h, a_o, a_t: seen.append(h.shape[1]) or original(self, h, a_o, a_t),
    )
    conv(torch.randn(NODES, widths[0]), operator(HOMOPHILIC), operator(HETEROPHILIC))
    assert seen == [propagated]


# ---------------------------------------------------------------------- in a PyG model


def test_edge_indices_in_a_pyg_model_equal_operators():
    torch.manual_seed(0)
    signature = "x, edge_index, missing_edge_index"
    model = Sequential(
        signature,
        [
            (ComplementedGraphConv(4, 3), f"{signature} -> x"),
            (torch.nn.ReLU(), "x -> x"),
            (ComplementedGraphConv(3, 2), f"{signature} -> x"),
        ],
    )
    x = torch.randn(NODES, 4)
    # PyG lists an undirected edge both ways; a self loop and repeats are not part of a simple graph.
    both_ways = torch.cat([HOMOPHILIC, HOMOPHILIC.flip(0), torch.tensor([[2, 0], [2, 1]])], dim=1)
    by_edges = model(x, both_ways, HETEROPHILIC)
    torch.testing.assert_close(by_edges, model(x, operator(HOMOPHILIC), operator(HETEROPHILIC)))
    matrix = dense_matrix(1, 1, 1, 1)
    first, second = (module for module in model.children() if isinstance(module, ComplementedGraphConv))
    torch.testing.assert_close(by_edges, matrix @ (matrix @ x @ first.weight).relu() @ second.weight)


def test_no_edges_at_all():
    conv = seeded_conv(3, 2, (2, 1, 1, 1))
    x = torch.randn(NODES, 3)
    none = torch.empty((2, 0), dtype=torch.int64)
    torch.testing.assert_close(conv(x, none, none), 2 * x @ conv.weight)


def test_an_adjacency_matrix_instead_of_an_edge_index_is_refused():
    with pytest.raises(ValueError, match=r"edge_index of shape \[2, E\], not \(7, 7\)"):
        ComplementedGraphConv(3, 2)(torch.randn(NODES, 3), torch.eye(7), HETEROPHILIC)


# ---------------------------------------------------------------------- the coefficients


def test_fixed_coefficients_are_plain_numbers_without_parameters():
    coefficients = Coefficients((1, 2, 3, 4))
    assert coefficients().tolist() == [1.0, 2.0, 3.0, 4.0]
    assert not coefficients().requires_grad
    assert coefficients.values() == (1.0, 2.0, 3.0, 4.0)
    assert list(coefficients.parameters()) == []


def test_learned_coefficients_start_at_the_given_values_or_a_hundredth_inwards():
    values = Coefficients((0.0, 1.0, 2.5, 5.0), learn=True).values()
    assert values == pytest.approx((0.01, 1.0, 2.5, 4.99), abs=1e-5)


def test_reset_brings_learned_coefficients_back():
    conv = seeded_conv(3, 2, (0.5, 1, 2, 3), learn_coefficients=True, bias=True)
    with torch.no_grad():
        conv.coefficients.theta.fill_(7.0)
        conv.bias.fill_(7.0)
        conv.weight.fill_(7.0)
    conv.reset_parameters()
    assert conv.coefficients.values() == pytest.approx((0.5, 1, 2, 3), abs=1e-5)
    assert not conv.bias.any()
    bound = np.sqrt(6 / (3 + 2))  # Glorot
    assert float(conv.weight.detach().abs().max()) <= bound
    assert conv.weight.detach().unique().numel() > 1


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_violent_steps_leave_the_coefficients_in_range(direction):
    coefficients = Coefficients((1.0, 0.0, 5.0, 2.0), learn=True)
    start = coefficients.values()
    optimizer = torch.optim.SGD(coefficients.parameters(), lr=1e4)
    for _ in range(5):
        optimizer.zero_grad()
        (direction * sum(coefficients())).backward()
        optimizer.step()
        assert all(0.0 <= c <= 5.0 for c in coefficients.values())
    moved = np.sign(np.subtract(coefficients.values(), start))
    assert (moved == -direction).all()  # they did go as far as they could


def test_a_gradient_step_moves_them_the_right_way():
    coefficients = Coefficients((1.0, 1.0, 1.0, 1.0), learn=True)
    alpha, beta, gamma, delta = coefficients()
    (alpha - beta + 0 * gamma + 2 * delta).backward()
    with torch.no_grad():
        coefficients.theta -= 0.1 * coefficients.theta.grad
    after = coefficients.values()
    assert after[0] < 1 < after[1]
    assert after[2] == pytest.approx(1.0)
    assert after[3] < after[0]


@pytest.mark.parametrize(
    "start", [(1, 1, 1), (1, 1, 1, 1, 1), (1, 1, -0.1, 1), (5.1, 1, 1, 1), (1, np.nan, 1, 1)]
)
def test_coefficients_out_of_range_are_refused(start):
    with pytest.raises(ValueError, match="coefficients must be 4 numbers from 0 to 5, not"):
        ComplementedGraphConv(2, 2, start)


def test_repr_names_widths_and_strengths():
    conv = ComplementedGraphConv(3, 2, (1, 0.5, 0, 2))
    assert repr(conv) == "ComplementedGraphConv(3, 2, coefficients=(1, 0.5, 0, 2))"


def test_normalized_adjacency_is_what_the_dense_halves_above_are():
    adjacency = sp.csr_matrix(np.asarray(dense_half(HOMOPHILIC) > 0, dtype=np.float32))
    torch.testing.assert_close(normalized_adjacency(adjacency).matrix.to_dense(), dense_half(HOMOPHILIC))
