"""A prepared graph: each input and operator is made once, in every direction, and cut to the known nodes."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.magnitudes import MagnitudeScaling
from otherhalf.nn.ops.attention import Neighbourhoods
from otherhalf.nn.ops.sparse import SparseOperator
from otherhalf.nn.prepared import ADJACENCY_ROWS, DIRECTED, OPERATORS, PreparedGraph

NONE = Scaling("none")
# 0 → 1 → 2 and 0 → 2.
ARROWS = Graph(edges=np.array([[0, 1, 0], [1, 2, 2]]), x=np.eye(3), directed=True)


def path_of(x) -> Graph:
    # A path 0 – 1 – … – n−1.
    n = x.shape[0]
    return Graph(edges=np.stack([np.arange(n - 1), np.arange(1, n)]), x=x, y=np.arange(n) % 2)


def dense_of(operator: SparseOperator) -> list[list[float]]:
    return operator.matrix.to_dense().tolist()


def counted(monkeypatch) -> list[str]:
    """Return the list that every construction of an operator or of adjacency rows is added to."""
    made = []

    def counting(name, make):
        def call(adjacency):
            made.append(name)
            return make(adjacency)

        return call

    for name, make in OPERATORS.items():
        monkeypatch.setitem(OPERATORS, name, counting(name, make))
    return made


# ---------------------------------------------------------------------- inputs


def test_dense_features_and_adjacency_rows():
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=np.float32)
    inputs = PreparedGraph(path_of(x), NONE).inputs
    assert torch.equal(inputs.features, torch.from_numpy(x))
    assert dense_of(inputs.neighbours) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_dense_features_are_a_copy_of_the_graphs():
    graph = path_of(np.ones((3, 2), dtype=np.float32))
    PreparedGraph(graph, NONE).inputs.features.zero_()
    assert (graph.x == 1).all()


def test_features_are_scaled():
    x = np.array([[1.0, 10.0], [3.0, 10.0]], dtype=np.float32)
    inputs = PreparedGraph(path_of(x), Scaling.fit(x, "standard")).inputs
    assert inputs.features.tolist() == [[-1, 0], [1, 0]]


def test_sparse_features_stay_sparse():
    x = sp.csr_matrix(([1.0], ([0], [1])), shape=(2, 10), dtype=np.float32)
    features = PreparedGraph(path_of(x), NONE).inputs.features
    assert isinstance(features, SparseOperator)
    assert dense_of(features) == x.toarray().tolist()


def test_adjacency_rows_of_a_graph_with_new_nodes_name_the_known_nodes_only():
    graph = path_of(np.ones((4, 1), dtype=np.float32))
    rows = PreparedGraph(graph, NONE, num_known=2).inputs.neighbours
    assert rows.shape == (4, 2)
    assert dense_of(rows) == [[0, 1], [1, 0], [0, 1], [0, 0]]


def test_inputs_are_made_once(monkeypatch):
    calls = []
    real = SparseOperator.from_scipy.__func__

    def from_scipy(cls, matrix, **options):
        calls.append(matrix.shape)
        return real(cls, matrix, **options)

    monkeypatch.setattr(SparseOperator, "from_scipy", classmethod(from_scipy))
    prepared = PreparedGraph(path_of(np.ones((3, 2), dtype=np.float32)), NONE)
    assert calls == []  # nothing before the first use
    inputs, rows = prepared.arguments([ADJACENCY_ROWS])
    assert prepared.inputs is inputs
    assert prepared.operator(ADJACENCY_ROWS) is rows is inputs.neighbours
    assert calls == [(3, 3)]


# ---------------------------------------------------------------------- magnitudes

AS_THEY_ARE = MagnitudeScaling(np.zeros(2, dtype=np.float32), np.ones(2, dtype=np.float32))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_magnitudes_are_further_columns_of_the_scaled_features(make):
    x = make(np.array([[1.0, 3.0], [0.0, 0.0], [2.0, 0.0]], dtype=np.float32))
    features = PreparedGraph(path_of(x), Scaling("row"), magnitudes=AS_THEY_ARE).inputs.features
    assert isinstance(features, torch.Tensor)  # with two full columns of four it is dense
    # The sums of scaled rows are 1, 0, 1; the path has the degrees 1, 2, 1.
    two, three = float(np.log(2)), float(np.log(3))
    expected = torch.tensor([[0.25, 0.75, two, two], [0, 0, 0, three], [1, 0, two, two]])
    torch.testing.assert_close(features, expected)


def test_sparse_features_with_magnitudes_stay_sparse():
    x = sp.csr_matrix(([5.0], ([0], [1])), shape=(2, 40), dtype=np.float32)
    features = PreparedGraph(path_of(x), NONE, magnitudes=AS_THEY_ARE).inputs.features
    assert isinstance(features, SparseOperator)
    expected = np.hstack([x.toarray(), np.log([[6, 2], [1, 2]])])
    np.testing.assert_allclose(dense_of(features), expected, rtol=1e-6)


def test_magnitudes_are_scaled_like_those_of_the_fitted_graph():
    fitted, grown = (path_of(np.ones((n, 1), dtype=np.float32)) for n in (3, 4))
    scaling = MagnitudeScaling.fit(fitted.x, fitted.adjacency)
    columns = PreparedGraph(grown, NONE, num_known=3, magnitudes=scaling).inputs.features[:, 1:]
    degrees = np.log([2, 3, 2])
    expected = (np.log([2, 3, 3, 2]) - degrees.mean()) / degrees.std()
    np.testing.assert_allclose(columns[:, 1], expected, rtol=1e-5)


def test_the_same_graph_with_and_without_magnitudes(monkeypatch):
    made = counted(monkeypatch)
    prepared = PreparedGraph(path_of(np.ones((4, 3), dtype=np.float32)), NONE, num_known=2)
    other = prepared.with_magnitudes(AS_THEY_ARE)
    assert prepared.with_magnitudes(None) is prepared
    assert (prepared.sizes, other.sizes) == ((3, 2, 2), (5, 2, 2))
    assert prepared.inputs.features.shape == (4, 3)
    assert other.inputs.features.shape == (4, 5)
    # Operators are shared, whoever asks first.
    assert prepared.operator("mean") is other.operator("mean")
    assert other.operator("normalized") is prepared.operator("normalized")
    assert made == ["mean", "normalized"]
    assert other.operator(ADJACENCY_ROWS).shape == (4, 2)
    assert prepared.derived is not other.derived


def test_magnitudes_replace_those_of_before():
    prepared = PreparedGraph(path_of(np.ones((3, 1), dtype=np.float32)), NONE, magnitudes=AS_THEY_ARE)
    assert prepared.with_magnitudes(AS_THEY_ARE).sizes[0] == 3


def test_sizes_without_magnitudes():
    assert PreparedGraph(path_of(np.ones((5, 2), dtype=np.float32)), NONE).sizes == (2, 2, 5)


# ---------------------------------------------------------------------- operators


def test_operators_of_a_path_by_hand():
    prepared = PreparedGraph(path_of(np.ones((3, 1))), NONE)
    s, q = 2**-0.5, 6**-0.5
    expected = {
        "normalized": [[0, s, 0], [s, 0, s], [0, s, 0]],
        "normalized_with_loops": [[1 / 2, q, 0], [q, 1 / 3, q], [0, q, 1 / 2]],
        "mean": [[0, 1, 0], [1 / 2, 0, 1 / 2], [0, 1, 0]],
        "mean_with_loops": [[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1 / 2, 1 / 2]],
    }
    for name, matrix in expected.items():
        torch.testing.assert_close(prepared.operator(name).matrix.to_dense(), torch.tensor(matrix))
    assert isinstance(prepared.operator("neighbourhoods"), Neighbourhoods)
    assert {*expected, "neighbourhoods"} == set(OPERATORS)


def test_each_operator_is_made_once_per_graph(monkeypatch):
    made = counted(monkeypatch)
    one, two = (PreparedGraph(path_of(np.ones((n, 1))), NONE) for n in (3, 4))
    first = one.arguments(OPERATORS)
    second = one.arguments(OPERATORS)
    assert made == list(OPERATORS)
    assert all(a is b for a, b in zip(first, second, strict=True))
    two.arguments(["normalized"])
    assert made == [*OPERATORS, "normalized"]
    assert two.operator("normalized").shape == (4, 4)


def test_models_that_read_the_same_operator_share_it(monkeypatch):
    made = counted(monkeypatch)
    prepared = PreparedGraph(path_of(np.ones((3, 1))), NONE)
    prepared.arguments(["normalized_with_loops"])
    prepared.arguments(["mean", "normalized_with_loops"])
    assert made == ["normalized_with_loops", "mean"]


def test_an_unknown_operator_is_an_error():
    with pytest.raises(KeyError, match="laplacian"):
        PreparedGraph(path_of(np.ones((3, 1))), NONE).operator("laplacian")


def test_operators_and_inputs_are_on_the_device():
    prepared = PreparedGraph(path_of(np.ones((3, 1))), NONE, device="meta")
    inputs, operator, around = prepared.arguments(["mean", "neighbourhoods"])
    assert {inputs.features.device.type, operator.matrix.device.type, around.crow.device.type} == {"meta"}


# ---------------------------------------------------------------------- directions


def test_directions_of_a_directed_graph_by_hand():
    prepared = PreparedGraph(ARROWS, NONE)
    half = 1 / 2
    # Row i is the mean over the targets of i, over its sources, over both.
    assert dense_of(prepared.operator("mean", "given")) == [[0, half, half], [0, 0, 1], [0, 0, 0]]
    assert dense_of(prepared.operator("mean", "reversed")) == [[0, 0, 0], [1, 0, 0], [half, half, 0]]
    assert dense_of(prepared.operator("mean")) == [[0, half, half], [half, 0, half], [half, half, 0]]


def test_the_gradient_through_one_direction_is_the_dense_one():
    operator = PreparedGraph(ARROWS, NONE).operator("mean", "given")
    h, weights = torch.randn(3, 2, requires_grad=True), torch.randn(3, 2)
    ((operator @ h) * weights).sum().backward()
    torch.testing.assert_close(h.grad, operator.matrix.to_dense().T @ weights)


def test_each_direction_is_made_once(monkeypatch):
    made = counted(monkeypatch)
    prepared = PreparedGraph(ARROWS, NONE)
    directions = ("given", "reversed", "undirected")
    first = [prepared.operator("mean", direction) for direction in directions]
    second = [prepared.operator("mean", direction) for direction in directions]
    assert made == ["mean"] * 3
    assert all(a is b for a, b in zip(first, second, strict=True))


def test_adjacency_rows_ignore_directions():
    assert dense_of(PreparedGraph(ARROWS, NONE).inputs.neighbours) == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize("name", [name for name in (*OPERATORS, ADJACENCY_ROWS) if name not in DIRECTED])
def test_an_operator_whose_gradient_needs_symmetry_has_no_direction(name):
    with pytest.raises(
        ValueError, match=f"{name} needs undirected edges: choose one of mean, mean_with_loops"
    ):
        PreparedGraph(ARROWS, NONE).operator(name, "given")
    undirected = PreparedGraph(path_of(np.ones((3, 1))), NONE)
    undirected.operator(name, "given")  # all directions are the same
