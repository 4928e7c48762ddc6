"""Large graphs over rows: an epoch against full batches, growth, and ten new nodes against all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from benchmarks.measure import Mark, Measure, Setting, alternate
from otherhalf import GOALClassifier, Graph, load, split
from otherhalf.complement.kernel_half import random_half
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.members.over_rows import RowsMember, built, reads, row_settings, standardise
from otherhalf.estimators.members.row_features import RowFeatures
from otherhalf.estimators.members.row_inputs import RowInputs
from otherhalf.estimators.members.view import GraphView, TrainingLabels
from otherhalf.estimators.presets import BEST
from otherhalf.nn.complemented import ComplementedNet
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.training.loop import TrainingSettings
from otherhalf.training.rows import MOST_ROWS, fit_rows_epochs, judged_rows, row_probabilities
from otherhalf.training.supervised import fit_epochs

FEATURES, DEGREE, CLASSES, K = 64, 20.0, 5, 10
INPUTS = ("o", "t", "to", "given2", "given3", "messages")
ONE = TrainingSettings(lr=0.003, weight_decay=0.0, epochs=1)
NEW = 10


def view_of(nodes: int) -> GraphView:
    """Return a synthetic graph with a half at random, which costs no time, as members read it."""
    graph = contextual_sbm(nodes, CLASSES, FEATURES, DEGREE, 0.5, 1.0, 0)
    parts, scaling = split(graph, seed=0), Scaling.of(graph, "auto")
    labels = TrainingLabels(np.array(parts.train), graph.y[parts.train], CLASSES)
    found = random_half(nodes, labels.nodes, K, 0, "heterophily")
    features = RowFeatures.fit(graph, scaling, None, 0)
    return GraphView(
        PreparedGraph(graph, scaling),
        labels,
        "homophily",
        kind="heterophily",
        k=K,
        found=found,
        row_features=features,
    )


def rows_epoch(view: GraphView) -> tuple[RowsMember, Callable[[], object]]:
    """Return GOAL's classifier over rows, and what trains it for an epoch, with validation in blocks."""
    settings = row_settings(BEST.goal, CLASSES)
    module = built(settings, **reads(view, "GOAL", convolves=True))
    standardise(module, view)
    member, parts = RowsMember(settings, module), split(view.graph, seed=0)
    read, judged = view.rows.batch, judged_rows(np.array(parts.val), view.graph, 0)

    def epoch() -> None:
        fit_rows_epochs(module, read, view.graph, ONE, view.labels.nodes)
        row_probabilities(module, read, judged)

    return member, epoch


def rows_pass(view: GraphView) -> Callable[[], object]:
    """Return what trains it on all training rows once, however many there are."""
    epoch = rows_epoch(view)[1]
    rest = max(1.0, len(view.labels.nodes) / MOST_ROWS)

    def whole() -> None:
        for _ in range(round(rest)):
            epoch()

    return whole


def full_epoch(view: GraphView) -> Callable[[], object]:
    """Return what trains the classifier of full batches for an epoch, with its second pass for validation."""
    net = ComplementedNet(
        FEATURES, CLASSES, view.halves.messages.shape[1], BEST.goal.architecture, scores=False
    )
    arguments = view.prepared.inputs, view.halves

    def epoch() -> None:
        fit_epochs(net, arguments, view.graph, ONE, view.labels.nodes)
        with torch.no_grad():
            net.eval()(*arguments)

    return epoch


def compare_epochs(setting: Setting, nodes: int) -> dict[str, float]:
    """Return the seconds of an epoch over rows and of one with full batches."""
    view = view_of(nodes)
    cases = {"rows": rows_epoch(view)[1], "pass": rows_pass(view), "full": full_epoch(view)}
    return alternate(cases, setting)


def growth(setting: Setting, sizes: tuple[int, int]) -> dict[str, float]:
    """Return the log-log slopes of the seconds of propagation, epoch and prediction between two sizes."""
    seconds: dict[str, list[float]] = {"propagation": [], "epoch": [], "prediction": []}
    for nodes in sizes:
        view = view_of(nodes)
        view.rows.operators.walks  # noqa: B018  # the names, before anything is timed
        member, epoch = rows_epoch(view)

        def propagate(view: GraphView = view) -> None:
            inputs = RowInputs(view)
            for name in INPUTS:
                inputs.blocks(name)

        cases = {
            "propagation": propagate,
            "epoch": epoch,
            "prediction": partial(member.probabilities, view),
        }
        for name, value in alternate(cases, setting).items():
            seconds[name].append(value)
    step = np.log(sizes[1] / sizes[0])
    return {name: float(np.log(each[1] / each[0]) / step) for name, each in seconds.items()}


def new_nodes(setting: Setting, nodes: int) -> dict[str, float]:
    """Return the seconds of a prediction of ten new nodes, and of all nodes."""
    grown = load(f"csbm:nodes={nodes + NEW},features=32,homophily=0.2,seed=0")
    kept = (grown.edges < nodes).all(axis=0)
    graph = Graph(grown.edges[:, kept], grown.x[:nodes], grown.y[:nodes], classes=grown.classes)
    model = GOALClassifier(epochs=2, ensemble={"training": "rows"}).fit(graph, split(graph, seed=0))

    def predict(asked: np.ndarray | None) -> None:
        model._cache = None  # nothing of the prediction before is kept
        model.predict_proba(grown, nodes=asked)

    cases = {"few": partial(predict, np.arange(nodes, nodes + NEW)), "all": partial(predict, None)}
    return alternate(cases, setting)


def epochs_measure(nodes: int, *, quick: bool) -> Measure:
    """Return the measure of an epoch."""
    title = f"GOAL with {nodes:,} nodes of degree 20"
    limit = 0.1 if nodes >= 1_000_000 else 2.0
    marks = (
        Mark(f"{title}, an epoch over rows (at most {MOST_ROWS:,}) / full batch", "rows", "full", limit),
        Mark(f"{title}, all training rows once / full batch", "pass", "full", limit),
    )
    return Measure(f"large_epoch_{nodes // 1000}k", partial(compare_epochs, nodes=nodes), marks, quick)


def growth_measure(sizes: tuple[int, int], *, quick: bool) -> Measure:
    """Return the measure of the slopes."""
    title = f"log-log slope of the seconds from {sizes[0]:,} to {sizes[1]:,} nodes"
    marks = tuple(
        Mark(f"{title}: {name}", name, limit=1.1) for name in ("propagation", "epoch", "prediction")
    )
    name = f"large_growth_{sizes[1] // 1000}k"
    return Measure(name, partial(growth, sizes=sizes), marks, quick)


MEASURES = (
    epochs_measure(20_000, quick=True),
    epochs_measure(1_000_000, quick=False),
    growth_measure((5_000, 20_000), quick=True),
    growth_measure((10_000, 1_000_000), quick=False),
    Measure(
        "large_new_nodes_100k",
        partial(new_nodes, nodes=100_000),
        (Mark("prediction of ten new nodes of 100,000 / of all", "few", "all", 0.01),),
        quick=False,
    ),
)
