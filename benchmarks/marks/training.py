"""One training step: the Complemented Graph Convolution, and an epoch, against their bare products."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.measure import Mark, Measure, Missing, Setting, alternate
from otherhalf.data.catalog import load
from otherhalf.data.splits import split as make_split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.conv import ComplementedGraphConv
from otherhalf.nn.goal import GOAL
from otherhalf.nn.inputs import NodeInputs, Scaling
from otherhalf.nn.models.registry import build, model_spec
from otherhalf.nn.ops.products import product
from otherhalf.nn.ops.sparse import SparseOperator, normalized_adjacency
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.adjacency import symmetric_adjacency
from otherhalf.training.adam import Adam
from otherhalf.training.loop import TrainingSettings
from otherhalf.training.supervised import Supervision, fit_supervised

NODES, EDGES, QUICK_NODES, QUICK_EDGES = 169_343, 1_157_799, 20_000, 140_000
"""Nodes and undirected edges of the arxiv graph, and of a small one."""


def random_half(nodes: int, edges: int, seed: int) -> SparseOperator:
    """Return the normalised adjacency of a random graph."""
    ends = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    adjacency: sp.csr_matrix = symmetric_adjacency(ends, nodes)
    return normalized_adjacency(adjacency)


def convolution(setting: Setting, width: int) -> dict[str, float]:
    """Return the seconds of a layer's propagation forwards and backwards, and of its four bare products."""
    torch.manual_seed(0)
    nodes, edges = (QUICK_NODES, QUICK_EDGES) if setting.quick else (NODES, EDGES)
    halves = random_half(nodes, edges, 0), random_half(nodes, edges, 1)
    h, g = torch.randn(nodes, width, requires_grad=True), torch.randn(nodes, width)

    def step(layer: ComplementedGraphConv) -> Callable[[], None]:
        def run() -> None:
            h.grad = None
            layer.propagate(h, *halves).backward(g)

        return run

    def products() -> None:
        a_o, a_t = (half.matrix for half in halves)
        for matrix in (a_o, a_t, a_t, a_o):
            product(matrix, g)

    layers = {name: ComplementedGraphConv(1, 1, learn_coefficients=name == "learned") for name in KINDS}
    return alternate({name: step(layer) for name, layer in layers.items()} | {"products": products}, setting)


KINDS = ("fixed", "learned")


def _convolution(width: int) -> Measure:
    marks = tuple(
        Mark(
            f"CGC with {kind} coefficients, {width} wide, forwards and backwards / its four bare products",
            kind,
            "products",
            1.2,
        )
        for kind in KINDS
    )
    return Measure(f"convolution_{width}", partial(convolution, width=width), marks)


FEATURES, WIDTH, CLASSES = 128, 256, 40


def step(setting: Setting) -> dict[str, float]:
    """Return the seconds of a training step of GOAL and of PyG's GCN, two layers of 256, at arxiv size."""
    from torch_geometric.nn import GCN

    torch.manual_seed(0)
    nodes, edges = (QUICK_NODES, QUICK_EDGES) if setting.quick else (NODES, EDGES)
    halves = random_half(nodes, edges, 0), random_half(nodes, edges, 1)
    ends = np.random.default_rng(0).integers(0, nodes, (2, edges))
    both_ways = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))
    x, y = torch.randn(nodes, FEATURES), torch.randint(CLASSES, (nodes,))
    goal = GOAL(FEATURES, CLASSES, nodes, Architecture(WIDTH, 2, dropout=0.5), learn_coefficients=True)
    gcn = GCN(FEATURES, WIDTH, 2, CLASSES, dropout=0.5, cached=True)
    cases = {
        "GOAL": _step(goal, lambda: goal(NodeInputs(x), *halves), y),
        "PyG": _step(gcn, lambda: gcn(x, both_ways), y),
    }
    return alternate(cases, Setting(setting.quick, setting.threads, min(setting.repeats, 3)))


def _step(model: nn.Module, logits: Callable[[], Tensor], y: Tensor) -> Callable[[], None]:
    adam = Adam([(list(model.parameters()), 5e-4)], lr=0.01)
    model.train()

    def run() -> None:
        adam.zero_grad()
        F.cross_entropy(logits(), y).backward()
        adam.step()

    return run


def epoch(setting: Setting) -> dict[str, float]:
    """Return the seconds of an epoch on Cora with its validation, and of the same computations alone.

    Alone: the module called forwards and backwards, Adam's step, and the module called once more, without
    the loop, its scores and its history. ``fixed`` is an epoch of the same module on forty nodes, where the
    computations take next to nothing.
    """
    try:
        graph = load("cora")
    except InputError as error:
        raise Missing(str(error)) from error
    epochs = 20 if setting.quick else 60
    small = contextual_sbm(num_nodes=40, num_classes=2, num_features=30, average_degree=3, seed=0)
    run, alone = _epochs(graph, epochs)
    seconds = alternate({"epoch": run, "alone": alone, "fixed": _epochs(small, epochs)[0]}, setting)
    return {name: spent / epochs for name, spent in seconds.items()}


def _epochs(graph: Graph, epochs: int) -> tuple[Callable[[], object], Callable[[], None]]:
    split, prepared = make_split(graph, "uniform", seed=0), PreparedGraph(graph, Scaling.of(graph, "auto"))
    arguments = prepared.arguments(model_spec("gcn").operators)
    model = build("gcn", *prepared.sizes, Architecture(norm="layer", residual=True), {})
    settings = TrainingSettings(epochs=epochs, patience=epochs)
    train, y = torch.from_numpy(np.array(split.train)), torch.from_numpy(np.array(graph.y))
    one = _step(model, lambda: model(*arguments)[train], y[train])

    def alone() -> None:
        for _ in range(epochs):
            one()
            model.eval()
            with torch.no_grad():
                model(*arguments)
            model.train()

    return lambda: fit_supervised(model, arguments, graph, settings, Supervision(split)), alone


MEASURES = (
    _convolution(64),
    _convolution(256),
    Measure(
        "step",
        step,
        (Mark("a GOAL step of 2 × 256 at arxiv size / PyG's GCN step", "GOAL", "PyG", 0.3),),
    ),
    Measure(
        "epoch",
        epoch,
        (
            Mark("an epoch on Cora / its passes and step alone", "epoch", "alone", 1.2),
            Mark("an epoch on 40 nodes, all but the kernels, / one on Cora", "fixed", "epoch", 0.5),
        ),
    ),
)
