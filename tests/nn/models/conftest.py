"""A small random graph, and how a model is compared with another one on it."""

import numpy as np
import pytest
import torch

from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.models.registry import MODELS
from otherhalf.nn.prepared import PreparedGraph

NODES, ALONE = 14, 2  # the last two nodes have no neighbours; no node is its own


@pytest.fixture
def graph() -> Graph:
    rng = np.random.default_rng(0)
    joined = np.stack(np.nonzero(np.triu(rng.random((NODES, NODES)) < 0.3, k=1)))
    joined = joined[:, (joined < NODES - ALONE).all(axis=0)]
    return Graph(edges=joined, x=rng.standard_normal((NODES, 4)))


@pytest.fixture
def prepared(graph) -> PreparedGraph:
    return PreparedGraph(graph, Scaling("none"))


@pytest.fixture
def inputs(prepared):
    return prepared.inputs


@pytest.fixture
def operators():
    """Return the operators that a model reads of a graph."""

    def of(model: str, graph: Graph) -> tuple:
        return PreparedGraph(graph, Scaling("none")).arguments(MODELS[model].operators)[1:]

    return of


@pytest.fixture
def path() -> Graph:
    """0 – 1 – 2, with the features 1, 2, 4."""
    return Graph(edges=np.array([[0, 1], [1, 2]]), x=np.array([[1.0], [2.0], [4.0]]))


@pytest.fixture
def edge_index(graph) -> torch.Tensor:
    """Every edge in both directions, as PyG wants it."""
    return torch.from_numpy(np.stack(graph.adjacency.nonzero()).astype(np.int64))


@pytest.fixture
def dense(graph) -> torch.Tensor:
    """A."""
    return torch.from_numpy(graph.adjacency.toarray().astype(np.float32))


@pytest.fixture
def same():
    """Compare outputs and gradients of two models."""
    return assert_same


def assert_same(ours, theirs, x, parameters=(), linears=(), formula=False):
    """Give theirs the parameters of ours, then demand equal outputs and equal gradients of everything.

    Args:
        ours: From features to outputs.
        theirs: Likewise.
        x: The features.
        parameters: Pairs (ours, theirs) of one shape; or parameters that both use, with ``formula``.
        linears: Pairs whose one is the transpose of the other.
        formula: Whether ``theirs`` is a formula over the parameters of ours.
    """
    with torch.no_grad():
        for parameter in parameters if formula else [a for a, _ in parameters]:
            if (parameter == 0).all():  # a bias as it starts would hide a bias in the wrong place
                parameter.normal_()
        if not formula:
            for a, b in parameters:
                b.copy_(a)
            for a, b in linears:
                b.copy_(a.T)
    leaves = [x.clone().requires_grad_() for _ in range(2)]
    outputs = [model(leaf) for model, leaf in zip((ours, theirs), leaves, strict=True)]
    close(*outputs)
    weights = torch.randn(outputs[0].shape, generator=torch.Generator().manual_seed(5), dtype=x.dtype)
    if formula:
        of_ours = of_theirs = list(parameters)
    else:
        of_ours = [a for a, _ in (*parameters, *linears)]
        of_theirs = [b for _, b in (*parameters, *linears)]
    found = torch.autograd.grad((outputs[0] * weights).sum(), [leaves[0], *of_ours])
    expected = torch.autograd.grad((outputs[1] * weights).sum(), [leaves[1], *of_theirs])
    turned = len(found) - len(linears)
    for index, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert float(b.abs().sum()) > 0  # else nothing was compared
        close(a, b.T if index >= turned else b)


def close(found, expected):
    assert bool(torch.isfinite(found).all())
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
